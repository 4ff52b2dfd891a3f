"""What the documentation says of searches is what was played, with players side by side."""

from __future__ import annotations

import json

from benchmarks.search.players import OURS
from benchmarks.search.spaces import SPACES
from benchmarks.search.standings import PAGE, RESULTS, TABLE, standings_of, table
from benchmarks.search.tournament import Game
from benchmarks.tables_in_docs import table_of


def test_games_of_the_same_seed_are_set_side_by_side() -> None:
    games = [
        Game("hamtune", "a", 0, "", (1.0, 0.5, 0.0), 0, 0, 10.0),
        Game("hamtune", "a", 1, "", (3.0, 0.5, 0.0), 0, 0, 10.0),
        Game("random", "a", 0, "", (9.0, 0.55, 2.0), 3, 1, 1.0),
        Game("random", "a", 1, "", (1.0, 4.0, 4.0), 3, 1, 1.0),
        Game("late", "b", 0, "", (1.0, 4.0, 4.0), 3, 1, 1.0),
    ]
    found = standings_of(games, ["hamtune"])
    lines = table(found).splitlines()
    assert "| hamtune | 2 | 2.00 | 0.50 | 0.00 | 0.00 | 0.0 | 0.0 | 10 | missed |" in lines
    assert (
        "| hamtune | random | 2 | 50.0% | 100.0% | 100.0% | 3.00 (2.00 to 4.00) | 1.77 | - |"
        in lines
    )
    assert "| hamtune | late | 0 | - | - | - | - | - | - |" in lines
    assert found["players"]["random"]["spaces"] == {"a": [5.0, 2.275, 3.0]}


def test_bars_are_told_from_five_games_a_space_on() -> None:
    def told(regret: tuple[float, ...], seeds: int) -> str:
        games = [Game("hamtune", "a", seed, "", (1.0, 0.5, 0.0), 0, 0, 10.0) for seed in range(5)]
        games += [Game("other", "a", seed, "", regret, 0, 0, 1.0) for seed in range(seeds)]
        return table(standings_of(games, ["hamtune"])).splitlines()[-1].split(" | ")[-1]

    assert told((1.0, 0.5, 0.0), 4) == "- |"
    assert told((1.0, 0.5, 0.0), 5) == "met |"
    assert told((0.5, 0.5, 0.0), 5) == "missed |"


def test_the_table_is_that_of_the_results() -> None:
    assert table_of(PAGE, TABLE) == table(json.loads(RESULTS.read_text()))


def test_ours_played_every_space_with_twenty_seeds() -> None:
    found = json.loads(RESULTS.read_text())
    assert found["ours"] == list(OURS)
    for player in OURS:
        ours = found["players"][player]
        assert ours["games"] == 20 * len(SPACES)
        assert ours["spaces"].keys() == SPACES.keys()
