"""Tables found by simulation are measured, and the fastest mixture of them is selected."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measuring.clusters import RunFailed
from measuring.rules import LIBRARY, select_fastest
from measuring.sampling import Asked, Take
from searchspace.collectives import DEFAULT
from searchspace.collectives.decision_table import DecisionTable, Line, Row, chosen
from searchspace.errors import HamtuneError

COLLECTIVES = ("allreduce", "bcast", "reduce")
ASKED = Asked(precision=0.01, least=2, most=3)


def table(**algorithms: str) -> dict[str, tuple[Row, ...]]:
    return {name: (Row(4, (Line(0, one),)),) for name, one in algorithms.items()}


def choices(rules: DecisionTable) -> dict[str, str]:
    return {name: chosen(rules.get(name, ()), 4, 8) for name in COLLECTIVES}


def test_a_collective_that_the_cluster_runs_otherwise_is_exchanged() -> None:
    tables = {
        "rules": table(bcast="NTSL", reduce="rab"),
        "single": table(bcast="binomial", reduce="binomial"),
        LIBRARY: {},
    }
    seconds = {"NTSL": 1.0, "binomial": 1.4, "rab": 3.0, DEFAULT: 2.0}

    def run(rules: DecisionTable) -> Take:
        return Take(sum(seconds[one] for one in choices(rules).values()))

    selected = select_fastest(tables, run, ASKED, seed=1)

    assert dict(selected.mixture.sources) == {"bcast": "rules", "reduce": "single"}
    assert selected.sample.mean == pytest.approx(2.0 + 1.0 + 1.4)
    assert selected.whole["rules"].mean == pytest.approx(6.0)
    assert selected.whole[LIBRARY].mean == pytest.approx(6.0)


def test_what_gains_less_than_the_precision_is_not_exchanged() -> None:
    tables = {"rules": table(bcast="NTSL", reduce="rab"), LIBRARY: {}}
    seconds = {"NTSL": 1.0, "rab": 1.001, DEFAULT: 1.002}

    def run(rules: DecisionTable) -> Take:
        took = choices(rules)
        together = 0.5 if took["bcast"] == "NTSL" and took["reduce"] == "rab" else 0.0
        return Take(sum(seconds[one] for one in took.values()) - together)

    selected = select_fastest(tables, run, ASKED, seed=1)

    assert {source for _, source in selected.mixture.sources} == {"rules"}


def test_tables_that_say_the_same_are_run_once() -> None:
    ran: list[DecisionTable] = []

    def run(rules: DecisionTable) -> Take:
        ran.append(rules)
        return Take(1.0)

    tables = {"rules": table(bcast="NTSL"), "single": table(bcast="NTSL"), LIBRARY: {}}
    selected = select_fastest(tables, run, ASKED, seed=1)

    assert selected.whole["rules"] == selected.whole["single"]
    assert selected.runs == len(ran)
    assert ran.count({}) <= 2 * ASKED.least


def test_rules_that_stop_the_program_are_not_kept() -> None:
    def run(rules: DecisionTable) -> Take:
        if rules:
            raise RunFailed("mpirun ended with status 1")
        return Take(1.0)

    selected = select_fastest({"rules": table(bcast="NTSL"), LIBRARY: {}}, run, ASKED, seed=1)

    assert selected.mixture.table({"rules": table(bcast="NTSL"), LIBRARY: {}}) == {}
    assert selected.whole["rules"].failures


@pytest.mark.parametrize(
    ("outcome", "complaint"),
    [
        (RunFailed("no such file"), "does not run on the cluster: no such file"),
        (Take(1.0, ["segments were sent again"]), "no run counts: segments were sent again"),
    ],
)
def test_where_no_run_counts_it_says_why(outcome: Take | RunFailed, complaint: str) -> None:
    def run(_: DecisionTable) -> Take:
        if isinstance(outcome, RunFailed):
            raise outcome
        return outcome

    with pytest.raises(HamtuneError, match=complaint):
        select_fastest({"rules": table(bcast="NTSL"), LIBRARY: {}}, run, ASKED, seed=1)


def test_the_measuring_ends_when_its_time_is_over() -> None:
    now = 0.0

    def run(_: DecisionTable) -> Take:
        nonlocal now
        now += 10.0
        return Take(1.0)

    tables = {"rules": table(bcast="NTSL", reduce="rab"), LIBRARY: {}}
    asked = Asked(precision=1e-9, least=2, most=1000, seconds=60.0)
    selected = select_fastest(tables, run, asked, seed=1, clock=lambda: now)

    assert selected.runs == 6
    with pytest.raises(HamtuneError, match="no time for a single run"):
        none = Asked(seconds=0.0)
        select_fastest(tables, run, none, seed=1, clock=lambda: now)


@given(
    seconds=st.fixed_dictionaries(
        {
            (name, one): st.floats(0.1, 10.0)
            for name in COLLECTIVES
            for one in (DEFAULT, "binomial", "rab")
        }
    )
)
def test_what_is_kept_is_no_slower_than_any_table_and_by_collective_the_best(
    seconds: Mapping[tuple[str, str], float],
) -> None:
    tables = {
        "rules": table(**dict.fromkeys(COLLECTIVES, "rab")),
        "single": table(**dict.fromkeys(COLLECTIVES, "binomial")),
        LIBRARY: {},
    }

    def took(rules: DecisionTable) -> float:
        return math.fsum(seconds[one] for one in choices(rules).items())

    selected = select_fastest(tables, lambda rules: Take(took(rules)), ASKED, seed=1)

    assert selected.sample.mean == pytest.approx(took(selected.mixture.table(tables)))
    least = math.fsum(
        min(of for (one, _), of in seconds.items() if one == name) for name in COLLECTIVES
    )
    assert took(selected.mixture.table(tables)) <= min(map(took, tables.values())) * 1.0001
    # Each exchange that is not made gains less than the precision of the whole.
    assert took(selected.mixture.table(tables)) <= least / (1 - ASKED.precision) ** len(COLLECTIVES)
