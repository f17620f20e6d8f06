# A floor is one folder under src/: every .cpp in it, compiled once, plus the floors and libraries it stands on.
# scripts/check-floors proves that includes only go down.
add_library(heaviside_warnings INTERFACE)
target_compile_options(heaviside_warnings INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
                       -Wnon-virtual-dtor -Woverloaded-virtual -Werror)
if(HEAVISIDE_SANITIZE)
  add_compile_options(-fsanitize=${HEAVISIDE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HEAVISIDE_SANITIZE})
endif()

set_property(GLOBAL PROPERTY HEAVISIDE_FLOORS "")

# heaviside_floor(NAME [FLOORS ...] [LIBRARIES ...])
function(heaviside_floor name)
  cmake_parse_arguments(arg "" "" "FLOORS;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  string(REPLACE "/" "_" target ${name})
  if(sources)
    add_library(heaviside_${target} STATIC ${sources})
    target_link_libraries(heaviside_${target} PRIVATE heaviside_warnings)
    set(scope PUBLIC)
    set_property(GLOBAL APPEND PROPERTY HEAVISIDE_FLOORS heaviside_${target})
  else()
    add_library(heaviside_${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(heaviside_${target} ${scope} ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include
                             ${CMAKE_BINARY_DIR}/generated)
  target_link_libraries(heaviside_${target} ${scope} heaviside_headers ${arg_LIBRARIES})
  foreach(floor ${arg_FLOORS})
    string(REPLACE "/" "_" floor ${floor})
    target_link_libraries(heaviside_${target} ${scope} heaviside_${floor})
  endforeach()
endfunction()

# heaviside_test(FLOOR [FLOORS ...] [LIBRARIES ...]): every .cpp in tests/FLOOR becomes one program linked to that floor
# alone, so that it builds without the rest of the house. FLOORS names another set (heaviside: the whole library).
function(heaviside_test name)
  cmake_parse_arguments(arg "" "" "FLOORS;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${name}/*.cpp)
  if(NOT sources)
    return()
  endif()
  if(NOT arg_FLOORS)
    set(arg_FLOORS heaviside_${name})
  endif()
  add_executable(test_${name} ${sources})
  target_link_libraries(test_${name} PRIVATE ${arg_FLOORS} heaviside_headers heaviside_warnings GTest::gtest_main
                        GTest::gmock nlohmann_json::nlohmann_json ${arg_LIBRARIES})
  target_include_directories(test_${name} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include
                             ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
  target_compile_definitions(test_${name} PRIVATE HEAVISIDE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND test_${name})
endfunction()
