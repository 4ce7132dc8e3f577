// The command line's way to fix or bound symbolic dims: --dim and --shape.
#pragma once

#include "compiler/Import/OnnxImporter.h"

namespace llmc {

/// "NAME=VALUE" or "NAME=LO..HI". False, and `error` says what is wrong.
bool parseDimOption(llvm::StringRef text, ImportOptions &options, std::string &error);

/// "INPUT=1x3x224x224", with '?' for a dim that stays as it is, or a name for it; "INPUT=" for a scalar.
bool parseShapeOption(llvm::StringRef text, ImportOptions &options, std::string &error);

} // namespace llmc
