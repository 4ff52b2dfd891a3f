#!/usr/bin/env bash
# Runs a command in the tree of another system, as its root:
#   deploy/enter.sh TREE COMMAND [ARGUMENT...]
# The tree becomes the root of a mount namespace of its own: sandboxes work there, which they do not in a chroot, and
# nothing stays mounted behind it.
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: deploy/enter.sh TREE COMMAND [ARGUMENT...]" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || { echo "enter: run it as root" >&2; exit 2; }
tree=$(realpath "$1")
shift
[ -e "$tree/etc/debian_version" ] || { echo "enter: $tree is no tree of Debian" >&2; exit 2; }

exec unshare --mount --propagation private bash -euc '
  tree=$1; shift
  mount --bind "$tree" "$tree"
  mount --rbind /dev "$tree/dev"
  mount --rbind /sys "$tree/sys"
  mount -t proc proc "$tree/proc"
  cd "$tree"
  mkdir -p .outside
  pivot_root . .outside
  umount --lazy /.outside
  cd /
  exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"
' enter "$tree" "$@"
