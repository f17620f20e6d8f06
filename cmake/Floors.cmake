# A floor is one folder under src/: every .cpp in it, compiled once, plus the floors and libraries it stands on.
# scripts/check-floors proves that includes only go down.
add_library(heaviside_warnings INTERFACE)
target_compile_options(heaviside_warnings INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wno-missing-field-initializers
                       $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # These follow values through inlined library code and are wrong there at -O2 and above (GCC bugs 105562, 105651,
  # 106199). The sanitizer builds find the real ones.
  target_compile_options(heaviside_warnings INTERFACE -Wno-maybe-uninitialized -Wno-array-bounds -Wno-restrict
                         -Wno-stringop-overflow -Wno-stringop-overread)
endif()
if(HEAVISIDE_WERROR)
  target_compile_options(heaviside_warnings INTERFACE -Werror)
endif()
if(HEAVISIDE_SANITIZE)
  add_compile_options(-fsanitize=${HEAVISIDE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HEAVISIDE_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # An application's enumerators are data, whatever their value: nvn/ and its tests go without that check.
    set(HEAVISIDE_GUEST_ENUMS -fno-sanitize=enum)
    # Stream records are packed to 4 bytes; an expectation binds their 64-bit fields by reference.
    set(HEAVISIDE_PACKED_FIELDS -fno-sanitize=alignment)
    # Entry points take NVNboolean in a whole register on purpose (callers leave its upper bits undefined), so the
    # pointers' C types differ from the functions' own.
    add_compile_options(-fno-sanitize=function)
  endif()
endif()
if(HEAVISIDE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

set_property(GLOBAL PROPERTY HEAVISIDE_FLOORS "")
set_property(GLOBAL PROPERTY HEAVISIDE_LIBRARIES "")

add_custom_target(generated) # all headers made by the build

include(Kernels)

# heaviside_floor(NAME [VULKAN] [FLOORS ...] [LIBRARIES ...]). VULKAN: the floor may include Vulkan headers.
function(heaviside_floor name)
  cmake_parse_arguments(arg "VULKAN" "" "FLOORS;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  string(REPLACE "/" "_" target ${name})
  if(sources)
    add_library(heaviside_${target} STATIC ${sources})
    target_link_libraries(heaviside_${target} PRIVATE heaviside_warnings)
    heaviside_kernels(heaviside_${target} ${PROJECT_SOURCE_DIR}/src/${name}/kernels)
    set(scope PUBLIC)
    set_property(GLOBAL APPEND PROPERTY HEAVISIDE_FLOORS heaviside_${target})
  else()
    add_library(heaviside_${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  set_property(GLOBAL APPEND PROPERTY HEAVISIDE_LIBRARIES ${arg_LIBRARIES})
  target_include_directories(heaviside_${target} ${scope} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
                             ${PROJECT_BINARY_DIR}/generated)
  target_link_libraries(heaviside_${target} ${scope} heaviside_headers ${arg_LIBRARIES})
  foreach(floor ${arg_FLOORS})
    string(REPLACE "/" "_" floor ${floor})
    target_link_libraries(heaviside_${target} ${scope} heaviside_${floor})
  endforeach()
endfunction()

# heaviside_test(FLOOR [GPU] [FLOORS ...] [LIBRARIES ...]): every .cpp in tests/FLOOR becomes one program linked to that
# floor alone, so that it builds without the rest of the house. FLOORS names another set (heaviside: the whole library).
# GPU: it needs a Vulkan device, and `make validate` runs it under the validation layer.
function(heaviside_test name)
  cmake_parse_arguments(arg "GPU" "" "FLOORS;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${name}/*.cpp ${PROJECT_SOURCE_DIR}/tests/${name}/*.c)
  if(NOT sources)
    return()
  endif()
  if(NOT arg_FLOORS)
    set(arg_FLOORS heaviside_${name})
  endif()
  add_executable(test_${name} ${sources})
  target_link_libraries(test_${name} PRIVATE ${arg_FLOORS} heaviside_headers heaviside_warnings GTest::gtest_main
                        GTest::gmock nlohmann_json::nlohmann_json ${arg_LIBRARIES})
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
                             ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)
  target_compile_definitions(test_${name} PRIVATE HEAVISIDE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_compile_options(test_${name} PRIVATE $<$<CONFIG:Release>:-O0>) # what is tested has its -O3; half as long to build
  heaviside_kernels(test_${name} ${PROJECT_SOURCE_DIR}/tests/${name}/shaders)
  if(TARGET heaviside_command AND "heaviside" IN_LIST arg_FLOORS)
    add_dependencies(test_${name} heaviside_command)
    target_compile_definitions(test_${name} PRIVATE HEAVISIDE_COMMAND="$<TARGET_FILE:heaviside_command>")
  endif()
  add_test(NAME ${name} COMMAND test_${name})
  if(arg_GPU)
    set_tests_properties(${name} PROPERTIES TIMEOUT 900 LABELS gpu PROCESSORS 2)
  else()
    set_tests_properties(${name} PROPERTIES TIMEOUT 900 LABELS cpu)
  endif()
endfunction()
