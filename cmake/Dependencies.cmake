# Everything the project links comes from the system's packages; headers that are too old there are unpacked by
# scripts/setup into .deps/include, which therefore comes first. heavisideConfig.cmake.in repeats what an installed
# libheaviside.a needs.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(PNG REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(spirv_tools REQUIRED IMPORTED_TARGET SPIRV-Tools)
pkg_check_modules(spirv_cross REQUIRED IMPORTED_TARGET spirv-cross-c-shared)
pkg_check_modules(sdl2 REQUIRED IMPORTED_TARGET sdl2)
find_program(GLSLANG_VALIDATOR glslangValidator REQUIRED)

# Header-only: Vulkan, volk, Vulkan Memory Allocator, SPIR-V, expected.
set(HEAVISIDE_DEPS_DIR ${CMAKE_CURRENT_LIST_DIR}/../.deps CACHE PATH "Where scripts/setup unpacked header-only packages")
add_library(heaviside_headers INTERFACE)
if(EXISTS ${HEAVISIDE_DEPS_DIR}/include)
  target_include_directories(heaviside_headers SYSTEM INTERFACE ${HEAVISIDE_DEPS_DIR}/include)
endif()

if(HEAVISIDE_TESTS)
  find_package(GTest REQUIRED)
endif()
