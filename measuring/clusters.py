"""Where real MPI programs run: an emulated cluster, or a user's own through its launch line."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from searchspace.errors import HamtuneError

__all__ = ["Cluster", "Launch", "Library", "Ran", "RunFailed", "Unwanted"]

Library = Literal["openmpi", "mpich"]


class RunFailed(HamtuneError):
    """A run that could not be started, failed, or did not end in time, with what it said."""


class Unwanted(RunFailed):
    """A run that was ended, for nobody wants it any more."""


@dataclass(frozen=True, kw_only=True)
class Launch:
    """One run of a program.

    Attributes:
        command: The program and its arguments.
        ranks: How many of it.
        library: The MPI library that it was built with.
        export: The directory of an export for that library, installed as its README says; None for
            the library's own choices.
        rank_hosts: Where there is no export, the name of each rank's host; None for ranks in the
            order of the hosts.
        environment: Added to the environment of every rank, over what the export sets.
        preloaded: Shared libraries that every rank loads first.
        seconds: When the run is given up.
        cable_bytes: What its messages bring onto cables, each cable that they cross anew, where
            that is known: a run that counts clearly less is doubted.
        unwanted: When set, the run is ended, with all that it has started.
    """

    command: Sequence[str]
    ranks: int
    library: Library = "openmpi"
    export: Path | None = None
    rank_hosts: Sequence[str] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    preloaded: Sequence[Path] = ()
    seconds: float = 300.0
    cable_bytes: float | None = None
    unwanted: threading.Event = field(default_factory=threading.Event, compare=False)


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What a run came to.

    Attributes:
        output: What the program printed.
        seconds: From the start of the launcher to its end.
        doubts: Why the times of the run do not count, such as segments that were sent again, each
            a sentence; empty where they do.
        details: What else is known of the run, for its record: loads, bytes on cables.
    """

    output: str
    seconds: float
    doubts: Sequence[str] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


class Cluster(Protocol):
    """Hosts that run MPI programs."""

    @property
    def hosts(self) -> Sequence[str]:
        """The names of the hosts, in the machine's order."""

    @property
    def cores_per_host(self) -> int:
        """How many ranks a host takes."""

    def origin(self, library: Library) -> Mapping[str, Any]:
        """On what and with what it runs, as JSON: for the record of a measurement."""

    def run(self, launch: Launch) -> Ran:
        """Run a program to its end.

        Raises:
            RunFailed: It could not be started, failed, or did not end in time; with what it said.
            Unwanted: It was ended, for nobody wants it any more.
        """
