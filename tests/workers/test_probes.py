"""Probes of a job are the same whatever happens to the simulator that makes them."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from searchspace.job import load_job
from storage.storage import Storage
from tests.workers.conftest import job_document
from workers.prepare import prepare_job

KILLS = 2  # after a third at one probe there would be none


def space_of(storage: Storage, document: dict[str, Any]) -> dict[str, Any]:
    spec = load_job(document)
    job = storage.jobs.create(name=spec.name, spec=spec.canonical(), seed=spec.seed)
    storage.jobs.transition(job.id, "preparing")
    prepare_job(storage, job.id)
    space = storage.jobs.get(job.id).space
    assert space is not None
    return space


def simulators() -> list[int]:
    """The simulators that this process has started, and what they have forked."""
    found, waiting = [], [os.getpid()]
    while waiting:
        for thread in Path(f"/proc/{waiting.pop()}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                waiting += map(int, thread.read_text().split())
        found += [pid for pid in waiting if _name(pid).startswith("hamtune-sim")]
    return found


def _name(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text()
    return ""


@contextlib.contextmanager
def killing() -> Iterator[list[int]]:
    """Kills simulators, a few; how many were killed by then."""
    ending, killed = threading.Event(), list[int]()

    def kill() -> None:
        while not ending.is_set() and len(killed) < KILLS:
            for pid in simulators()[-1:]:
                if pid not in killed:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                        killed.append(pid)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        ending.set()
        thread.join()


def test_a_killed_simulator_changes_nothing(storage: Storage, trace: Path) -> None:
    document = job_document(trace)
    document["search"]["collectives"] = {"alltoall": "all"}
    undisturbed = space_of(storage, document)
    with killing() as killed:
        disturbed = space_of(storage, document)
    assert killed
    assert undisturbed["probes"]
    assert disturbed == undisturbed


def test_each_range_of_sizes_is_probed_by_its_own_calls(storage: Storage, tmp_path: Path) -> None:
    calls = encode("bcast", count=8, size=1) + encode("bcast", count=1 << 20, size=1)
    trace = tmp_path / "two.ht"
    write_trace(trace, TraceHeader(ranks=8, program="two"), [calls + encode("finalize")] * 8)
    document = job_document(trace)
    document["search"] |= {
        "topology": ["torus-2d"],
        "collectives": {"bcast": ["flattree", "NTSL"]},
        "by_size": True,
    }
    document["machine"] |= {"nodes": 8}
    space = space_of(storage, document)

    assert [p["name"] for p in space["parameters"] if "bcast" in p["name"]] == [
        "collectives.bcast",
        "collectives.bcast@4096",
    ]
    seconds = {
        name: {algorithm: next(iter(by_mpi.values()))[0] for algorithm, by_mpi in probes.items()}
        for name, probes in space["probes"].items()
    }
    small, large = seconds["bcast"], seconds["bcast@4096"]
    assert small.keys() == large.keys() == {"flattree", "NTSL"}
    assert all(10 * small[algorithm] < large[algorithm] for algorithm in small)


def test_a_program_stored_before_sizes_were_listed_gets_them(storage: Storage, trace: Path) -> None:
    document = job_document(trace)
    document["search"]["collectives"] = {"alltoall": "all"}
    space_of(storage, document)
    (application,) = storage.applications.page().items
    sizes = application.summary["sizes"]
    storage.applications.add_to_summary(application.id, sizes=None)

    document["search"]["by_size"] = True
    space_of(storage, document)
    again = storage.applications.get(application.id).summary["sizes"]
    assert {name: [list(one) for one in of] for name, of in sizes.items()} == again
