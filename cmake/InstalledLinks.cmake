# cmake -DFOLDER=... -P InstalledLinks.cmake: in the installed pages, what leads to files that are not installed (sources, tests,
# pages for developers) is left as words. What is installed is README.md, CHANGELOG.md, CITATION.cff, docs and examples.
file(GLOB_RECURSE pages ${FOLDER}/*.md)
set(missing "HACKING\\.md|CONTRIBUTING\\.md|LICENSE|dev|(src|tests|bench|studies|tools|web|cmake|python|traces|\\.ci)(/[^)]*)?")
foreach(page ${pages})
  file(READ ${page} text)
  string(REGEX REPLACE "\\[([^]\n]*)\\]\\((\\./)?(\\.\\./)*(${missing})(#[^)]*)?\\)" "\\1" without "${text}")
  if(NOT without STREQUAL text)
    file(WRITE ${page} "${without}")
  endif()
endforeach()
