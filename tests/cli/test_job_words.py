from __future__ import annotations

from typing import Any

import pytest

from cli.job_words import compared, describe, gained, outlook_text, status_line


def test_a_configuration_in_one_line_names_what_differs_from_the_default() -> None:
    configuration: dict[str, Any] = {
        "topology": "random",
        "topology_seed": 3,
        "ordering": "hamorder",
        "mapping_seed": 1,
        "collectives": {"allreduce": "rdb", "bcast": "default"},
    }

    assert describe(configuration) == (
        "topology=random topology_seed=3 ordering=hamorder allreduce=rdb"
    )
    assert describe({"mapping": "auto", "mapping_seed": 2}) == "mapping=auto mapping_seed=2"


def test_the_status_line_tells_state_progress_and_incumbent() -> None:
    job: dict[str, Any] = {
        "id": "j1",
        "name": "cg-64",
        "state": "completed",
        "ended_because": "trials",
        "spec": {"budget": {"trials": 38}},
        "space": {"baselines": ["mesh-2d", "torus-2d"]},
        "progress": {
            "finished": 40,
            "kinds": {"baseline": 2, "search": 38},
            "cpu_seconds": 12.34,
            "best": {"trial": 17, "value": 0.0712},
        },
    }

    assert status_line(job) == (
        "cg-64 (j1): completed (trials), 38/38 trials + 2 baselines, best 71.2 ms (trial 17), "
        "12.3 CPU s"
    )
    job["progress"]["kinds"] = {"estimate": 3, "baseline": 2, "search": 20, "verification": 1}
    assert ", 20/38 trials + 3 baselines + 3 verified, " in status_line(job)
    job["progress"]["outlook"] = {"trial": 31, "probability": 0.124, "gain": 0.0042}
    assert ", a further gain above 1% is 12% likely, 0.4% expected, 12.3 CPU s" in status_line(job)
    job["space"]["size"] = 21
    assert ", 20/21 trials + " in status_line(job)
    wall = {"kind": "wall", "message": "stopped after 2 s", "trials": 2}
    job["progress"]["failures"] = [wall, {"kind": "crash", "message": "", "trials": 1}]
    assert ", 3 failed: stopped after 2 s (2), best 71.2 ms" in status_line(job)
    job["ended_because"] = "until"
    assert "completed (no further gain is likely), " in status_line(job)
    job["ended_because"] = "exhausted"
    assert "completed (every configuration that differs was tried), " in status_line(job)


@pytest.mark.parametrize(
    ("probability", "gain", "words"),
    [
        (0.0, 0.0, "below 1% likely, below 0.1% expected"),
        (0.5, 0.031, "50% likely, 3.1% expected"),
        (1.0, 0.2, "over 99% likely, 20.0% expected"),
    ],
)
def test_a_guess_is_not_called_certain(probability: float, gain: float, words: str) -> None:
    outlook = {"trial": 31, "probability": probability, "gain": gain}
    assert outlook_text(outlook) == f"a further gain above 1% is {words}"


@pytest.mark.parametrize(
    ("value", "best", "words"),
    [(0.0, 0.0, "as fast as"), (0.0, 0.1, "faster than"), (0.1, 0.0, "slower than")],
)
def test_no_time_at_all_is_compared(value: float, best: float, words: str) -> None:
    assert compared(value, {"ring": best}).startswith(f"{words} the best baseline (ring, ")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.05, "1.6 x faster than the best baseline (torus-3d, 80 ms)"),
        (0.08, "as fast as the best baseline (torus-3d, 80 ms)"),
        (0.12, "1.5 x slower than the best baseline (torus-3d, 80 ms)"),
    ],
)
def test_a_time_is_compared_with_the_best_baseline(value: float, words: str) -> None:
    assert compared(value, {"mesh-2d": 0.09, "torus-3d": 0.08}) == words


def test_a_gain_within_the_error_of_the_model_is_none() -> None:
    best = {"value": 0.0998, "baselines": {"torus-3d": 0.1}, "error": 0.45, "error_from": "fluid"}
    words = gained(
        {**best, "value": 0.098, "error_from": "packets", "error": 0.09, "within_error": True}
    )
    assert words == (
        "no gain and no loss: 1.02 x faster than the best baseline (torus-3d, 100 ms) is within "
        "the error of the model (9%, of packets, in the median)"
    )
    assert gained({**best, "value": 0.1, "within_error": True}) == (
        "no gain and no loss: as fast as the best baseline (torus-3d, 100 ms), to within the error "
        "of the model (45%, of the fluid model, in the median)"
    )
    assert gained({**best, "value": 0.05, "within_error": False}) == (
        "2 x faster than the best baseline (torus-3d, 100 ms)"
    )
