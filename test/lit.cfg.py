# Configuration of the tests that are text files: IR (.mlir), ONNX models in text syntax (.onnxtxt), command lines (.test).
import os

import lit.formats

config.name = "llmc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".onnxtxt", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.llmc_binary_dir + "/test"
config.environment["PATH"] = os.pathsep.join(
    [config.llmc_binary_dir + "/bin", config.llmc_binary_dir + "/test", config.llvm_tools_dir, os.environ["PATH"]])
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LLMC_CACHE", "XDG_CACHE_HOME", "HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

python = config.llmc_source_dir + "/.venv/bin/python"
config.substitutions.append(("%python", python))
config.substitutions.append(("%build", config.llmc_binary_dir))
config.substitutions.append(("%source", config.llmc_source_dir))
# What links our libraries from outside of the build can not do so to sanitized ones.
if not config.llmc_sanitizers:
    config.available_features.add("plain")
# %tablegen: mlir-tblgen with the folders that our .td files include from
includes = " ".join(f"-I {path}" for path in [config.llmc_source_dir, *config.mlir_include_dirs])
config.substitutions.append(("%tablegen", f"mlir-tblgen {includes}"))
# %import FILE.onnxtxt [OPTION...]: prints the IR that the importer makes of the model
config.substitutions.append(("%import", f"{python} {config.llmc_source_dir}/test/import_text.py"))
