#!/usr/bin/env bash
# Builds and runs the demo, and a chosen part of the tests, in a bare tree of Debian 13 that debootstrap makes. Then runs
# it here as well: the trials of both must have the same digits.
#   deploy/portable.sh [TREE]      TREE: where the tree is, or is made (default: /var/tmp/hamtune-trixie)
# As root; needs debootstrap, about 4 GB and 20 minutes. What is there already is used again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tree=${1:-/var/tmp/hamtune-trixie}
suite=trixie
[ "$(id -u)" -eq 0 ] || { echo "portable: run it as root: it makes a tree and enters it" >&2; exit 2; }
command -v debootstrap >/dev/null || { echo "portable: debootstrap is missing: apt-get install debootstrap" >&2; exit 2; }

mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.sources 2>/dev/null | sed -nE 's/^(URIs:|deb) *([^ ]+).*/\2/p' | head -1)
[ -e "$tree/etc/debian_version" ] ||
  debootstrap --variant=minbase --include=ca-certificates,git,make "$suite" "$tree" "$mirror"
cp /etc/resolv.conf "$tree/etc/resolv.conf"
for mount in proc dev; do mountpoint -q "$tree/$mount" || mount --bind "/$mount" "$tree/$mount"; done
trap 'umount "$tree/proc" "$tree/dev"' EXIT

mkdir -p "$tree/root/hamtune"
git ls-files -z | tar --null -T - -cf - | tar -xf - -C "$tree/root/hamtune"
inside() { chroot "$tree" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 bash -c "cd /root/hamtune && $1"; }

inside 'make demo && ./hamtune doctor'
inside '. .venv/bin/activate && python -m pip install -q pytest pytest-timeout hypothesis pytest-xdist &&
  PATH=$PWD/.simgrid/bin:$PATH python -m pytest -q -n 2 tests/workers/simulator/test_express.py tests/workers/test_engine.py'

make demo
values() { "$@" trials demo --format csv --data demo/data | cut -d, -f1,5,6; }
values ./hamtune >/tmp/hamtune-here.csv
inside './hamtune trials demo --format csv --data demo/data' | cut -d, -f1,5,6 >/tmp/hamtune-there.csv
cmp /tmp/hamtune-here.csv /tmp/hamtune-there.csv && echo "portable: the trials of both have the same digits"
