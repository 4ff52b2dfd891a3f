"""What is simulated for studies: each case once, several at once, the same however many."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from searchspace.topology import generate
from studies.laboratory import HU, Laboratory
from studies.recordings import Case, Program, StudyFailed
from workers.simulator_client import Simulator

NETWORKS = [generate("random", 8, degree=3, seed=seed) for seed in range(6)]
NOWHERE = Case(NETWORKS[1], HU, hosts=[99] * 8)
"""Ranks on a host that there is not."""


@pytest.fixture
def laboratory(tmp_path: Path) -> Iterator[Laboratory]:
    with made(tmp_path) as one:
        yield one


def made(folder: Path) -> Laboratory:
    return Laboratory(folder, quick=True, seed=1, say=lambda _line: None)


def program(laboratory: Laboratory) -> Program:
    parameters: dict[str, Any] = {"class": "S"}
    return laboratory.program("is", 8, **parameters)


def test_several_at_once_take_what_each_takes(laboratory: Laboratory, tmp_path: Path) -> None:
    cases = [
        *(Case(network, HU) for network in NETWORKS),
        Case(NETWORKS[0], HU, hosts=[7, 6, 5, 4, 3, 2, 1, 0]),
        Case(NETWORKS[0], HU, {"collectives": {"alltoallv": "ring"}}),
        Case(NETWORKS[0], HU),  # once more
    ]
    times = program(laboratory).times(cases)
    assert times[-1] == times[0]
    assert len(set(times)) == len(cases) - 1
    with made(tmp_path / "another") as another:
        alone = program(another)
        assert times == [
            alone.time(case.network, case.machine, configuration=case[2], hosts=case.hosts)
            for case in cases
        ]


def test_what_is_known_is_not_simulated_again(laboratory: Laboratory, tmp_path: Path) -> None:
    cases = [Case(network, HU) for network in NETWORKS]
    times = program(laboratory).times(cases[:4])
    known = (tmp_path / "times.jsonl").read_text().splitlines()
    assert len(known) == 4
    with made(tmp_path) as again:
        assert program(again).times(cases)[:4] == times
    assert len((tmp_path / "times.jsonl").read_text().splitlines()) == len(cases)


def test_one_that_does_not_complete_is_named_and_others_are_kept(
    laboratory: Laboratory, tmp_path: Path
) -> None:
    with pytest.raises(StudyFailed, match=r"is-class=S-ranks=8.* did not complete"):
        program(laboratory).times([NOWHERE])
    cases = [Case(network, HU) for network in NETWORKS]
    with pytest.raises(StudyFailed):
        program(laboratory).times([*cases, NOWHERE])
    kept = len((tmp_path / "times.jsonl").read_text().splitlines())
    assert kept > 0
    program(laboratory).times(cases)  # goes on where it was
    assert len((tmp_path / "times.jsonl").read_text().splitlines()) == len(cases)


def test_what_fails_is_tried_again_and_what_is_cut_off_is_not(
    laboratory: Laboratory, tmp_path: Path
) -> None:
    network, machine, _, nowhere = NOWHERE
    assert nowhere is not None
    assert program(laboratory).time_within(network, machine, nowhere, None) is None
    assert not (tmp_path / "times.jsonl").exists()
    here = list(range(8))
    for _ in range(2):
        assert program(laboratory).time_within(network, machine, here, 1e-9) is None
        assert len((tmp_path / "times.jsonl").read_text().splitlines()) == 1


class Watched(Simulator):
    """A simulator whose evaluations wait for each other, and one of them for its end."""

    together = threading.Barrier(2, timeout=60)
    closed: ClassVar[list[Simulator]] = []

    def evaluate(self, request: Mapping[str, Any], **limits: Any) -> dict[str, Any]:
        self.together.wait()
        answer = super().evaluate(request, **limits)
        while answer["status"] == "completed" and self not in self.closed:
            time.sleep(0.01)
        return answer

    def close(self) -> None:
        super().close()
        self.closed.append(self)


def test_a_failure_waits_for_no_run_that_is_under_way(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studies.recordings.Simulator", Watched)
    monkeypatch.setattr("os.sched_getaffinity", lambda _process: {0, 1})
    with pytest.raises(StudyFailed):
        program(laboratory).times([NOWHERE, Case(NETWORKS[0], HU)])
    assert len(set(Watched.closed)) == 2
