# The Python package: the module banyan._core beside the pure part in python/banyan, importable from BANYAN_PYTHON_OUT. Python is
# named, never searched for in PATH: the module is for one version, and what stands first there may be another.
set(BANYAN_PYTHON_OUT ${PROJECT_BINARY_DIR}/python CACHE PATH "Folder that the package banyan is put into")
set(Python_EXECUTABLE /usr/bin/python3 CACHE FILEPATH "Python that the package is for")
set(PYBIND11_FINDPYTHON ON)
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
find_package(pybind11 2.10 CONFIG REQUIRED)
file(GLOB python_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/banyan/python/*.cpp)
set(module_options MODULE EXCLUDE_FROM_ALL NO_EXTRAS)
pybind11_add_module(banyan_python ${module_options} ${python_sources})
# It hands values on; what works is the library. Its tables of types are its own: another module may have another runtime.
target_compile_options(banyan_python PRIVATE $<$<CONFIG:Release>:-Og>)
# All but the stepping of a network, which hands on dozens of messages in every cycle.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/banyan/python/stepping.cpp PROPERTIES COMPILE_OPTIONS
  $<$<CONFIG:Release>:-O2>)
target_compile_definitions(banyan_python PRIVATE PYBIND11_COMPILER_TYPE="_banyan")
# As in the program: all of the library, and by name, for a plug-in calls it and may call what the module does not. Only names of
# Banyan are seen from outside, and only once a plug-in is loaded; nothing of the module can be replaced.
target_link_libraries(banyan_python PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,banyan_library> nlohmann_json::nlohmann_json)
set(package ${BANYAN_PYTHON_OUT}/banyan)
set_target_properties(banyan_python PROPERTIES OUTPUT_NAME _core LIBRARY_OUTPUT_DIRECTORY ${package})
target_link_options(banyan_python PRIVATE -Wl,-Bsymbolic
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/python_module.map)
file(GLOB python_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/banyan/*.py ${PROJECT_SOURCE_DIR}/python/banyan/*.pyi
  ${PROJECT_SOURCE_DIR}/python/banyan/py.typed)
add_custom_target(banyan_python_package
  COMMAND ${CMAKE_COMMAND} -E make_directory ${package}
  COMMAND ${CMAKE_COMMAND} -E copy_if_different ${python_files} ${package}
  COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${BANYAN_PYTHON_OUT} PYTHONDONTWRITEBYTECODE=1
          ${Python_EXECUTABLE} -m banyan._stubs ${package}
  DEPENDS banyan_python
  COMMENT "Putting together the Python package" VERBATIM)
