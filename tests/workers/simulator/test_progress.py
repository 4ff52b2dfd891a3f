"""How far an evaluation is, and how many messages it takes."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.packets.traces import alltoall, stencil
from searchspace.configuration import Configuration
from searchspace.machine import parse_machine
from searchspace.platform import resolve
from workers.simulator_client import Simulator

RANKS = 16


def request(model: str, **algorithms: str) -> dict[str, object]:
    machine = parse_machine(
        {
            "nodes": RANKS,
            "degree": 4,
            "host_speed": "100Gf",
            "link_bandwidth": "40Gbps",
            "network": model,
        }
    )
    chosen = {"topology": "torus-2d", **{f"collectives.{k}": v for k, v in algorithms.items()}}
    return resolve(Configuration.from_json(chosen), machine, RANKS).simulator_request()


@pytest.mark.parametrize("model", ["packets", "fluid"])
def test_all_calls_have_begun_at_the_end(tmp_path: Path, model: str) -> None:
    trace = stencil(tmp_path / "stencil.ht", RANKS, points=16, iterations=3)
    with Simulator([trace]) as simulator:
        assert simulator.progress.share == 0.0
        answer = simulator.evaluate(request(model))
        progress = simulator.progress
    assert progress.calls == progress.all_calls > 0
    assert progress.simulated_time == pytest.approx(answer["simulated_time"], rel=0.1)
    assert progress.messages == answer["messages"] > 0


def test_progress_is_seen_from_another_thread_while_it_goes_on(tmp_path: Path) -> None:
    trace = stencil(tmp_path / "stencil.ht", RANKS, points=16, iterations=4000)
    shares = []
    with Simulator([trace]) as simulator, ThreadPoolExecutor(1) as thread:
        answer = thread.submit(simulator.evaluate, request("packets"))
        while not answer.done():
            shares.append(simulator.progress.share)
            time.sleep(0.002)
        assert answer.result()["status"] == "completed"
    assert shares == sorted(shares)
    assert len(set(shares)) > 2


def test_pairs_send_as_many_messages_as_there_are(tmp_path: Path) -> None:
    trace = alltoall(tmp_path / "alltoall.ht", RANKS, 1024)
    pairs = RANKS * (RANKS - 1)
    with Simulator([trace]) as simulator:
        asked = request("packets", alltoall="basic_linear")
        assert simulator.evaluate(asked)["messages"] == pairs
        enough = simulator.evaluate(asked, messages=pairs)
        short = simulator.evaluate(asked, messages=pairs - 1)
        again = simulator.evaluate(asked)
    assert enough["status"] == again["status"] == "completed"
    assert short["reason"] == {
        "kind": "messages",
        "message": f"more than {pairs - 1} messages, collectives' own with them",
    }
