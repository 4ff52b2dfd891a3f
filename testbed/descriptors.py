"""How many files the processes that hold a cluster have open at once, and may have.

The namespaces of a cluster are held by open descriptors, of which a large one has more than the
thousand that processes may have unless they ask for more.
"""

from __future__ import annotations

import resource

__all__ = ["limit_as_started", "needed_descriptors", "raise_limit"]

_PER_NODE = 3
"""Its network, its name, and in a run the connection of who waits for what a launcher started."""
_BESIDES = 64
_AT_START = resource.getrlimit(resource.RLIMIT_NOFILE)


def needed_descriptors(nodes: int) -> int:
    """The files that a process of a cluster may have open at once.

    Args:
        nodes: Hosts and switches of the cluster.
    """
    return _PER_NODE * nodes + _BESIDES


def raise_limit() -> None:
    """Let this process, and what it starts, open as many files as it may ask for."""
    _, most = _AT_START
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def limit_as_started() -> None:
    """Set the limit that this process, or that it was forked from, was started with.

    Programs get that one: some do not work with descriptors beyond a thousand, or go through all.
    """
    resource.setrlimit(resource.RLIMIT_NOFILE, _AT_START)
