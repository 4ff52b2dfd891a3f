"""Which trials of a job are measured, and what that says of the simulation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measuring.sampling import Sample
from measuring.validation import Candidate, choose, same_files, verdict


def trial(number: int, value: float | None, **more: Any) -> dict[str, Any]:
    return {
        "number": number,
        "value": value,
        "state": "completed",
        "fidelity": "full",
        "kind": "search",
        "configuration_sha256": f"{number}",
        **more,
    }


def numbers(trials: list[Any]) -> list[int]:
    return [each["number"] for each in trials]


def test_the_best_the_baselines_and_some_over_the_range() -> None:
    trials = [trial(n, 2.0 ** (n / 10)) for n in range(1, 41)]
    trials[19] = trial(20, 4.0, kind="baseline")

    chosen = numbers(choose(trials, top=3, spread=3))

    assert chosen[:3] == [1, 2, 3]
    assert 20 in chosen
    assert chosen[-1] == 40, "the worst is one of those over the range"
    assert len(chosen) == 7


def test_what_did_not_complete_on_the_whole_trace_is_not_run() -> None:
    trials = [
        trial(1, 1.0, state="censored"),
        trial(2, 2.0, fidelity="low"),
        trial(3, 3.0, kind="comparison"),
        trial(4, None, state="failed"),
        trial(5, 5.0),
    ]

    assert numbers(choose(trials, top=5, spread=5)) == [5]


def test_no_configuration_is_run_twice() -> None:
    trials = [trial(1, 1.0, configuration_sha256="a"), trial(9, 1.0, configuration_sha256="a")]

    assert len(choose(trials, top=5, spread=0)) == 1


@given(
    st.lists(st.floats(1e-3, 1e3), min_size=0, max_size=30),
    st.integers(0, 8),
    st.integers(0, 8),
)
def test_as_many_as_asked_for_in_order(values: list[float], top: int, spread: int) -> None:
    trials = [trial(n, value) for n, value in enumerate(values)]

    chosen = choose(trials, top=top, spread=spread)

    assert len(chosen) == min(len(values), top + spread)
    assert [each["value"] for each in chosen] == sorted(each["value"] for each in chosen)


def test_exports_that_install_the_same_differ_in_what_they_tell(tmp_path: Path) -> None:
    for name, told, rank in (("a", "trial 1", 0), ("b", "trial 2", 0), ("c", "trial 3", 1)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "README.txt").write_text(told)
        (folder / "rankfile").write_text(f"# {told}\nrank {rank}=node-0 slot=0\n")

    assert same_files(tmp_path / "a", tmp_path / "b")
    assert not same_files(tmp_path / "a", tmp_path / "c")


def test_regret_is_what_choosing_by_simulation_costs() -> None:
    favourite = Candidate("trial 1", 1, 1.0, None)
    better = Candidate("trial 2", 2, 1.1, None)
    own = Candidate("library's defaults", None, None, None)
    measured = {
        favourite: Sample(seconds=[1.2, 1.2]),
        better: Sample(seconds=[1.0, 1.0]),
        own: Sample(seconds=[2.0]),
    }

    found = verdict(measured)

    assert (found.chosen, found.fastest) == (favourite, better)
    assert found.regret == pytest.approx(1.2)
    assert found.tau == -1.0
    assert found.median == pytest.approx((1 / 6 + 0.1) / 2)


def test_what_failed_says_nothing_of_the_model() -> None:
    failed = Candidate("trial 1", 1, 1.0, None)

    found = verdict({failed: Sample(failures=["aborted"])})

    assert (found.chosen, found.fastest, found.regret) == (None, None, None)
