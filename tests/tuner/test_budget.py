"""Budgets: when a job may ask no more, and why it failed."""

from typing import Any

import pytest

from storage.records import Trial
from tuner.budget import Budget, Ledger
from tuner.objective import cutoff, result_of


def trial(**changes: Any) -> Trial:
    fields: dict[str, Any] = dict.fromkeys(Trial.__dataclass_fields__)
    fields |= {"number": 1, "kind": "search", "state": "completed", "value": 2.0, "cached": False}
    return Trial(**{**fields, **changes})


def spend(ledger: Ledger, *, inside: bool = True, **changes: Any) -> None:
    spent = trial(**changes)
    ledger.ask(spent.kind)
    ledger.tell(spent, result_of(spent), inside=inside)


def test_baselines_are_no_search_trials_but_evaluations() -> None:
    ledger = Ledger(Budget(trials=2, evaluations=3))
    spend(ledger, kind="baseline")
    spend(ledger)
    assert ledger.end() is None
    ledger.ask("search")
    assert ledger.end() == "trials"


def test_a_trial_in_flight_counts_as_an_evaluation_until_the_cache_answers_it() -> None:
    ledger = Ledger(Budget(evaluations=1))
    ledger.ask("search")
    assert ledger.end() == "evaluations"
    cached = trial(cached=True)
    ledger.tell(cached, result_of(cached), inside=True)
    assert ledger.end() is None
    spend(ledger, state="infeasible", value=None)
    assert ledger.end() is None
    spend(ledger, state="failed", value=None)
    assert ledger.end() == "evaluations"


def test_cpu_seconds_of_cached_trials_are_free() -> None:
    ledger = Ledger(Budget(cpu_seconds=3.0))
    spend(ledger, cpu_seconds=100.0, cached=True)
    spend(ledger, cpu_seconds=2.0)
    assert ledger.end() is None
    spend(ledger, cpu_seconds=1.0)
    assert ledger.end() == "cpu_seconds"


def test_until_ends_where_nothing_better_is_likely_any_more() -> None:
    ledger = Ledger(Budget(until=0.01))
    spend(ledger)
    assert ledger.end() is None
    for probability, end in ((None, None), (0.5, None), (0.01, "until")):
        ledger.expect(probability)
        assert ledger.end() == end
    other = Ledger(Budget(trials=10))
    other.expect(0.0)
    assert other.end() is None


def test_patience_is_for_search_trials_without_improvement() -> None:
    ledger = Ledger(Budget(patience=2))
    spend(ledger, kind="baseline", value=5.0)
    spend(ledger, value=5.0)
    spend(ledger, value=4.0)
    spend(ledger, state="censored", value=4.0)
    assert ledger.end() is None
    spend(ledger, state="failed", value=None)
    assert ledger.end() == "patience"


def test_only_points_of_the_space_reach_the_target_or_are_the_best() -> None:
    ledger = Ledger(Budget(target=1.0))
    spend(ledger, kind="baseline", value=0.5, inside=False)
    assert (ledger.best, ledger.end()) == (None, None)
    spend(ledger, state="censored", value=0.5)
    assert (ledger.best, ledger.end()) == (None, None)
    spend(ledger, value=1.0)
    assert (ledger.best, ledger.end()) == (1.0, "target")


def test_wall_time() -> None:
    assert not Ledger(Budget(trials=1)).out_of_time(1e9)
    ledger = Ledger(Budget(wall_seconds=60.0))
    assert [ledger.out_of_time(seconds) for seconds in (59.9, 60.0)] == [False, True]
    assert ledger.end() is None


def test_the_commonest_reason_is_told() -> None:
    ledger = Ledger(Budget(trials=10))
    for message in ("aborted", "too much memory", "too much memory"):
        spend(ledger, state="failed", value=None, reason={"kind": "x", "message": message})
    assert ledger.failure() == (
        "none of the 3 trials of the search space completed;"
        " the commonest reason (2 times): too much memory"
    )
    assert not ledger.hopeless
    for _ in range(97):
        spend(ledger, state="failed", value=None)
    assert ledger.hopeless
    spend(ledger)
    assert (ledger.failure(), ledger.hopeless) == (None, False)


def test_a_bound_is_not_told_as_a_value() -> None:
    assert result_of(trial(state="censored", value=3.0)).value is None
    assert result_of(trial(state="completed", value=float("inf"))).status == "failed"
    with pytest.raises(ValueError, match="running"):
        result_of(trial(state="running", value=None))


def test_cutoffs() -> None:
    assert cutoff(2.0, 1.5) == 3.0
    assert cutoff(2.0, None) is None
    assert cutoff(None, 1.0) is None
    assert cutoff(0.0, 1.0) is None
