"""Errors, order and regret of simulated times."""

from __future__ import annotations

import pytest
from scipy.stats import kendalltau

from measuring.agreement import Pair, errors, grouped, quantile, regret, tau

MEASURED = (1.0, 2.0, 3.0, 4.0, 5.0)
SIMULATED = (1.1, 1.9, 1.5, 4.4, 4.2)
PAIRS = [Pair(*times) for times in zip(MEASURED, SIMULATED, strict=True)]


def test_errors_are_relative_to_what_was_measured() -> None:
    assert errors([Pair(2.0, 3.0), Pair(2.0, 1.0), Pair(4.0, 4.0)]) == [0.5, 0.5, 0.0]


def test_a_quantile_lies_between_values_in_proportion() -> None:
    assert quantile([0.0, 1.0, 2.0, 3.0], 0.9) == pytest.approx(2.7)


def test_tau_without_ties_is_kendalls() -> None:
    assert tau(PAIRS) == pytest.approx(kendalltau(MEASURED, SIMULATED).statistic)


@pytest.mark.parametrize(("sign", "expected"), [(1.0, 1.0), (-1.0, -1.0), (0.0, 0.0)])
def test_tau_of_the_same_the_opposite_and_no_order(sign: float, expected: float) -> None:
    assert tau([Pair(t, 10.0 + sign * t) for t in MEASURED]) == expected


def test_cases_that_were_measured_nearly_alike_have_no_order() -> None:
    alike = [Pair(1.00, 5.0), Pair(1.02, 4.0)]

    assert tau(alike) == -1.0
    assert tau(alike, tie=0.03) is None
    assert tau([*alike, Pair(2.0, 6.0)], tie=0.03) == 1.0


def test_regret_is_what_the_choice_costs() -> None:
    assert regret([Pair(2.0, 5.0), Pair(3.0, 4.0), Pair(9.0, 6.0)]) == pytest.approx(1.5)
    assert regret([Pair(2.0, 4.0), Pair(3.0, 5.0)]) == 1.0


def test_regret_of_equally_good_choices_is_that_of_the_worst() -> None:
    assert regret([Pair(2.0, 4.0), Pair(3.0, 4.0)]) == pytest.approx(1.5)


def test_cases_are_grouped_by_what_they_have_in_common() -> None:
    items = {"ab": PAIRS[0], "ac": PAIRS[1], "bd": PAIRS[2]}

    assert grouped(items, lambda name: name[0]) == [
        {"ab": PAIRS[0], "ac": PAIRS[1]},
        {"bd": PAIRS[2]},
    ]
