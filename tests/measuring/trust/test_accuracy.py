"""What a model's times are worth."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from measuring.trust.accuracy import assess, bars, gains
from measuring.trust.cases import Case
from measuring.trust.known import case_of
from searchspace.significance import ERRORS

ROOT = Path(__file__).parents[3]

RING, LINEAR = (Case("torus", "openmpi", "alltoall", 1024, name) for name in ("ring", "linear"))
FEW, MANY = (Case("random3", "openmpi", "alltoall", 1024, name) for name in ("ring", "linear"))
PROGRAM = Case("torus", "openmpi", "program", 0, "cg.S")
MEASURED = {RING: 1.0, LINEAR: 2.0, FEW: 1.0, MANY: 1.5, PROGRAM: 10.0}


def test_a_model_that_is_right_passes_all_bars() -> None:
    found = assess(MEASURED, MEASURED)

    assert (found.median, found.ninetieth, found.tau, found.tau_within) == (0.0, 0.0, 1.0, 1.0)
    assert found.worst == 1.0
    assert all(bar.met for bar in bars(found))


def test_a_model_that_favours_the_slower_is_charged_with_it() -> None:
    found = assess(MEASURED, {**MEASURED, RING: 1.0, LINEAR: 0.5})

    assert found.regrets == {RING.group: 2.0, FEW.group: 1.0}
    assert found.tau_within == 0.0
    assert found.regrets_within(1.05) == 0.5
    assert "worst regret <= 1.2" in [bar.what for bar in bars(found) if not bar.met]


def test_programs_count_for_errors_and_have_no_group() -> None:
    found = assess(MEASURED, {**MEASURED, PROGRAM: 5.0})

    assert found.pairs[PROGRAM].ratio == pytest.approx(0.5)
    assert PROGRAM.group not in found.regrets


def test_a_gain_is_that_over_what_the_library_chooses() -> None:
    own = Case("torus", "openmpi", "alltoall", 1024, "default")
    found = assess({**MEASURED, own: 2.0}, {**MEASURED, RING: 1.0, own: 1.5})

    (gain,) = gains(found)

    assert (gain.chosen, gain.measured, gain.simulated) == ("ring", 2.0, 1.5)
    assert gain.error == pytest.approx(0.25)
    assert set(found.regrets) == {RING.group, FEW.group}, "its own choice is none of the candidates"
    assert own.group == RING.group


def test_what_all_cases_share_is_no_error_of_a_ratio() -> None:
    assert assess(MEASURED, {case: 2.0 * each for case, each in MEASURED.items()}).ratio == 0.0
    assert assess(MEASURED, {**MEASURED, LINEAR: 4.0, MANY: 0.75}).ratio == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("model", "known_as"),
    [("fluid", "fluid"), ("packets", "packets"), ("packets, calibrated", "calibration")],
)
def test_the_errors_that_gains_are_held_against_are_those_of_the_study(
    model: str, known_as: str
) -> None:
    cases = json.loads((ROOT / "docs/studies/trust-cases.json").read_text())["cases"]
    measured = {case_of(row): row["measured"] for row in cases}
    found = assess(measured, {case_of(row): row[model] for row in cases})
    assert round(found.ratio, 2) == ERRORS[known_as]
