"""Ask and tell over OpenTuner's own process: exact replay, safe results, no traces left."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from searchspace.space import (
    BooleanParameter,
    EnumParameter,
    IntegerParameter,
    LogIntegerParameter,
    PermutationParameter,
    SearchSpace,
)
from tests.processes import is_alive
from tuner import parameters
from tuner.errors import SearchProcessFailed
from tuner.opentuner_session import TunerSession
from tuner.techniques import TECHNIQUES

ROOT = Path(__file__).resolve().parents[2]

SPACE = SearchSpace(
    [
        EnumParameter("topology", ("random", "mesh-3d", "torus-3d")),
        BooleanParameter("pinned"),
        IntegerParameter("topology_seed", 0, 40),
        LogIntegerParameter("eager", 64, 1 << 20),
        PermutationParameter("order", tuple("abcdefghij")),
        EnumParameter("mpi", ("mpich",)),
        EnumParameter("collectives.alltoall", tuple(f"algorithm-{i}" for i in range(12))),
    ]
)


def objective(values: dict[str, Any]) -> float:
    misplaced = sum(abs(ord(c) - 97 - i) for i, c in enumerate(values["order"]))
    return float(
        1.0
        + {"random": 0.0, "mesh-3d": 0.5, "torus-3d": 0.2}[values["topology"]]
        + 0.3 * values["pinned"]
        + abs(values["topology_seed"] - 17) / 10
        + abs(math.log2(values["eager"]) - 13) / 3
        + misplaced / 10
        + int(values["collectives.alltoall"].split("-")[1]) % 7 / 3
    )


_ALONE = "import sys; from tuner.opentuner_conversation import serve; serve(sys.stdin, sys.stdout)"


class Child:
    """The process behind a session, spoken to directly, for many searches one after another."""

    def __init__(self, hash_seed: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _ALONE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": str(ROOT)},
            text=True,
        )

    def send(self, **request: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def request(self, **request: Any) -> dict[str, Any]:
        self.send(**request)
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def run(self, techniques: list[str], trials: int, in_flight: int) -> list[str]:
        """A search whose results are completed, censored and failed in turn; its proposals."""
        self.send(
            do="open",
            seed=7,
            parameters=parameters.describe(SPACE),
            techniques=techniques,
            space=SPACE.describe()["parameters"],
        )
        proposals: list[str] = []
        pending: deque[dict[str, Any]] = deque()
        while len(proposals) < trials:
            while len(pending) < in_flight:
                answer = self.request(do="ask")
                proposals.append(json.dumps(answer))
                if answer["id"] is None:
                    break
                pending.append(answer)
            if not pending:
                break
            told = pending.popleft()
            status = {3: "censored", 7: "failed"}.get(told["id"] % 10, "completed")
            value = objective(told["values"]) if status == "completed" else None
            self.send(do="tell", id=told["id"], value=value, status=status)
        return proposals


@pytest.fixture(scope="module")
def children() -> Iterator[tuple[Child, Child]]:
    pair = Child(hash_seed=1), Child(hash_seed=4711)
    yield pair
    for child in pair:
        assert child.process.stdin is not None
        child.process.stdin.close()
        assert child.process.wait(timeout=300) == 0


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_a_replay_asks_the_same_whatever_the_hash_seed_and_addresses(
    children: tuple[Child, Child], technique: str
) -> None:
    first, second = (child.run([technique], 500, 4) for child in children)
    assert first == second
    assert len(set(first)) > 20


def test_a_replay_of_a_bandit_over_techniques_asks_the_same(
    children: tuple[Child, Child],
) -> None:
    techniques = [t for t in TECHNIQUES if t != "AUCBanditMetaTechniqueA"]
    first, second = (child.run(techniques, 1000, 4) for child in children)
    assert first == second
    assert len({json.loads(p).get("technique") for p in first}) > 10


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_every_technique_improves_on_its_first_trial(
    children: tuple[Child, Child], technique: str
) -> None:
    values = [
        objective(answer["values"])
        for answer in map(json.loads, children[0].run([technique], 300, 1))
        if answer["id"] is not None
    ]
    assert min(values) < values[0]


def test_another_seed_asks_otherwise() -> None:
    with TunerSession(SPACE, 1) as one, TunerSession(SPACE, 2) as other:
        assert [one.ask() for _ in range(3)] != [other.ask() for _ in range(3)]


def test_proposals_are_complete_and_allowed() -> None:
    with TunerSession(SPACE, 3) as session:
        for _ in range(20):
            proposal = session.ask()
            assert proposal is not None
            assert proposal.values["mpi"] == "mpich"
            assert len(SPACE.canonicalise(proposal.values)) == 7
            session.tell(proposal.id, objective(proposal.values), "completed")


@pytest.mark.parametrize("status", ["censored", "failed", "infeasible"])
def test_a_result_without_a_value_never_becomes_the_incumbent(status: Any) -> None:
    """One mutation of the incumbent apart: where it is can be read off the next proposals."""
    space = SearchSpace([IntegerParameter(f"p{i}", 0, 10**6) for i in range(8)])
    with TunerSession(space, 1, ["NarrowGreedyMutation"]) as session:
        good = {f"p{i}": 500_000 + i for i in range(8)}
        bad = {f"p{i}": 7 for i in range(8)}
        session.inject(bad, None, status)
        session.inject(good, 10.0, "completed")
        session.inject(bad, None, status)
        for _ in range(20):
            proposal = session.ask()
            assert proposal is not None
            assert sum(proposal.values[name] != good[name] for name in good) <= 1
            session.tell(proposal.id, None, status)


def test_an_injected_result_that_is_better_becomes_the_incumbent() -> None:
    space = SearchSpace([IntegerParameter(f"p{i}", 0, 10**6) for i in range(8)])
    with TunerSession(space, 1, ["NarrowGreedyMutation"]) as session:
        for level in (3, 2, 1):
            session.inject({f"p{i}": level for i in range(8)}, float(level), "completed")
            proposal = session.ask()
            assert proposal is not None
            assert sum(value != level for value in proposal.values.values()) <= 1


@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_a_completed_result_needs_a_finite_value(value: float | None) -> None:
    with TunerSession(SPACE, 1) as session:
        proposal = session.ask()
        assert proposal is not None
        with pytest.raises(ValueError, match="finite"):
            session.tell(proposal.id, value, "completed")


def test_where_nothing_varies_there_is_nothing_to_ask() -> None:
    with TunerSession(SearchSpace([EnumParameter("mpi", ("mpich",))]), 1) as session:
        assert session.ask() is None
        session.inject({}, 1.0, "completed")


def test_a_session_leaves_this_process_and_the_working_directory_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = (
        "import logging, random, sys\n"
        "from searchspace.space import EnumParameter, SearchSpace\n"
        "from tuner.opentuner_session import TunerSession\n"
        "formatter, state = logging.Formatter, random.getstate()\n"
        "with TunerSession(SearchSpace([EnumParameter('a', (1, 2))]), 1) as session:\n"
        "    session.ask()\n"
        "assert 'opentuner' not in sys.modules\n"
        "assert logging.Formatter is formatter\n"
        "assert random.getstate() == state\n"
    )
    subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_dies_is_reported() -> None:
    session = TunerSession(SPACE, 1)
    os.kill(session._process.pid, signal.SIGKILL)
    with pytest.raises(SearchProcessFailed, match="ended with status -9"):
        for _ in range(3):
            session.ask()
    session.close()


def test_a_failure_inside_opentuner_is_reported_in_one_line() -> None:
    session = TunerSession(SPACE, 1)
    with pytest.raises(SearchProcessFailed, match="the search failed: KeyError: 99"):
        session.tell(99, 1.0, "completed")
        session.ask()
    session.close()


def test_the_process_dies_with_a_parent_that_was_killed() -> None:
    script = (
        "import time\n"
        "from searchspace.space import EnumParameter, SearchSpace\n"
        "from tuner.opentuner_session import TunerSession\n"
        "session = TunerSession(SearchSpace([EnumParameter('a', (1, 2))]), 1)\n"
        "print(session._process.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    while is_alive(child):
        time.sleep(0.05)
