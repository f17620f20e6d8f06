# heaviside_kernels(TARGET FOLDER): every GLSL shader in FOLDER (FILE = name.comp, name.vert, ...) becomes a header with its
# SPIR-V as `const uint32_t FILE_WITH_UNDERSCORES[]`: generated/FOLDER/FILE.h, a leading src/ left out. It is included as
# "gpu/kernels/widen_indices.comp.h" or "tests/gpu/shaders/heap.comp.h".
function(heaviside_kernels target folder)
  set(globs "")
  foreach(stage comp vert frag geom tesc tese)
    list(APPEND globs ${folder}/*.${stage})
  endforeach()
  file(GLOB kernels CONFIGURE_DEPENDS ${globs})
  file(GLOB includes CONFIGURE_DEPENDS ${folder}/*.glsl)
  cmake_path(GET CMAKE_CURRENT_FUNCTION_LIST_DIR PARENT_PATH root)
  file(RELATIVE_PATH place ${root} ${folder})
  string(REGEX REPLACE "^src/" "" place ${place})
  set(headers "")
  foreach(kernel ${kernels})
    get_filename_component(file ${kernel} NAME)
    string(MAKE_C_IDENTIFIER ${file} symbol)
    set(header ${PROJECT_BINARY_DIR}/generated/${place}/${file}.h)
    add_custom_command(
      OUTPUT ${header}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/generated/${place}
      COMMAND ${GLSLANG_VALIDATOR} -V --target-env vulkan1.3 --quiet --vn ${symbol} -o ${header} ${kernel}
      DEPENDS ${kernel} ${includes} VERBATIM)
    list(APPEND headers ${header})
  endforeach()
  if(headers)
    target_sources(${target} PRIVATE ${headers})
    add_custom_target(${target}_kernels DEPENDS ${headers})
    add_dependencies(generated ${target}_kernels)
    add_dependencies(${target} ${target}_kernels)
  endif()
endfunction()
