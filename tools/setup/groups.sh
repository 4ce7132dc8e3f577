# Groups of tests for test.sh: each runs its command into a log, counts, and prints one line. Needs setup.sh.

passed=0 failed=0 skipped=0

# On a terminal, says what runs until the group's line replaces it.
start_group() { [ ! -t 1 ] || printf '%-24s ...\r' "$1"; }

# count_group NAME SECONDS PASSED FAILED SKIPPED: prints the line of a group, with the end of its log if it failed.
count_group() {
  printf '%-24s %5d passed %4d failed %4d skipped %7d s\n' "$1" "$3" "$4" "$5" "$2"
  passed=$((passed + $3)) failed=$((failed + $4)) skipped=$((skipped + $5))
  [ "$4" = 0 ] || { echo "--- end of build/logs/$1.log"; tail -n 60 "build/logs/$1.log"; echo "---"; }
}

# build_group PRESET: a build that works is one test passed.
build_group() {
  local start=$SECONDS ok=1
  start_group "build-$1"
  (setup_build "$1") >"build/logs/build-$1.log" 2>&1 || ok=0
  count_group "build-$1" $((SECONDS - start)) "$ok" $((1 - ok)) 0
}

# ctest_group NAME PRESET [CTEST OPTION...]
ctest_group() {
  local name=$1 preset=$2 start=$SECONDS status=0 total bad off
  shift 2
  start_group "$name"
  rm -f "build/logs/$name.xml"
  ctest --test-dir "build/$preset" -j "$JOBS" --output-on-failure --no-tests=error --output-junit "$PWD/build/logs/$name.xml" "$@" \
    >"build/logs/$name.log" 2>&1 || status=$?
  total=$(junit_count tests "$name") bad=$(junit_count failures "$name")
  off=$(($(junit_count skipped "$name") + $(junit_count disabled "$name")))
  # A program that could not be started counts as skipped in the report, but makes ctest fail.
  [ "$status" = 0 ] || [ "$bad" != 0 ] || bad=1
  count_group "$name" $((SECONDS - start)) $((total > bad + off ? total - bad - off : 0)) "$bad" "$off"
}

# junit_count ATTRIBUTE NAME: the number in the head of the group's report, 0 without one.
junit_count() {
  local value
  value=$(sed -n "s/^[[:space:]]*\(<testsuite .*[[:space:]]\)\{0,1\}$1=\"\([0-9]*\)\".*/\2/p" "build/logs/$2.xml" 2>/dev/null | head -n 1)
  echo "${value:-0}"
}

# lit_group NAME PRESET: the .mlir, .test and .onnxtxt files under test/.
lit_group() {
  local name=$1 start=$SECONDS status=0 log=build/logs/$1.log good bad off
  start_group "$name"
  /usr/lib/llvm-22/bin/lit -v -j "$JOBS" "build/$2/test" >"$log" 2>&1 || status=$?
  good=$(lit_count "$log" Passed 'Expectedly Failed')
  bad=$(lit_count "$log" Failed 'Unexpectedly Passed' Unresolved 'Timed Out')
  off=$(lit_count "$log" Unsupported Skipped Excluded)
  [ "$status" = 0 ] || [ "$bad" != 0 ] || bad=1
  count_group "$name" $((SECONDS - start)) "$good" "$bad" "$off"
}

# lit_count LOG RESULT...: sums the lines "  RESULT: COUNT (..%)" that close lit's report.
lit_count() {
  local log=$1 sum=0 result value
  shift
  for result in "$@"; do
    value=$(sed -n "s/^  *$result *: *\([0-9]*\).*/\1/p" "$log" | tail -n 1)
    sum=$((sum + ${value:-0}))
  done
  echo "$sum"
}

# driver_groups PROGRAM...: Python programs whose last line is "N passed, N failed[, N skipped]". Two run at a time, since most
# of them wait for one process of theirs; each prints its line when it ends.
driver_groups() {
  local program
  local -A names=() started=() # by process
  trap 'kill "${!names[@]}" 2>/dev/null; exit 130' INT TERM # jobs of a shell ignore SIGINT
  for program in "$@"; do
    [ "${#names[@]}" -lt 2 ] || await_driver
    "$PYTHON" "$program" >"build/logs/$(basename "$program" .py).log" 2>&1 &
    names[$!]=$(basename "$program" .py) started[$!]=$SECONDS
  done
  while [ "${#names[@]}" != 0 ]; do
    await_driver
  done
  trap - INT TERM
}

# Counts the first that ends of the drivers in `names`.
await_driver() {
  local ended status=0
  wait -n -p ended "${!names[@]}" || status=$?
  count_driver "${names[$ended]}" "$status" $((SECONDS - started[$ended]))
  unset "names[$ended]"
}

# count_driver NAME EXIT_STATUS SECONDS
count_driver() {
  local good=0 bad=0 off=0 line
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "build/logs/$1.log" | tail -n 1)
  if [ -n "$line" ]; then
    good=${line%% passed*} bad=$(sed -E 's/.*, ([0-9]+) failed.*/\1/' <<<"$line")
    [[ $line =~ ,\ ([0-9]+)\ skipped ]] && off=${BASH_REMATCH[1]}
  fi
  [ "$2" = 0 ] && [ -n "$line" ] || [ "$bad" != 0 ] || bad=1
  count_group "$1" "$3" "$good" "$bad" "$off"
}

finish_groups() {
  printf '\nin all %d s\n%d passed, %d failed, %d skipped\n' "$SECONDS" "$passed" "$failed" "$skipped"
  [ "$failed" = 0 ] && [ "$passed" != 0 ]
}
