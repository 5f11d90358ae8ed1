# studies/<slug>/claims.cpp, and sources beside it, go into the library; the other text files of the folder are embedded in the program.
# banyan_studies(sources): the list of sources, with the generated table, to add to the library.
set(BANYAN_STUDIES_DIR ${CMAKE_CURRENT_LIST_DIR})

function(banyan_studies output)
  set(generated ${PROJECT_BINARY_DIR}/generated/studies)
  file(GLOB claims CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/studies/*/claims.cpp)
  list(SORT claims)
  set(sources "")
  set(declarations "")
  set(table "")
  foreach(claim ${claims})
    get_filename_component(folder ${claim} DIRECTORY)
    get_filename_component(slug ${folder} NAME)
    string(REPLACE "-" "_" name ${slug})
    file(GLOB texts CONFIGURE_DEPENDS ${folder}/*.toml ${folder}/*.md)
    list(SORT texts)
    set(embedded ${generated}/${name}.cpp)
    string(REPLACE ";" "|" joined "${texts}")
    add_custom_command(OUTPUT ${embedded}
      COMMAND ${CMAKE_COMMAND} -DNAME=${name} "-DFILES=${joined}" -DOUTPUT=${embedded}
              -P ${BANYAN_STUDIES_DIR}/EmbedStudy.cmake
      DEPENDS ${texts} ${BANYAN_STUDIES_DIR}/EmbedStudy.cmake
      COMMENT "Embedding study ${slug}" VERBATIM)
    file(GLOB beside CONFIGURE_DEPENDS ${folder}/*.cpp)
    list(SORT beside)
    list(APPEND sources ${beside} ${embedded})
    string(APPEND declarations "namespace ${name} {\nextern const StudyRow row_${name};\n"
                               "extern const std::span<const EmbeddedFile> files;\n}  // namespace ${name}\n")
    string(APPEND table "      {&${name}::row_${name}, ${name}::files},\n")
  endforeach()

  set(text "// Generated from the folders of studies/. Do not edit.\n#include \"banyan/study/study.hpp\"\n\n")
  string(APPEND text "namespace banyan::study {\n\n${declarations}\n")
  string(APPEND text "std::span<const Study> studies() {\n")
  if(table STREQUAL "")
    string(APPEND text "  return {};\n}\n")
  else()
    # A local table: it is filled on first use, after the rows of the other files.
    string(APPEND text "  static const Study table[] = {\n${table}  };\n  return table;\n}\n")
  endif()
  string(APPEND text "\n}  // namespace banyan::study\n")
  file(CONFIGURE OUTPUT ${generated}/table.cpp CONTENT "${text}" @ONLY)
  set(${output} ${sources} ${generated}/table.cpp PARENT_SCOPE)
  # For programs that read the sources without building them: clang-tidy reads a room whole, embedded texts included.
  set(embedded_texts ${sources})
  list(FILTER embedded_texts INCLUDE REGEX "^${generated}/")
  add_custom_target(banyan_embedded_texts DEPENDS ${embedded_texts})
endfunction()
