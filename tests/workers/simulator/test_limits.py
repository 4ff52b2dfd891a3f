"""How a simulation ends before its end: cutoff, limits, deadlock, crash, and the server's death."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from searchspace.formats.operations import encode
from searchspace.formats.trace import RankFile, TraceHeader, write_trace
from tests.processes import children, is_alive
from tests.workers.simulator.runs import (
    BANDWIDTH,
    ENVELOPE,
    LATENCY,
    PLAIN,
    Server,
    answer_of,
    on_a_line,
    write_program,
)

Serve = Callable[..., Server]


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """A trace of two ranks whose replay takes far longer than any test waits."""
    rank_files = []
    for rank in range(2):
        operations = tmp_path / f"{rank}.operations"
        partner = encode(
            "sendrecv",
            to=1 - rank,
            send_count=100,
            send_size=8,
            recv_count=100,
            recv_size=8,
            **{"from": 1 - rank},
        )
        operations.write_bytes(
            (partner + encode("compute", flops=1e3)) * 200_000 + encode("finalize")
        )
        rank_files.append(RankFile(operations, 400_001))
    write_trace(tmp_path / "long.ht", TraceHeader(ranks=2, program="long"), rank_files)
    return tmp_path / "long.ht"


@pytest.fixture
def steps(tmp_path: Path) -> Path:
    """A trace of one rank that computes for a second, then for another, with a mark between."""
    compute = encode("compute", flops=1e9)
    return write_program(tmp_path / "steps.ht", [[compute, encode("wtime"), compute]])


def test_past_the_cutoff_a_run_is_censored_at_the_cutoff(steps: Path) -> None:
    answer = answer_of(steps, on_a_line(0, cutoff=1.5))
    assert (answer["status"], answer["simulated_time"]) == ("censored", 1.5)
    assert answer["reason"] is None
    assert answer["rank_finish_times"] == [[None]]


def test_a_cutoff_cuts_a_run_short_in_the_middle_of_one_long_computation(steps: Path) -> None:
    answer = answer_of(steps, on_a_line(0, cutoff=1e-9))
    assert (answer["status"], answer["simulated_time"]) == ("censored", 1e-9)


def test_a_cutoff_at_or_above_the_makespan_changes_nothing(steps: Path) -> None:
    free = answer_of(steps, on_a_line(0))
    for cutoff in (free["simulated_time"], 2.5, 1e9):
        bounded = answer_of(steps, on_a_line(0, cutoff=cutoff))
        for field in ("status", "simulated_time", "rank_finish_times", "link_loads"):
            assert bounded[field] == free[field]
    below = answer_of(steps, on_a_line(0, cutoff=free["simulated_time"] * (1 - 1e-6)))
    assert below["status"] == "censored"


def test_a_cutoff_saves_the_simulation_that_it_cuts_off(long: Path) -> None:
    answer = answer_of(long, on_a_line(0, 1, cutoff=1e-3))
    assert answer["status"] == "censored"
    assert answer["link_loads"][0][0] < 1e6  # of 1.6e8 bytes


def test_a_wall_limit_ends_a_run_and_the_server_goes_on(
    long: Path, message: Path, serve: Serve
) -> None:
    server = serve(message, long)
    application = {"trace": 1, "hosts": [0, 1]}
    answer = server.ask(on_a_line(0, 1, applications=[application], wall_seconds=0.2))
    assert (answer["status"], answer["reason"]["kind"]) == ("failed", "wall")
    assert "0.2" in answer["reason"]["message"]
    assert answer["wall_seconds"] >= 0.2
    assert server.ask(on_a_line(0, 1, wall_seconds=60))["status"] == "completed"


@pytest.fixture
def hoarder(tmp_path: Path) -> Path:
    """A trace of two ranks: 60,000 messages wait until they are taken."""
    message = {"tag": 1, "count": 1, "size": 8}
    take = [encode("recv", peer=0, **message)] * 60_000
    return write_program(
        tmp_path / "hoarder.ht",
        [[encode("send", peer=1, **message)] * 60_000, [encode("compute", flops=1e9), *take]],
    )


def test_a_memory_limit_ends_a_run_and_the_server_goes_on(
    hoarder: Path, message: Path, serve: Serve
) -> None:
    server = serve(message, hoarder)
    application = {"trace": 1, "hosts": [0, 1]}
    request = on_a_line(0, 1, applications=[application])
    answers = [server.ask(request | {"memory_bytes": 16 << 20}) for _ in range(2)]
    for answer in answers:
        assert (answer["status"], answer["reason"]["kind"]) == ("failed", "memory")
        assert answer["peak_rss_bytes"] < 100 << 20
    assert server.ask(request | {"memory_bytes": 1 << 30})["status"] == "completed"
    assert server.ask(on_a_line(0, 1, memory_bytes=16 << 20))["status"] == "completed"


def test_what_is_reported_keeps_the_limit(message: Path, serve: Serve) -> None:
    """A process with room for stacks, which it does not fill, has taken no less for that."""
    server = serve(message)
    least = server.ask(on_a_line(0, 1))["peak_rss_bytes"]
    for _ in range(3):
        answer = server.ask(on_a_line(0, 1, memory_bytes=least - (1 << 20)))
        assert (answer["status"], answer["reason"]["kind"]) == ("failed", "memory")
        assert server.ask(on_a_line(0, 1, memory_bytes=least + (2 << 20)))["status"] == "completed"


def test_memory_of_many_small_objects_is_limited_too(tmp_path: Path) -> None:
    receives = [
        encode("irecv", slot=slot, peer=0, tag=slot, count=1, size=8) for slot in range(40_000)
    ]
    waits = [encode("waitall", slots=range(40_000))]
    sends = [encode("send", peer=1, tag=slot, count=1, size=8) for slot in range(40_000)]
    trace = write_program(
        tmp_path / "many.ht", [[encode("compute", flops=1e9), *sends], [*receives, *waits]]
    )
    answer = answer_of(trace, on_a_line(0, 1, memory_bytes=8 << 20))
    assert answer["reason"]["kind"] == "memory"


def test_a_deadlock_names_a_rank_that_waits_and_the_server_goes_on(
    tmp_path: Path, message: Path, serve: Serve
) -> None:
    trace = write_program(
        tmp_path / "stuck.ht",
        [[], [encode("barrier", comm=1), encode("recv", peer=0, tag=3, count=1, size=1)]],
    )
    server = serve(message, trace)
    answer = server.ask(on_a_line(0, 1, applications=[{"trace": 1, "hosts": [0, 1]}]))
    assert (answer["status"], answer["simulated_time"]) == ("failed", None)
    assert answer["reason"] == {
        "kind": "deadlock",
        "message": "1 ranks wait for ever; rank 1 in recv (operation 2 of 3)",
    }
    assert server.ask(on_a_line(0, 1))["status"] == "completed"


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("kind", ["isend", "irecv"])
def test_freed_requests_whose_other_end_never_comes_keep_nobody(
    kind: str, plain: bool, tmp_path: Path, message: Path, serve: Serve
) -> None:
    # As smpirun has it: the program ends when its ranks do.
    large = {"peer": 1, "count": 10**6, "size": 1}
    freed = [encode(kind, slot=0, tag=3, **large), encode("request_free", slot=0)]
    taken = [encode("isend", slot=0, tag=4, **large), encode("request_free", slot=0)]
    work = [encode("compute", flops=1e6)]
    take = encode("recv", peer=0, tag=4, count=10**6, size=1)
    traces = [
        write_program(tmp_path / "freed.ht", [[*freed, *work], [*work, *work]]),
        write_program(tmp_path / "taken.ht", [[*freed, *taken, *work], [*work, *work, take]]),
        write_program(tmp_path / "stuck.ht", [[*freed], [encode("recv", **{**large, "peer": 0})]]),
    ]
    server = serve(*traces, message)

    def ask(trace: int) -> dict[str, Any]:
        applications = [{"trace": trace, "hosts": [0, 1]}]
        return server.ask(on_a_line(0, 1, applications=applications, plain_simgrid=plain))

    assert ask(0)["rank_finish_times"] == [[pytest.approx(1e-3), pytest.approx(2e-3)]]
    arrival = pytest.approx(2e-3 + LATENCY + (10**6 + ENVELOPE) / BANDWIDTH, rel=1e-6)
    assert ask(1)["rank_finish_times"] == [[arrival, arrival]]
    assert ask(2)["reason"]["message"] == "1 ranks wait for ever; rank 1 in recv (operation 1 of 2)"
    assert ask(3)["status"] == "completed"


def alltoall(ranks: int, path: Path) -> Path:
    block = encode("alltoall", send_count=100, send_size=8, recv_count=100, recv_size=8)
    return write_program(path, [[block]] * ranks)


def test_an_algorithm_that_gives_up_is_a_crash_and_the_server_goes_on(
    tmp_path: Path, serve: Serve
) -> None:
    server = serve(alltoall(6, tmp_path / "six.ht"))
    request = on_a_line(*range(6))
    answer = server.ask(request | {"options": PLAIN | {"smpi/alltoall": "pair"}})
    assert (answer["status"], answer["reason"]["kind"]) == ("failed", "crash")
    assert "alltoall" in answer["reason"]["message"]
    assert "power of two" in answer["reason"]["message"]
    assert server.ask(request)["status"] == "completed"


def test_a_segmentation_fault_of_smpi_is_a_crash_and_the_server_goes_on(
    tmp_path: Path, serve: Serve
) -> None:
    bcast = encode("bcast", count=2, size=8)
    server = serve(write_program(tmp_path / "bcast.ht", [[bcast]] * 6))
    request = on_a_line(*range(6))
    answer = server.ask(request | {"options": PLAIN | {"smpi/bcast": "arrival_scatter"}})
    assert (answer["status"], answer["reason"]["kind"]) == ("failed", "crash")
    assert answer["reason"]["message"] == "the simulation crashed (segmentation fault)"
    assert server.ask(request)["status"] == "completed"


def test_a_call_that_mpi_refuses_is_a_crash_that_names_it(tmp_path: Path) -> None:
    trace = write_program(
        tmp_path / "truncated.ht",
        [
            [encode("send", peer=1, tag=0, count=1000, size=8)],
            [encode("recv", peer=0, tag=0, count=10, size=8)],
        ],
    )
    answer = answer_of(trace, on_a_line(0, 1))
    assert (answer["status"], answer["reason"]["kind"]) == ("failed", "crash")
    assert answer["reason"]["message"].startswith("rank 1, recv (operation 1 of 2): ")
    assert "TRUNCATE" in answer["reason"]["message"]


def simulation_of(server: Server) -> int:
    """The simulation that the server has just been asked for: a fork of the one that is ready."""

    def wait_for_child(parent: int) -> int:
        deadline = time.monotonic() + 300
        while not (found := children(parent)) and time.monotonic() < deadline:
            time.sleep(0.005)
        (child,) = found
        return child

    return wait_for_child(wait_for_child(server.process.pid))


def test_a_simulation_killed_from_outside_is_not_taken_for_one_that_met_a_limit(
    long: Path, serve: Serve
) -> None:
    server = serve(long)
    server.say(json.dumps(on_a_line(0, 1, memory_bytes=1 << 30, wall_seconds=600)))
    os.kill(simulation_of(server), signal.SIGKILL)
    answer = server.hear()
    assert (answer["status"], answer["reason"]["kind"]) == ("failed", "killed")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_server_takes_its_simulation_with_it(
    how: signal.Signals, long: Path, serve: Serve
) -> None:
    server = serve(long)
    server.say('{"id": 1}')
    assert server.hear()["status"] == "failed"  # it has read its trace
    server.say(json.dumps(on_a_line(0, 1)))
    simulation = simulation_of(server)
    os.kill(server.process.pid, how)
    server.process.wait(300)
    deadline = time.monotonic() + 300
    while is_alive(simulation) and time.monotonic() < deadline:
        time.sleep(0.005)
    assert not is_alive(simulation)
