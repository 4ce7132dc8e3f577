# The mathematical functions per CPU level, as sources of ours and, on levels with FMA, members of LLVM's libc.
set(LLMC_MATH_SRCS math/Double.cpp math/Remainder.cpp)
set(LLMC_MATH_BASELINE_SRCS math/Baseline.cpp math/FusedMultiplyAdd.cpp)
set(LLMC_LIBC_FUNCTIONS
  acosf acoshf asinf asinhf atanf atanhf cosf coshf erff expf expm1f logf log1pf powf sinf sinhf tanf tanhf
  acos asin cos exp expm1 log log1p sin tan)

# llmc_<function> for each of them, alone in one object: everything else in it is local, so that neither the library's
# printf or memcpy nor its names can replace those of a process.
find_library(LLMC_LLVMLIBC llvmlibc PATHS ${LLVM_LIBRARY_DIR} NO_DEFAULT_PATH REQUIRED)
set(undefined)
set(renames)
set(names)
foreach(function ${LLMC_LIBC_FUNCTIONS})
  list(APPEND undefined -u ${function})
  string(APPEND renames "${function} llmc_${function}\n")
  string(APPEND names "llmc_${function}\n")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/renames.txt CONTENT "${renames}")
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/names.txt CONTENT "${names}")
set(LLMC_LIBC_OBJECT ${CMAKE_CURRENT_BINARY_DIR}/LibcMath.o)
add_custom_command(OUTPUT ${LLMC_LIBC_OBJECT} DEPENDS ${LLMC_LLVMLIBC} VERBATIM
  COMMAND ${LLVM_TOOLS_BINARY_DIR}/ld.lld -r -o all.o ${undefined} ${LLMC_LLVMLIBC}
  COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-objcopy --redefine-syms=renames.txt all.o
  COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-objcopy --keep-global-symbols=names.txt --set-symbols-visibility=names.txt=hidden
    --strip-unneeded all.o ${LLMC_LIBC_OBJECT}
  WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} COMMENT "Linking the math members of ${LLMC_LLVMLIBC}")
set_source_files_properties(${LLMC_LIBC_OBJECT} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
