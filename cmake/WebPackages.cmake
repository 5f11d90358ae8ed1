# Installs the npm packages of web/ when its lock file changed; one build at a time. Needs npm.
#   cmake [-DNPM=path] -P cmake/WebPackages.cmake
get_filename_component(web ${CMAKE_CURRENT_LIST_DIR}/../web ABSOLUTE)
if(NOT NPM)
  find_program(NPM npm REQUIRED)
endif()
file(LOCK ${web}/.packages.lock GUARD PROCESS TIMEOUT 900)
set(stamp ${web}/node_modules/.package-lock.json)
if(NOT EXISTS ${stamp} OR ${web}/package-lock.json IS_NEWER_THAN ${stamp})
  message(STATUS "Installing npm packages")
  # Not "npm ci": it insists on lock entries for optional packages of every platform. This follows the lock where it
  # has an entry, package.json names exact versions, and neither file is written.
  execute_process(COMMAND ${NPM} install --no-save --no-audit --no-fund --fetch-retries=1
    WORKING_DIRECTORY ${web} RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "npm install failed in web/:\n${said}")
  endif()
  file(TOUCH ${stamp})
endif()
