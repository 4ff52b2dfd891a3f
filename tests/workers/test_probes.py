"""Probes of a job: the same whatever happens to the simulator, and true of what hangs on others."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from searchspace.collectives import called_collectives
from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, describe_trace, write_trace
from searchspace.insight import Insight, Probes
from searchspace.job import build_space, load_job
from storage.storage import Storage
from tests.workers.conftest import job_document
from workers import probes
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


def splitting(*calls: bytes) -> list[bytes]:
    """What 16 ranks do that make communicators of four before their calls."""
    return [
        encode("comm_split", color=rank // 4, key=rank) + b"".join(calls) + encode("finalize")
        for rank in range(16)
    ]


def probed(
    storage: Storage, trace: Path, ranks: list[bytes], collectives: dict[str, list[str]]
) -> tuple[Probes, Callable[..., str]]:
    """The probes of a program of 16 ranks under Open MPI, and the identity of what is chosen."""
    write_trace(trace, TraceHeader(ranks=len(ranks), program="probed"), ranks)
    document = job_document(trace)
    document["search"] = {"topology": ["torus-2d"], "mpi": ["ompi"], "collectives": collectives}
    machine = {"nodes": 16, "degree": 4, "network": "packets"}
    document["machine"] = document["machine"] | machine
    space = space_of(storage, document)
    found = Probes.from_json(space["probes"])
    spec = load_job(document)
    called = called_collectives(describe_trace(trace))
    insight = Insight(spec.described_machine, len(ranks), called, [trace], found)
    built = build_space(spec, len(ranks), called).space
    known = insight.known(built)

    def identity(**chosen: str) -> str:
        values = {f"collectives.{name}": algorithm for name, algorithm in chosen.items()}
        return known.identity({**built.default(), **values})

    return found, identity


def test_communicators_that_are_made_hide_no_algorithms_that_are_the_same(
    storage: Storage, tmp_path: Path
) -> None:
    # Making a communicator calls collectives, by the algorithms that were chosen for them.
    ranks = splitting(encode("bcast", count=8, size=1), encode("reduce", count=8, size=8))
    collectives = {
        "bcast": ["NTSL", "ompi_pipeline", "flattree"],
        "reduce": ["NTSL", "ompi_chain_whole", "flat_tree"],
    }
    _, identity = probed(storage, tmp_path / "split.ht", ranks, collectives)
    assert identity(bcast="NTSL", reduce="NTSL") == identity(
        bcast="ompi_pipeline", reduce="ompi_chain_whole"
    )
    found = {
        identity(bcast=b, reduce=r) for b in collectives["bcast"] for r in collectives["reduce"]
    }
    assert len(found) == 4


def test_what_calls_the_algorithm_of_another_is_the_same_where_these_are(
    storage: Storage, tmp_path: Path
) -> None:
    calls = encode("bcast", count=8, size=1) + encode("allreduce", count=512, size=8)
    ranks = [calls + encode("finalize")] * 16
    collectives = {
        "bcast": ["binomial_tree", "SMP_binomial", "NTSL"],
        "allreduce": ["redbcast", "rdb"],
    }
    _, identity = probed(storage, tmp_path / "redbcast.ht", ranks, collectives)
    one = identity(allreduce="redbcast", bcast="binomial_tree")
    assert one == identity(allreduce="redbcast", bcast="SMP_binomial")
    assert one != identity(allreduce="redbcast", bcast="NTSL")
    assert one != identity(allreduce="rdb", bcast="binomial_tree")


def test_algorithms_that_make_a_difference_to_another_are_told_apart_beside_it(
    storage: Storage, tmp_path: Path
) -> None:
    # An algorithm for hosts of several cores leaves the library another broadcast.
    calls = encode("allreduce", count=1, size=8) + encode("bcast", count=256, size=1)
    ranks = [calls + encode("finalize")] * 16
    collectives = {"bcast": ["default", "binomial_tree"], "allreduce": ["rdb", "smp_rdb"]}
    known, identity = probed(storage, tmp_path / "smp.ht", ranks, collectives)
    rdb, smp = (known.of("allreduce", name, "ompi") for name in collectives["allreduce"])
    assert rdb is not None and smp is not None
    assert rdb.alike == smp.alike
    by_default = known.of("bcast", "default", "ompi")
    assert by_default is not None
    assert by_default.beside == {"collectives.allreduce": {"rdb": 0, "smp_rdb": 1}}
    assert identity(bcast="default", allreduce="rdb") != identity(
        bcast="default", allreduce="smp_rdb"
    )
    assert identity(bcast="binomial_tree", allreduce="rdb") == identity(
        bcast="binomial_tree", allreduce="smp_rdb"
    )
    assert Probes.from_json(json.loads(json.dumps(known.to_json()))) == known


def test_all_to_alls_leave_messages_for_the_probes_of_others(
    storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probes, "_PROBES", 0.005)  # a thousand messages
    calls = encode("alltoall", send_count=8, send_size=8, recv_count=8, recv_size=8)
    calls += encode("bcast", count=8, size=1) + encode("barrier")
    ranks = [calls + encode("finalize")] * 16
    collectives = {"alltoall": ["pair", "ring"], "bcast": ["flattree", "NTSL"]}
    found, _ = probed(storage, tmp_path / "alltoall.ht", ranks, collectives)
    assert found.entries.keys() == {"alltoall", "bcast", "barrier"}
