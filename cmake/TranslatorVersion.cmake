# Writes OUTPUT: a header that names the content of all sources that a translation is made by. Run as a script by the
# build whenever one of them changes, so that the disk cache never gives what another translator made.
set(text "")
foreach(folder maxwell program shader)
  file(GLOB sources ${SOURCE}/src/${folder}/*.h ${SOURCE}/src/${folder}/*.cpp)
  list(SORT sources)
  foreach(source ${sources})
    file(SHA256 ${source} hash)
    string(APPEND text ${hash})
  endforeach()
endforeach()
string(SHA256 version "${text}")
string(SUBSTRING ${version} 0 16 version)
file(WRITE ${OUTPUT} "#pragma once\n#define HEAVISIDE_TRANSLATOR_VERSION 0x${version}u\n")
