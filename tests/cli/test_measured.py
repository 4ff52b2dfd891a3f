"""What is told of finalists that are being measured."""

from __future__ import annotations

from typing import Any

import pytest

from cli.job_words import decided, measuring_line


@pytest.mark.parametrize(
    ("measuring", "said"),
    [
        ({"settled": 0, "wanted": 0, "runs": 0}, "finalists wait for an agent"),
        (
            {"settled": 1, "wanted": 3, "runs": 7},
            "measuring finalists: 1 of 3 known after 7 runs",
        ),
    ],
)
def test_how_far_the_measuring_has_come(measuring: dict[str, int], said: str) -> None:
    assert measuring_line(measuring) == said


def test_defaults_that_have_no_time_are_explained() -> None:
    best: dict[str, Any] = {
        "within_error": None,
        "advice": [],
        "trial": 2,
        "undecided": None,
        "measured": {
            "cluster": "here",
            "seconds": 0.5,
            "runs": [0.5, 0.5],
            "gain": None,
            "default": None,
            "default_unknown": "mpirun ended with status 1: \nno slots are left\n",
            "simulated_best": 2,
        },
    }
    assert decided(best)[-1] == "the library's defaults have no measured time: no slots are left"
