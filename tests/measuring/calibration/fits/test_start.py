"""Where a fit begins."""

from __future__ import annotations

from collections.abc import Sequence

from measuring.calibration.fits.least_squares import Point
from measuring.calibration.fits.numbers import Numbers
from measuring.calibration.fits.start import GUESSED, best_starts

FIRST: Numbers = dict.fromkeys(GUESSED, 1e-5)
TRUE: Numbers = {**FIRST, "link_latency": 2e-6, "receive_overhead.seconds": 3e-5}


def seconds(numbers: Numbers) -> Sequence[float]:
    """Each number by itself."""
    return [numbers[name] * 100 for name in GUESSED]


def test_the_best_guesses_are_nearer_than_the_first_one() -> None:
    points = [Point(each, 0.1) for each in seconds(TRUE)]

    best, *others = best_starts(FIRST, points, seconds, count=3)

    assert len(others) == 2
    assert best["receive_overhead.seconds"] > FIRST["receive_overhead.seconds"]
    assert best["link_latency"] < FIRST["link_latency"]


def test_a_first_guess_that_fits_stays_the_best() -> None:
    points = [Point(each, 0.1) for each in seconds(FIRST)]

    assert best_starts(FIRST, points, seconds, count=1) == [FIRST]
