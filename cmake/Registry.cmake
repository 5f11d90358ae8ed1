# Generates the registry from the names of components: <room>/<name>.cpp holds `const core::<Row> row_<name>` in namespace
# banyan::<room>::<name>: what a component calls its own parts cannot clash with another's, and the files of a room can be
# compiled in one go. Also used by the installed package, for programs with components of their own.
set(BANYAN_ROOMS "topology:TopologyRow" "routing:RoutingRow" "switching:SwitchRow" "traffic:TrafficRow"
                 "admission:AdmissionRow" "analysis:AnalysisRow")

# Sets <prefix>_<room> to the sorted names of the components in <folder>/<room> of the folders, and <prefix>_sources to their
# files.
function(banyan_find_components prefix)
  set(sources "")
  foreach(entry ${BANYAN_ROOMS})
    string(REGEX REPLACE ":.*" "" room ${entry})
    list(TRANSFORM ARGN APPEND /${room}/*.cpp OUTPUT_VARIABLE patterns)
    file(GLOB files CONFIGURE_DEPENDS ${patterns})
    list(SORT files)
    set(names "")
    foreach(file ${files})
      get_filename_component(name ${file} NAME_WE)
      list(APPEND names ${name})
    endforeach()
    set(${prefix}_${room} "${names}" PARENT_SCOPE)
    list(APPEND sources ${files})
  endforeach()
  set(${prefix}_sources "${sources}" PARENT_SCOPE)
endfunction()

# Writes the declarations of the rows in <prefix>_<room> to `declared`, and their tables, which the initializers in `members`
# name, to `tables`.
function(banyan_rows prefix declared tables members)
  set(text "")
  set(arrays "")
  set(list "")
  foreach(entry ${BANYAN_ROOMS})
    string(REPLACE ":" ";" pair ${entry})
    list(GET pair 0 room)
    list(GET pair 1 row)
    set(names ${${prefix}_${room}})
    list(SORT names)
    set(table "")
    foreach(name ${names})
      string(APPEND text "namespace banyan::${room}::${name} {\nextern const core::${row} row_${name};\n}\n")
      string(APPEND table "  &banyan::${room}::${name}::row_${name},\n")
    endforeach()
    if(NOT table STREQUAL "")
      string(APPEND arrays "const banyan::core::${row}* const k_${room}[] = {\n${table}};\n")
      string(APPEND list "  .${room} = k_${room},\n")
    endif()
  endforeach()
  set(${declared} "${text}" PARENT_SCOPE)
  set(${tables} "${arrays}" PARENT_SCOPE)
  set(${members} "${list}" PARENT_SCOPE)
endfunction()

# Writes the table of the components in <prefix>_<room> to `output`. `header` declares all rows, for tests that take a
# component by its row.
function(banyan_generate_registry prefix output header)
  banyan_rows(${prefix} declarations tables members)
  set(from "// Generated from the file names of the component rooms. Do not edit.\n")
  set(text "${from}#include \"banyan/core/registry.hpp\"\n\n${declarations}\nnamespace {\n${tables}}  // namespace\n\n")
  string(APPEND text "namespace banyan::core {\nComponents built_in_components() {\n  return {\n${members}  };\n}\n}  // namespace banyan::core\n")
  file(CONFIGURE OUTPUT ${output} CONTENT "${text}" @ONLY)
  file(CONFIGURE OUTPUT ${header} CONTENT "${from}#pragma once\n\n#include \"banyan/core/registry.hpp\"\n\n${declarations}" @ONLY)
endfunction()

# Writes what a plug-in with the components in <prefix>_<room> exports (src/banyan/api/plugin.cpp) to `output`. `interface`: that
# of the package that it is built against.
function(banyan_generate_plugin prefix output interface)
  banyan_rows(${prefix} declarations tables members)
  set(text "// Generated from the file names of the component rooms. Do not edit.\n#include \"banyan/core/registry.hpp\"\n\n")
  string(APPEND text "${declarations}\nnamespace {\n${tables}}  // namespace\n\nextern \"C\" {\n")
  string(APPEND text "extern const char banyan_plugin_interface[];\nconst char banyan_plugin_interface[] = \"${interface}\";\n")
  string(APPEND text "extern const banyan::core::Components banyan_plugin_components;\n")
  string(APPEND text "const banyan::core::Components banyan_plugin_components{\n${members}};\n}\n")
  file(CONFIGURE OUTPUT ${output} CONTENT "${text}" @ONLY)
endfunction()
