# Set-up steps shared by quickstart.sh and test.sh; to be sourced from the root of the source tree.
# Each step says what it does, does only what is missing, and needs no network when nothing is.
set -euo pipefail
mkdir -p build/logs
PYTHON=.venv/bin/python
JOBS=${LLMC_JOBS:-$(nproc)}

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

# run_logged LOG COMMAND...: output goes to the log; a failure shows its end.
run_logged() {
  local log=$1; shift
  "$@" >"$log" 2>&1 && return 0
  local status=$?
  tail -n 40 "$log" >&2
  printf 'error: %s failed (exit %d); the whole log: %s\n' "$1" "$status" "$log" >&2
  return "$status"
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else fail "need root or sudo for: $*"
  fi
}

# Installs the Debian packages of packages.txt that are not there.
setup_packages() {
  local wanted missing=() package
  wanted=$(grep -v '^#' tools/setup/packages.txt)
  for package in $wanted; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] && return 0
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  run_logged build/logs/apt-update.log as_root apt-get update -q
  run_logged build/logs/apt-install.log \
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# The first Python that is new enough; Debian's own is preferred, since its venv module was just installed.
find_python() {
  local python
  for python in /usr/bin/python3 python3; do
    if "$python" -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$python"
      return 0
    fi
  done
  fail "need Python 3.11 or newer with its venv module"
}

# A private environment with the pinned packages, made anew when the pins change.
setup_venv() {
  local stamp=.venv/.requirements want
  want=$(sha256sum <tools/requirements.txt)
  [ -x "$PYTHON" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$want" ] && return 0
  say "installing Python packages into .venv: $(grep -o '^[a-z][a-z0-9-]*==[0-9.]*' tools/requirements.txt | tr '\n' ' ')"
  rm -rf .venv
  "$(find_python)" -m venv .venv
  run_logged build/logs/pip.log "$PYTHON" -m pip install -q --disable-pip-version-check --require-hashes \
    --only-binary :all: -r tools/requirements.txt
  echo "$want" >"$stamp"
}

# setup_build PRESET [TARGET...]: configures once, then builds what changed.
setup_build() {
  local preset=$1; shift
  if [ ! -e "build/$preset/build.ninja" ]; then
    say "configuring the $preset build"
    run_logged "build/logs/configure-$preset.log" cmake --preset "$preset"
  fi
  say "building $preset with $JOBS jobs"
  ninja -C "build/$preset" -j "$JOBS" "$@"
}

# setup_models NAME...: prints the path of each test model or data file, in the order asked for.
setup_models() { "$PYTHON" tools/models/get.py "$@"; }
