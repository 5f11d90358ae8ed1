# Writes what a plug-in has to be built for: the version, and a digest of the headers that components include. Run by the build:
# cmake -DVERSION=... -DSOURCES=<src/banyan> -DFOLDER=<where> -P Interface.cmake
set(all "")
foreach(room base stats config core engine)
  file(GLOB headers ${SOURCES}/${room}/*.hpp)
  list(SORT headers)
  foreach(header ${headers})
    file(SHA256 ${header} digest)
    get_filename_component(name ${header} NAME)
    string(APPEND all "${room}/${name} ${digest}\n")
  endforeach()
endforeach()
string(SHA256 digest "${all}")
string(SUBSTRING ${digest} 0 12 digest)
set(interface "${VERSION} (interface ${digest})")
file(CONFIGURE OUTPUT ${FOLDER}/banyan_interface.hpp
  CONTENT "// Generated. What a plug-in has to be built for.\n#pragma once\n#define BANYAN_INTERFACE \"${interface}\"\n" @ONLY)
file(CONFIGURE OUTPUT ${FOLDER}/BanyanInterface.cmake CONTENT "set(BANYAN_INTERFACE \"${interface}\")\n" @ONLY)
