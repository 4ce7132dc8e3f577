#!/usr/bin/env bash
# Runs all tests, one line per group, and ends with the sum. Exit 1 when anything failed.
#
#   ./test.sh           everything: release, debug with sanitizers, the runtime under the thread sanitizer, models, node tests
#   ./test.sh --fast    the part worth running after each edit: release build, unit tests, lit (2 minutes)
#
# The log of each group is build/logs/GROUP.log; the end of a failing one is shown.
cd "$(dirname "$0")" || exit 1
source tools/setup/setup.sh
source tools/setup/groups.sh

case "$*" in
  "") fast=0 ;;
  --fast) fast=1 ;;
  *) sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac

setup_packages
setup_venv
# Our types lie in storage of the packages' MLIR, which is built without the sanitizer: poisoning there reports false uses.
export ASAN_OPTIONS=allow_user_poisoning=0 UBSAN_OPTIONS=print_stacktrace=1
export LLMC_BIN=$PWD/build/release/bin

build_group release
if [ "$fast" = 1 ]; then
  ctest_group unit release -L unit
  lit_group lit release
else
  ctest_group ctest release
  lit_group lit release
  for preset in debug tsan; do
    build_group "$preset"
    ctest_group "ctest-$preset" "$preset"
  done
  lit_group lit-debug debug
  drivers=()
  for driver in test/e2e/*.py test/generate/generate.py; do # one of them sends damaged models through the sanitized compiler
    [ ! -x "$driver" ] || drivers+=("$driver")
  done
  driver_groups "${drivers[@]}"
fi
finish_groups
