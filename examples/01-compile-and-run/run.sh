#!/usr/bin/env bash
# Compiles a model and runs it from the shell; the tools are in the PATH.
#   run.sh MODEL.onnx [OPTION OF llmc-run ...]
set -euo pipefail
model=${1:?usage: run.sh MODEL.onnx [OPTION OF llmc-run ...]}
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
llmc "$model" -o "$folder/model.llmc" >&2
llmc-plan "$folder/model.llmc" --check >&2
llmc-run "$folder/model.llmc" --random 1 "$@"
