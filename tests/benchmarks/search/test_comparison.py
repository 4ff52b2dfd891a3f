"""What the documentation says of searches is what was measured, with optimisers side by side."""

from __future__ import annotations

import json

from benchmarks.search.comparison import PAGE, RESULTS, TABLE, compared, table
from benchmarks.search.optimisers import OURS
from benchmarks.search.runs import Run
from benchmarks.search.spaces import SPACES
from benchmarks.tables_in_docs import table_of


def test_games_of_the_same_seed_are_set_side_by_side() -> None:
    runs = [
        Run("hamtune", "a", 0, "", (1.0, 0.5, 0.0), 0, 0, 10.0),
        Run("hamtune", "a", 1, "", (3.0, 0.5, 0.0), 0, 0, 10.0),
        Run("random", "a", 0, "", (9.0, 0.55, 2.0), 3, 1, 1.0),
        Run("random", "a", 1, "", (1.0, 4.0, 4.0), 3, 1, 1.0),
        Run("late", "b", 0, "", (1.0, 4.0, 4.0), 3, 1, 1.0),
    ]
    found = compared(runs, ["hamtune"])
    lines = table(found).splitlines()
    assert "| hamtune | 2 | 2.00 | 0.50 | 0.00 | 0.00 | 0.0 | 0.0 | 10 | missed |" in lines
    assert (
        "| hamtune | random | 2 | 50.0% | 100.0% | 100.0% | 3.00 (2.00 to 4.00) | 1.77 | - |"
        in lines
    )
    assert "| hamtune | late | 0 | - | - | - | - | - | - |" in lines
    assert found["optimisers"]["random"]["spaces"] == {"a": [5.0, 2.275, 3.0]}


def test_bars_are_told_from_five_games_a_space_on() -> None:
    def told(regret: tuple[float, ...], seeds: int) -> str:
        runs = [Run("hamtune", "a", seed, "", (1.0, 0.5, 0.0), 0, 0, 10.0) for seed in range(5)]
        runs += [Run("other", "a", seed, "", regret, 0, 0, 1.0) for seed in range(seeds)]
        return table(compared(runs, ["hamtune"])).splitlines()[-1].split(" | ")[-1]

    assert told((1.0, 0.5, 0.0), 4) == "- |"
    assert told((1.0, 0.5, 0.0), 5) == "met |"
    assert told((0.5, 0.5, 0.0), 5) == "missed |"


def test_the_table_is_that_of_the_results() -> None:
    assert table_of(PAGE, TABLE) == table(json.loads(RESULTS.read_text()))


def test_ours_ran_on_every_space_with_twenty_seeds() -> None:
    found = json.loads(RESULTS.read_text())
    assert found["ours"] == list(OURS)
    for optimiser in OURS:
        ours = found["optimisers"][optimiser]
        assert ours["runs"] == 20 * len(SPACES)
        assert ours["spaces"].keys() == SPACES.keys()
