# The installed package. Targets: Banyan::library, and Banyan::program, the command line with its main().
include(CMakeFindDependencyMacro)
foreach(dependency Threads fmt nlohmann_json SQLite3 ZLIB BZip2)
  find_dependency(${dependency})
endforeach()
include(${CMAKE_CURRENT_LIST_DIR}/BanyanTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/BanyanComponents.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/BanyanInterface.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/Registry.cmake)

# Adds the program `name`: banyan with the components of the project's folder beside its own. As in the library, a component is
# the file <room>/<component>.cpp, and no list is edited.
function(banyan_program name)
  banyan_find_components(own ${CMAKE_CURRENT_SOURCE_DIR})
  foreach(entry ${BANYAN_ROOMS})
    string(REGEX REPLACE ":.*" "" room ${entry})
    list(APPEND all_${room} ${BANYAN_COMPONENTS_${room}} ${own_${room}})
  endforeach()
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${name}_registry)
  banyan_generate_registry(all ${generated}/registry_table.cpp ${generated}/component_rows.hpp)
  add_executable(${name} ${own_sources} ${generated}/registry_table.cpp)
  # As in the library: floating point is never contracted, so that results are the same bits everywhere.
  target_compile_options(${name} PRIVATE -ffp-contract=off)
  target_link_libraries(${name} PRIVATE Banyan::program)
  set_target_properties(${name} PROPERTIES ENABLE_EXPORTS ON)  # for plug-ins
endfunction()

# Adds the plug-in `name`.so with the components of the folders (default: the project's), for "banyan ... --plugin FILE". It calls
# the library that the program has in itself, and is linked with nothing but what its components ask for.
function(banyan_plugin name)
  set(folders ${ARGN})
  if(NOT folders)
    set(folders ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  banyan_find_components(own ${folders})
  if(NOT own_sources)
    message(FATAL_ERROR "banyan_plugin(${name}): no component in ${folders}; one is the file ROOM/NAME.cpp")
  endif()
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${name}_components.cpp)
  banyan_generate_plugin(own ${generated} "${BANYAN_INTERFACE}")
  add_library(${name} MODULE ${own_sources} ${generated})
  set_target_properties(${name} PROPERTIES PREFIX "")
  target_compile_options(${name} PRIVATE -ffp-contract=off)
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_include_directories(${name} PRIVATE $<TARGET_PROPERTY:Banyan::library,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(${name} PRIVATE fmt::fmt)
endfunction()
