"""The rates and latencies of cables: token buckets at both ends."""

from __future__ import annotations

import errno
import math

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from testbed.namespaces import Namespaces, indices
from testbed.netlink import Requests, send
from testbed.plan import Plan

__all__ = ["BUCKET_BYTES", "QUEUE_SECONDS", "has_netem", "shape"]

BUCKET_BYTES = 1600
"""One packet: a larger bucket lets a burst pass at once, and small messages for nothing."""
QUEUE_SECONDS = 4.0
"""How long a frame may wait at an end before frames are dropped."""
_LONGEST_QUEUE = 0x7FFFFFFF
_NETEM_FRAMES = 1_000_000
_MICROSECONDS = 1e6


def shape(plan: Plan, namespaces: Namespaces, *, latencies: bool) -> None:
    """Give every cable its rate, at both ends; in the place of what it had.

    Args:
        plan: The rates.
        namespaces: Where the cables are.
        latencies: Whether cables also take the latency of the machine, which needs `netem`.

    Raises:
        NetlinkFailed: The kernel refused something.
    """
    latency = plan.machine.link_latency + plan.machine.switch_latency
    for node, cables in enumerate(plan.cables_of):
        with namespaces.node(node), Requests() as requests:
            devices = indices()
            for cable in cables:
                limit = min(_LONGEST_QUEUE, int(cable.rate * QUEUE_SECONDS) + BUCKET_BYTES)
                burst = _whole_microseconds(BUCKET_BYTES, cable.rate)
                bucket = {"rate": int(cable.rate), "burst": burst, "limit": limit}
                index = devices[cable.device]
                requests.call("tc", "replace", "tbf", index=index, handle=0x10000, **bucket)
                if latencies and latency > 0:
                    requests.call(
                        "tc",
                        "replace",
                        "netem",
                        index=index,
                        parent=0x10001,
                        handle=0x20000,
                        delay=round(latency * _MICROSECONDS),
                        limit=_NETEM_FRAMES,
                    )
            send(requests.compiled)


def _whole_microseconds(size: int, rate: float) -> float:
    """A size that takes a whole number of microseconds: pyroute2 cuts fractions of them off."""
    return (math.ceil(size / rate * _MICROSECONDS) + 0.5) * rate / _MICROSECONDS


def has_netem() -> bool:
    """Whether the kernel can delay frames; tried on `lo` of the namespace the thread is in."""
    with IPRoute() as kernel:
        try:
            kernel.tc("add", "netem", index=1, handle=0x10000, delay=1, limit=1)
        except NetlinkError as error:
            if error.code in (errno.ENOENT, errno.EOPNOTSUPP):
                return False
            raise
        kernel.tc("del", index=1, handle=0x10000)
        return True
