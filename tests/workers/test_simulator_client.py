"""The client: a server kept at hand, started again when it dies, ended when it is closed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.processes import ticks_below
from tests.workers.simulator.runs import on_a_line
from workers import simulator_client
from workers.simulator_client import BINARY, Simulator, SimulatorError, simulator_version


def request(ranks: int = 8) -> dict[str, Any]:
    whole = on_a_line(*range(ranks))
    return {key: whole[key] for key in ("platform", "applications", "options")}


def server_of(simulator: Simulator) -> int:
    assert simulator._server is not None
    return simulator._server.pid


def test_evaluations_run_in_one_server(trace: Path) -> None:
    with Simulator([trace]) as simulator:
        first = simulator.evaluate(request())
        server = server_of(simulator)
        second = simulator.evaluate(request())
        assert server_of(simulator) == server
    assert first["status"] == "completed"
    assert first["simulated_time"] == second["simulated_time"] > 0
    assert (first["id"], second["id"]) == ("1", "2")


def test_limits_reach_the_simulator(long_trace: Path) -> None:
    with Simulator([long_trace]) as simulator:
        censored = simulator.evaluate(request(), cutoff=1e-3)
        assert (censored["status"], censored["simulated_time"]) == ("censored", 1e-3)
        stopped = simulator.evaluate(request(), wall_seconds=0.1)
        assert stopped["reason"]["kind"] == "wall"
        refused = simulator.evaluate(request(), memory_bytes=-1)
        assert refused["reason"]["message"].startswith("memory_bytes: must be")


def test_a_bad_request_is_an_answer(trace: Path) -> None:
    with Simulator([trace]) as simulator:
        answer = simulator.evaluate(request(ranks=7))
        assert answer["reason"] == {
            "kind": "invalid",
            "message": "applications[0].hosts: 7 hosts for 8 ranks",
        }


def test_a_dead_server_is_started_again(trace: Path) -> None:
    with Simulator([trace]) as simulator:
        before = simulator.evaluate(request())
        server = server_of(simulator)
        os.kill(server, signal.SIGKILL)
        assert simulator._server is not None
        simulator._server.wait()
        after = simulator.evaluate(request())
        assert server_of(simulator) != server
        assert after["simulated_time"] == before["simulated_time"]


def in_background(simulator: Simulator, errors: list[SimulatorError]) -> threading.Thread:
    """Evaluate in a thread that keeps the error; returns once a simulation runs."""

    def evaluate() -> None:
        try:
            simulator.evaluate(request())
        except SimulatorError as error:
            errors.append(error)

    simulator.evaluate(request(), cutoff=1e-6)  # the server has read its trace
    begin = ticks_below(server_of(simulator))  # of children that wait for a request already
    thread = threading.Thread(target=evaluate)
    thread.start()
    while ticks_below(server_of(simulator)) < begin + 10:
        threading.Event().wait(0.005)
    return thread


def test_a_server_that_dies_in_an_evaluation_says_how(long_trace: Path) -> None:
    errors: list[SimulatorError] = []
    with Simulator([long_trace]) as simulator:
        thread = in_background(simulator, errors)
        os.kill(server_of(simulator), signal.SIGKILL)
        thread.join()
        assert str(errors[0]) == "the simulator ended by signal 9"
        assert simulator.evaluate(request(), cutoff=1e-6)["status"] == "censored"


def test_closing_ends_the_evaluation_under_way(long_trace: Path) -> None:
    errors: list[SimulatorError] = []
    simulator = Simulator([long_trace])
    thread = in_background(simulator, errors)
    server = server_of(simulator)
    simulator.close()
    thread.join()
    assert str(errors[0]) == "the simulator was closed"
    assert not Path(f"/proc/{server}").exists()
    with pytest.raises(SimulatorError, match="was closed"):
        simulator.evaluate(request())
    simulator.close()


def test_a_trace_that_cannot_be_read_is_named_by_the_simulator(tmp_path: Path) -> None:
    trace = tmp_path / "foreign.ht"
    trace.write_bytes(b"PK\x03\x04 and more than that")
    with (
        Simulator([trace]) as simulator,
        pytest.raises(SimulatorError, match=r"^hamtune-simulator: this is not a Hamtune trace$"),
    ):
        simulator.evaluate(request())


def test_a_simulator_that_was_not_built_says_what_to_do(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulator_client, "BINARY", tmp_path / "missing")
    with Simulator([trace]) as simulator, pytest.raises(SimulatorError, match=r"setup\.sh"):
        simulator.evaluate(request())
    simulator_version.cache_clear()
    with pytest.raises(SimulatorError, match=r"setup\.sh"):
        simulator_version()


@pytest.mark.parametrize("times", [1, 2, 1000])
def test_a_simulator_that_is_killed_is_asked_again_for_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """A worker asks at its start; one kill for want of memory is no reason to end."""
    killed = tmp_path / "killed"
    killed.touch()
    program = tmp_path / "simulator"
    program.write_text(
        f"#!/bin/sh\necho >> {killed}\n"
        f"[ $(wc -l < {killed}) -gt {times} ] || kill -9 $$\nexec {BINARY} --version\n"
    )
    program.chmod(0o755)
    version = simulator_version()
    monkeypatch.setattr(simulator_client, "BINARY", program)
    simulator_version.cache_clear()
    if times < 3:
        assert simulator_version() == version
    else:
        with pytest.raises(SimulatorError, match="it ended by signal 9"):
            simulator_version()
    simulator_version.cache_clear()


def test_the_version_names_both_parts_and_the_build_of_the_library() -> None:
    simulator_version.cache_clear()
    ours, simgrid = simulator_version().split("+")
    assert ours.isdigit()
    name, *release, build = re.split(r"[-.]", simgrid)
    assert (name, len(release)) == ("simgrid", 2)
    linked = subprocess.run(["ldd", str(BINARY)], capture_output=True, text=True, check=True)
    library = re.search(r"=> (\S*libsimgrid\S*)", linked.stdout)
    assert library is not None
    assert bytes.fromhex(build) in Path(library.group(1)).read_bytes()
