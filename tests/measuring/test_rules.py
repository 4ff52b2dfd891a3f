"""Tables found by simulation are measured, and the fastest mixture of them is selected."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measuring.clusters import RunFailed
from measuring.rules import LIBRARY, Exchange, select_fastest
from measuring.sampling import Asked, Take
from searchspace.collectives import DEFAULT
from searchspace.collectives.decision_table import DecisionTable, Line, Row, chosen
from searchspace.errors import HamtuneError
from workers.program_rules import Cell

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

    def run(rules: DecisionTable, _limit: float) -> Take:
        return Take(sum(seconds[one] for one in choices(rules).values()))

    selected = select_fastest(tables, run, ASKED, seed=1)

    assert dict(selected.mixture.sources) == {"bcast": "rules", "reduce": "single"}
    assert selected.sample.mean == pytest.approx(2.0 + 1.0 + 1.4)
    assert selected.whole["rules"].mean == pytest.approx(6.0)
    assert selected.whole[LIBRARY].mean == pytest.approx(6.0)


@pytest.mark.parametrize(("noise", "reduce"), [(0.0005, "library"), (0.05, "rules")])
def test_an_exchange_is_kept_where_it_gains_more_than_chance(noise: float, reduce: str) -> None:
    """Half a per cent is less than the precision, and enough where runs differ by less."""
    tables = {"rules": table(bcast="NTSL", reduce="rab"), LIBRARY: {}}
    seconds = {"NTSL": 1.0, "rab": 1.012, DEFAULT: 1.0}
    drawn = random.Random(5)

    def run(rules: DecisionTable, _limit: float) -> Take:
        took = choices(rules)
        together = 0.5 if took["bcast"] == "NTSL" else 0.0
        exact = sum(seconds[one] for one in took.values()) - together
        return Take(exact * (1 + drawn.gauss(0, noise)))

    asked = Asked(precision=0.01, least=5, most=15)
    selected = select_fastest(tables, run, asked, seed=1)

    assert dict(selected.mixture.sources) == {"bcast": "rules", "reduce": reduce}


class Sized:
    """A program that broadcasts 64 B and 256 KiB: each size has two alternatives."""

    cells: Sequence[Cell] = (("bcast", 4, 1 << 18), ("bcast", 4, 64))

    def tables(
        self, table: DecisionTable, cell: Cell, over: Callable[[], bool]
    ) -> Mapping[str, DecisionTable]:
        assert not over()
        now = {size: chosen(table.get("bcast", ()), 4, size) for _, _, size in self.cells}
        others = {"flattree", "NTSL"} - {now[cell[2]]}
        return {one: by_size(**{**_named(now), _name(cell[2]): one}) for one in sorted(others)}


def _name(size: int) -> str:
    return "large" if size > 64 else "small"


def _named(now: Mapping[int, str]) -> dict[str, str]:
    return {_name(size): algorithm for size, algorithm in now.items()}


def by_size(*, small: str, large: str) -> dict[str, tuple[Row, ...]]:
    return {"bcast": (Row(4, (Line(0, small), Line(4096, large))),)}


@pytest.mark.parametrize(("noise", "exchanged"), [(0.0005, True), (0.05, False)])
def test_single_cells_take_other_algorithms_where_that_gains_more_than_chance(
    noise: float, exchanged: bool
) -> None:
    drawn = random.Random(2)
    large = {"binomial": 1.0, "flattree": 1.4, "NTSL": 0.99}
    small = {"binomial": 0.2, "flattree": 0.2, "NTSL": 0.3}

    def run(rules: DecisionTable, _limit: float) -> Take:
        took = {size: chosen(rules.get("bcast", ()), 4, size) for size in (64, 1 << 18)}
        exact = small.get(took[64], 2.0) + large.get(took[1 << 18], 2.0)
        return Take(exact * (1 + drawn.gauss(0, noise)))

    tables = {"single": table(bcast="binomial"), LIBRARY: {}}
    asked = Asked(precision=0.01, least=5, most=15)
    selected = select_fastest(tables, run, asked, seed=1, nearby=Sized())

    assert dict(selected.mixture.sources) == {"bcast": "single"}
    expected = Exchange(("bcast", 4, 1 << 18), "NTSL")
    assert selected.exchanges == ((expected,) if exchanged else ())
    assert chosen(selected.table["bcast"], 4, 1 << 18) == ("NTSL" if exchanged else "binomial")
    assert chosen(selected.table["bcast"], 4, 64) == "binomial"


@pytest.mark.parametrize("failing", [1, 4], ids=["always", "now-and-then"])
def test_an_alternative_that_fails_is_not_taken(failing: int) -> None:
    ran: Counter[tuple[str, ...]] = Counter()

    def run(rules: DecisionTable, _limit: float) -> Take:
        took = tuple(chosen(rules.get("bcast", ()), 4, size) for size in (64, 1 << 18))
        if not {"NTSL", "flattree"} & set(took):
            return Take(1.0)
        ran[took] += 1
        if ran[took] % failing == 0:
            raise RunFailed("mpirun ended with status 1")
        return Take(0.5)

    tables = {"single": table(bcast="binomial"), LIBRARY: {}}
    selected = select_fastest(tables, run, ASKED, seed=1, nearby=Sized())
    assert len(ran) == 4
    assert selected.exchanges == ()


def test_an_alternative_that_hangs_is_given_up_long_before_the_end() -> None:
    limits: dict[str, float] = {}

    def run(rules: DecisionTable, limit: float) -> Take:
        limits[chosen(rules.get("bcast", ()), 4, 1 << 18)] = limit
        return Take(2.0)

    tables = {"single": table(bcast="binomial"), LIBRARY: {}}
    select_fastest(tables, run, ASKED, seed=1, nearby=Sized())
    assert limits["flattree"] == limits["NTSL"] == pytest.approx(36.0)
    assert limits[DEFAULT] == pytest.approx(70.0)


def test_exchanges_end_with_the_simulator_and_keep_what_was_measured() -> None:
    class Failing(Sized):
        def tables(
            self, table: DecisionTable, cell: Cell, over: Callable[[], bool]
        ) -> Mapping[str, DecisionTable]:
            if cell == self.cells[1]:
                raise HamtuneError("the simulator ended by signal 9")
            return super().tables(table, cell, over)

    seconds = {"binomial": 1.0, "NTSL": 0.5, "flattree": 2.0, DEFAULT: 3.0}

    def run(rules: DecisionTable, _limit: float) -> Take:
        return Take(seconds[chosen(rules.get("bcast", ()), 4, 1 << 18)])

    tables = {"single": table(bcast="binomial"), LIBRARY: {}}
    selected = select_fastest(tables, run, ASKED, seed=1, nearby=Failing())
    assert [(one.calls, one.algorithm) for one in selected.exchanges] == [
        ("bcast of 256 KiB in 4 ranks", "NTSL")
    ]
    assert selected.sample.mean == 0.5


def test_tables_that_are_about_as_fast_run_again() -> None:
    ran: Counter[str] = Counter()
    drawn = random.Random(3)
    seconds = {"NTSL": 1.0, "binomial": 1.004, DEFAULT: 2.0}

    def run(rules: DecisionTable, _limit: float) -> Take:
        took = choices(rules)["bcast"]
        ran[took] += 1
        return Take(seconds[took] * (1 + drawn.gauss(0, 0.01)))

    tables = {"rules": table(bcast="binomial"), "single": table(bcast="NTSL"), LIBRARY: {}}
    asked = Asked(precision=0.02, least=3, most=40)
    selected = select_fastest(tables, run, asked, seed=1)

    assert dict(selected.mixture.sources) == {"bcast": "single"}
    assert selected.whole["single"].runs > 2 * selected.whole[LIBRARY].runs
    assert sum(ran.values()) == selected.runs


def test_tables_that_say_the_same_are_run_once() -> None:
    ran: list[DecisionTable] = []

    def run(rules: DecisionTable, _limit: float) -> Take:
        ran.append(rules)
        return Take(1.0)

    tables = {"rules": table(bcast="NTSL"), "single": table(bcast="NTSL"), LIBRARY: {}}
    selected = select_fastest(tables, run, ASKED, seed=1)

    assert selected.whole["rules"] == selected.whole["single"]
    assert selected.runs == len(ran)
    assert ran.count({}) <= 3 * ASKED.least  # by itself, again, and in place of the rules


def test_rules_that_stop_the_program_are_not_kept() -> None:
    def run(rules: DecisionTable, _limit: float) -> Take:
        if rules:
            raise RunFailed("mpirun ended with status 1")
        return Take(1.0)

    selected = select_fastest({"rules": table(bcast="NTSL"), LIBRARY: {}}, run, ASKED, seed=1)

    assert selected.mixture.table({"rules": table(bcast="NTSL"), LIBRARY: {}}) == {}
    assert selected.whole["rules"].failures


def test_rules_under_which_a_single_run_fails_are_not_kept() -> None:
    rules = table(bcast="NTSL")
    ran = Counter[bool]()

    def run(taken: DecisionTable, _limit: float) -> Take:
        ran[bool(taken)] += 1
        if taken and ran[True] == 2:
            raise RunFailed("mpirun ended with status 1")
        return Take(0.9 if taken else 1.0)

    selected = select_fastest({"rules": rules, LIBRARY: {}}, run, ASKED, seed=1)

    assert selected.table == {}
    assert selected.whole["rules"].mean == pytest.approx(0.9)


@pytest.mark.parametrize("seed", range(6))
def test_a_table_under_which_the_program_hangs_leaves_time_for_the_others(seed: int) -> None:
    now = 0.0

    def run(taken: DecisionTable, limit: float) -> Take:
        nonlocal now
        hangs = chosen(taken.get("bcast", ()), 4, 8) == "NTSL"
        now += limit if hangs else 2.0
        if hangs:
            raise RunFailed(f"did not end within {limit:g} s")
        return Take(2.0)

    tables = {"rules": table(bcast="NTSL"), "single": table(bcast="binomial"), LIBRARY: {}}
    asked = Asked(precision=0.01, least=2, most=3, seconds=1200.0)
    selected = select_fastest(tables, run, asked, seed=seed, clock=lambda: now)

    assert selected.whole["rules"].mean is None
    assert all(len(selected.whole[name].seconds) >= 2 for name in ("single", LIBRARY))
    assert "NTSL" not in choices(selected.table).values()


def test_a_run_that_the_end_of_all_time_cuts_off_is_no_failure() -> None:
    now = 0.0

    def run(_: DecisionTable, limit: float) -> Take:
        nonlocal now
        now += min(limit, 7.0)
        if limit < 7.0:
            raise RunFailed(f"did not end within {limit:g} s")
        return Take(7.0 + now % 2.0)

    asked = Asked(precision=1e-9, least=2, most=1000, seconds=60.0)
    selected = select_fastest({LIBRARY: {}}, run, asked, seed=1, clock=lambda: now)

    assert selected.sample.failures == []
    assert selected.sample.doubts == ["the time for all runs was over"]
    assert len(selected.sample.seconds) == 8


@pytest.mark.parametrize(
    ("outcome", "complaint"),
    [
        (RunFailed("no such file"), "does not run on the cluster: no such file"),
        (Take(1.0, ["segments were sent again"]), "no run counts: segments were sent again"),
    ],
)
def test_where_no_run_counts_it_says_why(outcome: Take | RunFailed, complaint: str) -> None:
    def run(_: DecisionTable, _limit: float) -> Take:
        if isinstance(outcome, RunFailed):
            raise outcome
        return outcome

    with pytest.raises(HamtuneError, match=complaint):
        select_fastest({"rules": table(bcast="NTSL"), LIBRARY: {}}, run, ASKED, seed=1)


def test_a_program_that_ended_once_does_run_though_the_time_for_another_run_was_short() -> None:
    doubted = [Take(1.0, ["the cores of this host were busy"])]

    def run(_: DecisionTable, _limit: float) -> Take:
        if not doubted:
            raise RunFailed("did not end within 1 s")
        return doubted.pop()

    with pytest.raises(HamtuneError, match="no run counts: the cores of this host were busy"):
        select_fastest({"rules": table(bcast="NTSL"), LIBRARY: {}}, run, ASKED, seed=1)


def test_the_measuring_ends_when_its_time_is_over() -> None:
    now = 0.0

    def run(_: DecisionTable, _limit: float) -> Take:
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

    selected = select_fastest(tables, lambda rules, _limit: Take(took(rules)), ASKED, seed=1)

    assert selected.sample.mean == pytest.approx(took(selected.mixture.table(tables)))
    least = math.fsum(
        min(of for (one, _), of in seconds.items() if one == name) for name in COLLECTIVES
    )
    assert took(selected.mixture.table(tables)) <= min(map(took, tables.values())) * 1.0001
    # Times do not vary, so each exchange that gains is made.
    assert took(selected.mixture.table(tables)) == pytest.approx(least)
