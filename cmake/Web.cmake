# The interactive part of the report page: bundled from web/ when the program is built, and embedded in it.
# banyan_report_bundle(source): the generated source to add to the library.
set(BANYAN_WEB AUTO CACHE STRING "Interactive report page: AUTO (when Node.js and npm are there), ON or OFF")
set_property(CACHE BANYAN_WEB PROPERTY STRINGS AUTO ON OFF)
set(BANYAN_WEB_DIR ${CMAKE_CURRENT_LIST_DIR})

function(banyan_report_bundle output)
  find_program(BANYAN_NODE NAMES node nodejs)
  find_program(BANYAN_NPM npm)
  mark_as_advanced(BANYAN_NODE BANYAN_NPM)
  set(generated ${PROJECT_BINARY_DIR}/generated/report_bundle.cpp)
  set(web ${PROJECT_SOURCE_DIR}/web)
  set(page_style ${PROJECT_SOURCE_DIR}/src/banyan/report/page.css)
  file(GLOB sources CONFIGURE_DEPENDS ${web}/src/*.ts ${web}/src/*.css)
  add_custom_command(OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DMODE=${BANYAN_WEB} -DNODE=${BANYAN_NODE} -DNPM=${BANYAN_NPM} -DWEB=${web}
            -DOUTPUT=${PROJECT_BINARY_DIR}/generated/web -DPAGE_STYLE=${page_style} -DGENERATED=${generated}
            -P ${BANYAN_WEB_DIR}/EmbedReport.cmake
    DEPENDS ${sources} ${page_style} ${web}/package-lock.json ${web}/vite.config.ts
            ${BANYAN_WEB_DIR}/EmbedReport.cmake ${BANYAN_WEB_DIR}/WebPackages.cmake
    COMMENT "Bundling the report page" VERBATIM)
  # Compilers need not support literals of such length, but those that build Banyan do.
  set_source_files_properties(${generated} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
  set(${output} ${generated} PARENT_SCOPE)
endfunction()
