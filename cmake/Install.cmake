# cmake --install: the program, its manual page and its completions, which the program itself prints; documents and examples.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME banyan)
install(TARGETS banyan)
if(TARGET banyan_mpi)
  install(TARGETS banyan_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/banyan/modules COMPONENT mpi)
endif()
if(BANYAN_SANITIZE)
  return()  # for tests; and the thread sanitizer's programs do not run everywhere
endif()
set(share ${PROJECT_BINARY_DIR}/generated/share)
add_custom_command(
  OUTPUT ${share}/banyan.1.gz ${share}/banyan.bash ${share}/banyan.zsh ${share}/banyan.fish
  COMMAND ${CMAKE_COMMAND} -E make_directory ${share}
  COMMAND banyan manual > ${share}/banyan.1
  COMMAND gzip -9nf ${share}/banyan.1
  COMMAND banyan completion bash > ${share}/banyan.bash
  COMMAND banyan completion zsh > ${share}/banyan.zsh
  COMMAND banyan completion fish > ${share}/banyan.fish
  DEPENDS banyan VERBATIM)
add_custom_target(banyan_share ALL DEPENDS ${share}/banyan.1.gz)
install(FILES ${share}/banyan.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${share}/banyan.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME banyan)
install(FILES ${share}/banyan.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _banyan)
install(FILES ${share}/banyan.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES README.md CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/banyan)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/banyan
  PATTERN .ipynb_checkpoints EXCLUDE PATTERN __pycache__ EXCLUDE)
install(CODE "set(FOLDER \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/doc/banyan)
  include(${PROJECT_SOURCE_DIR}/cmake/InstalledLinks.cmake)")

# The package "Banyan", for projects with components of their own: find_package(Banyan), then banyan_program(NAME). Rows of the
# program's own components are in the registry beside those of the library, because its table takes the place of the library's.
add_library(banyan_program STATIC $<TARGET_OBJECTS:banyan_command_line>)
target_link_libraries(banyan_program PUBLIC banyan_library PRIVATE nlohmann_json::nlohmann_json)
target_compile_features(banyan_library PUBLIC cxx_std_20)
set_target_properties(banyan_library PROPERTIES EXPORT_NAME library OUTPUT_NAME banyan)
set_target_properties(banyan_program PROPERTIES EXPORT_NAME program)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Banyan)
install(TARGETS banyan_library banyan_program EXPORT BanyanTargets COMPONENT dev)
install(EXPORT BanyanTargets NAMESPACE Banyan:: DESTINATION ${package} COMPONENT dev)
install(CODE "set(SOURCES ${PROJECT_SOURCE_DIR}/src)
  set(INCLUDE \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}\")
  include(${PROJECT_SOURCE_DIR}/cmake/InstallHeaders.cmake)" COMPONENT dev)
set(components "")
foreach(entry ${BANYAN_ROOMS})
  string(REGEX REPLACE ":.*" "" room ${entry})
  string(APPEND components "set(BANYAN_COMPONENTS_${room} ${BANYAN_COMPONENTS_${room}})\n")
endforeach()
set(generated ${PROJECT_BINARY_DIR}/generated/package)
file(CONFIGURE OUTPUT ${generated}/BanyanComponents.cmake CONTENT "${components}" @ONLY)
include(CMakePackageConfigHelpers)
# Below 1.0.0 a minor version may change anything (docs/explanation/stability.md).
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatible SameMinorVersion)
else()
  set(compatible SameMajorVersion)
endif()
write_basic_package_version_file(${generated}/BanyanConfigVersion.cmake COMPATIBILITY ${compatible})
install(FILES ${PROJECT_SOURCE_DIR}/cmake/BanyanConfig.cmake ${PROJECT_SOURCE_DIR}/cmake/Registry.cmake
  ${generated}/BanyanComponents.cmake ${generated}/BanyanConfigVersion.cmake
  ${PROJECT_BINARY_DIR}/generated/interface/BanyanInterface.cmake DESTINATION ${package} COMPONENT dev)
add_dependencies(banyan_share banyan_program)  # so that what is tested can be installed

# cpack -G DEB: packages that install on a bare Debian 12: the program; the library and its headers with all that a project with
# components of its own needs; the module for runs over the processes of mpirun, which the program loads when it is asked to: it
# needs no MPI without; and the Python package. What programs and modules depend on is read from what they are linked with.
set(CPACK_PACKAGE_NAME banyan)
# Debian wants an address; there is no mailbox, and .invalid says so (RFC 2606).
set(CPACK_PACKAGE_CONTACT "The Banyan developers <developers@banyan.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Simulator of interconnection networks")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL banyan dev)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_STRIP_FILES TRUE)
set(CPACK_DEBIAN_BANYAN_PACKAGE_NAME banyan)
set(CPACK_COMPONENT_BANYAN_DESCRIPTION
  "The networks inside supercomputers, switches, clusters and chips, flit by flit
or packet by packet, with confidence intervals, congestion trees, remedies
against congestion, and the workloads that people have: GOAL and Chakra
schedules, collectives, traces.")
set(CPACK_DEBIAN_BANYAN_PACKAGE_SUGGESTS "banyan-dev, banyan-mpi")
set(CPACK_COMPONENT_DEV_DESCRIPTION
  "Banyan as a library: components of one's own
Headers and static libraries for topologies, routings, switch models,
traffics and admissions of one's own, and for programs that step a network.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME banyan-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
# What the headers include, what a program is linked with, and what builds it. A test compares the headers with this list.
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
  "banyan (= ${PROJECT_VERSION}), g++, cmake, make | ninja-build, libfmt-dev, librandom123-dev, nlohmann-json3-dev, libsqlite3-dev, zlib1g-dev, libbz2-dev")
if(BANYAN_METIS)
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", libmetis-dev")
endif()
if(TARGET banyan_mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
  set(CPACK_COMPONENT_MPI_DESCRIPTION
    "Banyan over the processes of Open MPI
One simulated network over several processes or machines, with the results
that one process has.")
  set(CPACK_DEBIAN_MPI_PACKAGE_NAME banyan-mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "banyan (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS "openmpi-bin")
endif()
if(BANYAN_PYTHON)
  # The module is built by ./dev python; without it, this stops.
  install(DIRECTORY ${BANYAN_PYTHON_OUT}/banyan DESTINATION lib/python3/dist-packages COMPONENT python EXCLUDE_FROM_ALL
    PATTERN __pycache__ EXCLUDE)
  install(TARGETS banyan_python LIBRARY DESTINATION lib/python3/dist-packages/banyan COMPONENT python EXCLUDE_FROM_ALL)
  list(APPEND CPACK_COMPONENTS_ALL python)
  set(CPACK_COMPONENT_PYTHON_DESCRIPTION
    "Banyan as a package of Python
Experiments, sweeps, results and plots of the simulator of interconnection
networks, in notebooks and programs.")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-banyan)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.11), python3 (<< 3.12)")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "python3-numpy, python3-pandas, python3-matplotlib, python3-networkx")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "banyan")
endif()
# Debian wants the license in every package, and a change of its own; CHANGELOG.md has those of Banyan.
string(TIMESTAMP today "%a, %d %b %Y 00:00:00 +0000" UTC)
set(changelog ${PROJECT_BINARY_DIR}/generated/debian)
foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} name)
  set(folder ${changelog}/${component})
  file(CONFIGURE OUTPUT ${folder}/changelog CONTENT
"${CPACK_DEBIAN_${name}_PACKAGE_NAME} (${PROJECT_VERSION}) bookworm; urgency=medium

  * The changes are in /usr/share/doc/banyan/CHANGELOG.md.

 -- ${CPACK_PACKAGE_CONTACT}  ${today}
")
  execute_process(COMMAND gzip -9nf ${folder}/changelog COMMAND_ERROR_IS_FATAL ANY)
  install(FILES ${folder}/changelog.gz DESTINATION
    ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${name}_PACKAGE_NAME} COMPONENT ${component})
  install(FILES cmake/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${name}_PACKAGE_NAME}
    COMPONENT ${component})
endforeach()
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
include(CPack)
