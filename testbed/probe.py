"""Tries what the kernel allows, in namespaces of its own: `python -m testbed.probe SCRATCH`.

Prints a line `NAME=yes` or `NAME=no` for each thing that it tried.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from testbed.holder import leave_for_new_namespaces
from testbed.kernel import MS_PRIVATE, MS_REC, mount

if TYPE_CHECKING:
    from pyroute2 import IPRoute

__all__ = ["main"]

_RATE = 2_500_000


def main(scratch: Path) -> int:
    """Try all."""
    before = Path("/proc/self/ns/user").readlink()
    leave_for_new_namespaces()  # before anything starts a thread, whose process could not
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    _say("user", lambda: Path("/proc/self/ns/user").readlink() != before)
    from pyroute2 import IPRoute

    from testbed.shaping import has_netem

    with IPRoute() as kernel:
        kernel.link("add", kind="veth", ifname="d0", peer={"ifname": "d0p"})
        index = kernel.link_lookup(ifname="d0")[0]
        _say("tbf", lambda: _has_tbf(kernel, index))
    _say("netem", has_netem)
    _say("rps", lambda: _has_rps(scratch))
    return 0


def _say(name: str, check: Callable[[], bool]) -> None:
    from pyroute2.netlink.exceptions import NetlinkError

    try:
        found = check()
    except (OSError, NetlinkError):
        found = False
    print(f"{name}={'yes' if found else 'no'}", flush=True)


def _has_tbf(kernel: IPRoute, index: int) -> bool:
    from testbed.shaping import BUCKET_BYTES

    kernel.tc("add", "tbf", index=index, rate=_RATE, burst=BUCKET_BYTES, limit=_RATE)
    return True


def _has_rps(scratch: Path) -> bool:
    mount("sysfs", str(scratch), "sysfs")
    (scratch / "class/net/d0/queues/rx-0/rps_cpus").write_text("1")
    return True


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1])))
    except OSError as refused:
        print(refused.strerror, file=sys.stderr)
        sys.exit(1)
