# Writes GENERATED, the texts of the report page as src/banyan/report/bundle.hpp declares them: page.css and, when NODE
# and NPM are there, the bundle of web/, made in OUTPUT. Without them the page is static; with REQUIRED that is an error.
set(script "")
set(style "")

# Sets script and style, or `problem`.
macro(bundle)
  set(problem "")
  if(NOT NODE OR NOT NPM)
    set(problem "there is no Node.js with npm")
  else()
    execute_process(COMMAND ${CMAKE_COMMAND} -DNPM=${NPM} -P ${CMAKE_CURRENT_LIST_DIR}/WebPackages.cmake
      RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(status EQUAL 0)
      execute_process(
        COMMAND ${CMAKE_COMMAND} -E env BANYAN_WEB_OUT=${OUTPUT} ${NODE} node_modules/vite/bin/vite.js build
        WORKING_DIRECTORY ${WEB} RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
    endif()
    if(NOT status EQUAL 0)
      set(problem "the bundle of web/ cannot be made:\n${said}")
    else()
      file(READ ${OUTPUT}/report.js script)
      file(READ ${OUTPUT}/report.css style)
    endif()
  endif()
endmacro()

if(NOT MODE STREQUAL "OFF")
  bundle()
  if(problem AND MODE STREQUAL "ON")
    message(FATAL_ERROR "${problem}")
  elseif(problem)
    message(WARNING "The report page will be static: ${problem}")
  endif()
endif()

file(READ ${PAGE_STYLE} page_style)
foreach(text script style page_style)
  # An element of the page ends at such words, wherever they stand.
  string(REGEX MATCH "\\)banyan_text\"|</(script|style)|<!--" clash "${${text}}")
  if(clash)
    message(FATAL_ERROR "The ${text} of the report page contains ${clash}")
  endif()
endforeach()
set(source "// Generated from page.css and web/. Do not edit.\n#include \"banyan/report/bundle.hpp\"\n\n")
string(APPEND source "namespace banyan::report {\n\nconst Bundle& bundle() {\n  static const Bundle texts{\n")
string(APPEND source "R\"banyan_text(${page_style})banyan_text\",\nR\"banyan_text(${script})banyan_text\",\n")
string(APPEND source "R\"banyan_text(${style})banyan_text\"};\n  return texts;\n}\n\n}  // namespace banyan::report\n")
file(WRITE ${GENERATED} "${source}")
