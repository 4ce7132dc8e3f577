# The kernels as bitcode and the mathematics as an object, per CPU level, embedded in a library for the compiler.
enable_language(ASM)
set(LLMC_BITCODE_DIR ${CMAKE_CURRENT_BINARY_DIR}/bitcode)
file(MAKE_DIRECTORY ${LLMC_BITCODE_DIR})
set(LLMC_LEVELS v2 v3 v4)

# Compiles one source for one level. Paths are relative to the source tree, so that the bytes do not depend on its place;
# a dependency file would name the headers relative to it too, and Ninja would look in the build tree: so all are listed.
function(llmc_compile_for_level source output level)
  cmake_path(ABSOLUTE_PATH source)
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE relative)
  file(GLOB headers ${PROJECT_SOURCE_DIR}/kernels/*.def ${PROJECT_SOURCE_DIR}/kernels/abi/*.h
    ${PROJECT_SOURCE_DIR}/kernels/reference/*.h ${PROJECT_SOURCE_DIR}/kernels/reference/math/*.h)
  add_custom_command(OUTPUT ${output} DEPENDS ${source} ${headers} VERBATIM
    COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${CMAKE_CXX_COMPILER} ${LLMC_REFERENCE_FLAGS} ${ARGN} -fPIC
      -march=x86-64-${level} -I. -c ${relative} -o ${output}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMENT "Compiling ${relative} for x86-64-${level}")
endfunction()

set(embedded)
foreach(level ${LLMC_LEVELS})
  set(dir ${LLMC_BITCODE_DIR}/${level})
  file(MAKE_DIRECTORY ${dir}/math)

  set(modules)
  foreach(source ${LLMC_REFERENCE_SRCS})
    llmc_compile_for_level(${source} ${dir}/${source}.bc ${level} -emit-llvm)
    list(APPEND modules ${dir}/${source}.bc)
  endforeach()
  add_custom_command(OUTPUT ${LLMC_BITCODE_DIR}/kernels-${level}.bc DEPENDS ${modules} VERBATIM
    COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-link -o ${LLMC_BITCODE_DIR}/kernels-${level}.bc ${modules})

  set(sources ${LLMC_MATH_SRCS} math/Support.cpp)
  set(objects)
  if(level STREQUAL v2)
    list(APPEND sources ${LLMC_MATH_BASELINE_SRCS})
  else()
    list(APPEND objects ${LLMC_LIBC_OBJECT})
  endif()
  foreach(source ${sources})
    llmc_compile_for_level(${source} ${dir}/${source}.o ${level} -ffunction-sections -fdata-sections)
    list(APPEND objects ${dir}/${source}.o)
  endforeach()
  add_custom_command(OUTPUT ${LLMC_BITCODE_DIR}/math-${level}.o DEPENDS ${objects} VERBATIM
    COMMAND ${LLVM_TOOLS_BINARY_DIR}/ld.lld -r -o ${LLMC_BITCODE_DIR}/math-${level}.o ${objects})
  list(APPEND embedded ${LLMC_BITCODE_DIR}/kernels-${level}.bc ${LLMC_BITCODE_DIR}/math-${level}.o)
endforeach()

configure_file(Bitcode.S.in Bitcode.S @ONLY)
set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/Bitcode.S PROPERTIES OBJECT_DEPENDS "${embedded}")
llmc_add_library(LlmcKernelBitcode SRCS Bitcode.cpp ${CMAKE_CURRENT_BINARY_DIR}/Bitcode.S)
