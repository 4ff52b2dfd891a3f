"""An emulated cluster that is up, as a cluster that runs MPI programs."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from measuring.callers_environment import callers_environment
from measuring.clusters import Launch, Library, Ran, RunFailed
from measuring.launch_lines import (
    awaited,
    launcher_of,
    library_version,
    line_of,
    preload_obstacle,
)
from searchspace.errors import HamtuneError
from testbed.clusters import Testbed
from testbed.counters import Counts
from testbed.host_load import HostLoad
from testbed.idle_states import awake
from testbed.plan import DEVICE

__all__ = ["Outcome", "TestbedCluster"]

BUSY = 0.9
"""Part of the time of this host's cores above which its cables were not what limited a run.

Above it the ranks wait for a core about as long as they need it: collectives that keep the cores
this busy differ from the calibrated model by a quarter in the median, those below by a fifteenth.
"""
CROSSED = 0.94
"""Part of the bytes of a run's messages that its cables have to count at least."""
_SHOWN_CHARACTERS = 4000


@dataclass(frozen=True)
class Outcome:
    """How a run ended: with which status, after which time, and what is to be said of it."""

    status: int
    seconds: float
    doubts: Sequence[str]
    details: Mapping[str, Any]


class TestbedCluster:
    """Runs programs on a testbed by the MPI libraries of this host.

    Args:
        testbed: One that is up.
        waiting: Whether ranks that wait sleep, for there are more of them than cores.
    """

    __test__ = False  # no test of pytest's

    def __init__(self, testbed: Testbed, *, waiting: bool = True) -> None:
        self.testbed = testbed
        self._waiting = waiting

    @property
    def hosts(self) -> Sequence[str]:
        """The names of the hosts, in the machine's order."""
        return self.testbed.hosts

    @property
    def cores_per_host(self) -> int:
        """How many ranks a host takes."""
        return self.testbed.machine.cores_per_host

    def origin(self, library: Library) -> Mapping[str, Any]:
        """On what and with what it runs."""
        kept = ("scale", "congestion_control", "bucket_bytes", "queue_seconds", "netem")
        described = self.testbed.description
        return {
            "cluster": "testbed",
            "testbed": self.testbed.name,
            "mpi": library_version(library, [launcher_of(library)]),
            "machine": self.testbed.scaled_machine.canonical(),
            **{name: described[name] for name in (*kept, "notes", "kernel", "cores")},
            "waiting": self._preload(library) is not None,
        }

    def run(self, launch: Launch) -> Ran:
        """Run a program to its end.

        Raises:
            RunFailed: It could not be started, failed, or did not end in time; with what it said.
            Unwanted: It was ended, for nobody wants it any more.
        """
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            with Path(os.devnull).open() as nothing:
                ran = self.run_with(launch, (nothing, output, errors))
            said, complained = _text(output), _text(errors)
        if ran.status:
            told = f"{said}\n{complained}".strip()[-_SHOWN_CHARACTERS:]
            raise RunFailed(f"{launch.command[0]} ended with status {ran.status}: {told}")
        return Ran(output=said, seconds=ran.seconds, doubts=ran.doubts, details=ran.details)

    def run_with(self, launch: Launch, files: Sequence[int | IO[Any]]) -> Outcome:
        """Run a program whose standard files are given.

        Raises:
            RunFailed: It could not be started, or did not end in time.
            Unwanted: It was ended, for nobody wants it any more.
        """
        try:
            with tempfile.TemporaryDirectory(prefix="hamtune-run-") as scratch:
                return self._run_in(Path(scratch), launch, files)
        except RunFailed:
            raise
        except HamtuneError as error:
            raise RunFailed(str(error)) from None

    def _run_in(self, scratch: Path, launch: Launch, files: Sequence[int | IO[Any]]) -> Outcome:
        mine = self._of_ranks(launch.library)
        launcher = [launcher_of(launch.library)]
        line = line_of(launch, launcher, self.hosts, self.cores_per_host, scratch, mine)
        environment = {
            **callers_environment(),
            **self._of_launcher(launch.library),
            "TMPDIR": str(scratch),
            **line.environment,
        }
        before, load, begun = self.testbed.counts(), HostLoad.now(), time.monotonic()
        with (
            awake(),
            self.testbed.start(
                self.hosts[0],
                line.command,
                environment=environment,
                directory=Path.cwd(),
                files=files,
            ) as running,
        ):
            status = awaited(launch, running.wait)
        seconds = time.monotonic() - begun
        used = HostLoad.now().since(load)
        counted = self.testbed.counts().since(before)
        details = {
            "cable_bytes": counted.bytes,
            "cables": [list(both) for both in counted.cables],
            "sent_again": dict(counted.sent_again),
            "busy": round(used.busy, 3),
            "cpu_seconds": round(running.cpu_seconds, 3),
        }
        return Outcome(status, seconds, _doubts(launch, counted, used), details)

    def _preload(self, library: Library) -> Path | None:
        """What lets ranks that wait sleep."""
        return self.testbed.waiting(library) if self._waiting else None

    def _of_ranks(self, library: Library) -> dict[str, str]:
        """What ranks are told of the testbed beside what launchers are."""
        # UCX sees one kernel, and would look for ways around the cables.
        told = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": DEVICE} if library == "mpich" else {}
        if (preload := self._preload(library)) is not None:
            if (obstacle := preload_obstacle(preload)) is not None:
                raise RunFailed(f"{obstacle}; bring the testbed up with HAMTUNE_TESTBEDS elsewhere")
            told["LD_PRELOAD"] = str(preload)
        return told

    def _of_launcher(self, library: Library) -> dict[str, str]:
        """What a launcher and its daemons are told of the testbed."""
        agent = str(self.testbed.agent)
        if library == "mpich":
            return {
                "HYDRA_LAUNCHER": "rsh",
                "HYDRA_LAUNCHER_EXEC": agent,
                "HYDRA_IFACE": DEVICE,
            }
        settings = {
            "plm_rsh_agent": agent,
            "plm_rsh_no_tree_spawn": "1",
            "pml": "ob1",
            "btl": "tcp,self,vader",
            "btl_tcp_if_include": DEVICE,
            "oob_tcp_if_include": DEVICE,
            # Ranks ask their sockets by epoll, on which `waiting.c` can wait as well.
            "mpi_yield_when_idle": "1",
            "opal_event_include": "epoll",
        }
        return {
            **{f"OMPI_MCA_{name}": value for name, value in settings.items()},
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            # A host has the cores of the machine, whatever this one has, and binds to none.
            "HWLOC_SYNTHETIC": f"core:{self.cores_per_host} pu:1",
        }


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def _doubts(launch: Launch, counted: Counts, used: HostLoad) -> list[str]:
    """Why the time of a run may not be that of the machine."""
    doubts = []
    if any(counted.sent_again.values()):
        told = ", ".join(f"{name} {n}" for name, n in counted.sent_again.items() if n)
        doubts.append(f"segments were sent again ({told})")
    if launch.cable_bytes is not None and counted.bytes < CROSSED * launch.cable_bytes:
        doubts.append(
            f"the cables carried {counted.bytes} bytes where the messages have "
            f"{launch.cable_bytes:.0f}: some went another way"
        )
    if used.busy > BUSY:
        doubts.append(
            f"the cores of this host were busy for {used.busy:.0%} of the time, so they and "
            "not the cables decided; take a larger --scale"
        )
    return doubts
