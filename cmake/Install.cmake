# cmake --install: the program, its manual page and its completions, which the program itself prints. (In zsh, a start file says
# "source <(banyan completion zsh)": bash's script is no function that zsh could load by itself.)
include(GNUInstallDirs)
install(TARGETS banyan)
if(BANYAN_SANITIZE)
  return()  # for tests; and the thread sanitizer's programs do not run everywhere
endif()
set(share ${PROJECT_BINARY_DIR}/generated/share)
add_custom_command(
  OUTPUT ${share}/banyan.1 ${share}/banyan.bash ${share}/banyan.fish
  COMMAND ${CMAKE_COMMAND} -E make_directory ${share}
  COMMAND banyan manual > ${share}/banyan.1
  COMMAND banyan completion bash > ${share}/banyan.bash
  COMMAND banyan completion fish > ${share}/banyan.fish
  DEPENDS banyan VERBATIM)
add_custom_target(banyan_share ALL DEPENDS ${share}/banyan.1)
install(FILES ${share}/banyan.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${share}/banyan.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME banyan)
install(FILES ${share}/banyan.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
