"""When a gain is one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.machine import Calibration, Machine, parse_machine
from searchspace.significance import (
    ModelError,
    error_of,
    separated,
    shown_error,
    within_error,
)

positive = st.floats(1e-6, 1e6)


def machine(network: str) -> Machine:
    return parse_machine(
        {
            "nodes": 4,
            "degree": 2,
            "host_speed": "1Gf",
            "link_bandwidth": "1Gbps",
            "network": network,
        }
    )


@pytest.mark.parametrize(("network", "error"), [("fluid", 0.45), ("packets", 0.09), ("auto", 0.09)])
def test_each_model_has_its_error(network: str, error: float) -> None:
    fluid = network == "fluid"
    assert error_of(machine(network)) == ModelError(error, "fluid" if fluid else "packets")


@pytest.mark.parametrize(("median", "error"), [(0.02, 0.05), (0.12, 0.12)])
def test_a_calibration_that_fits_worse_than_others_counts(median: float, error: float) -> None:
    fit = {"points": 9, "median": median, "error": 0.3, "date": "2026-11-28"}
    calibration = Calibration.model_validate({**fit, "software": {"mpi": "any"}})
    calibrated = machine("packets").model_copy(update={"calibration": calibration})
    assert error_of(calibrated) == ModelError(error, "calibration")


def test_three_measurements_of_the_job_tell_best() -> None:
    measured = [(1.0, 0.5), (2.0, 1.1), (4.0, 2.0)]
    assert error_of(machine("packets"), measured).known_from == "measurements"
    assert error_of(machine("packets"), measured[:2]) == ModelError(0.09, "packets")


@given(st.lists(positive, min_size=3, max_size=9), st.floats(0.1, 10.0))
def test_a_factor_that_all_share_is_no_error(measured: list[float], factor: float) -> None:
    assert shown_error([(real, factor * real) for real in measured]) == pytest.approx(0.0, abs=1e-9)


@given(positive, positive, st.floats(0.0, 1.0))
def test_two_times_are_as_close_from_either_side(one: float, other: float, error: float) -> None:
    assert within_error(one, other, error) == within_error(other, one, error)
    assert within_error(one, one, error)


def test_a_gain_is_called_one_from_the_error_on() -> None:
    assert within_error(1.0, 1.004, 0.005)
    assert not within_error(1.0, 1.006, 0.005)


def test_samples_are_told_apart_where_chance_would_not() -> None:
    assert separated([1.00, 1.01, 0.99], [1.10, 1.11, 1.09])
    assert not separated([1.0, 1.2, 0.8], [1.1, 1.3, 0.9])
    assert not separated([1.0], [2.0, 2.0])


def test_absurd_times_show_no_error() -> None:
    assert shown_error([(1e300, 1e-300)] * 3) is None
    assert shown_error([(1e-300, 1e300)] * 3) is None
