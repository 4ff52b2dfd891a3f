"""Games on tables."""

from __future__ import annotations

import json
import resource
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.search.build import table_path
from benchmarks.search.players import PLAYERS, Board, is_ours
from benchmarks.search.tables import Case, Table

__all__ = ["MARKS", "Game", "play_all", "read_games"]

MARKS = (25, 50, 100)


@dataclass(frozen=True)
class Game:
    """One search on one table.

    Attributes:
        player: A key of `PLAYERS`.
        space: A key of `SPACES`.
        seed: Of the player.
        table: Identity of the table.
        regret: By how many per cent the best value lies above the table's, after each of `MARKS`;
            infinite where nothing has run.
        infeasible: Trials that could not run.
        repeats: Trials whose value this game had seen.
        cpu_ms: Milliseconds of CPU a trial, processes included.
    """

    player: str
    space: str
    seed: int
    table: str
    regret: tuple[float, ...]
    infeasible: int
    repeats: int
    cpu_ms: float


def _cpu_seconds() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _play(player: str, directory: Path, space: str, seed: int) -> Game:
    """Plays one game, ours without a process for OpenTuner, whose CPU would not be counted."""
    # Not above: OpenTuner replaces the formatter of logs, and who reads games needs none of it.
    from benchmarks.search.in_process import in_process

    case = Case(space, directory / space)
    table = Table.load(table_path(case))
    board = Board(case, table, max(MARKS))
    with in_process() if is_ours(player) else nullcontext():
        before = _cpu_seconds()
        PLAYERS[player](board, seed)
        took = _cpu_seconds() - before
    regret = tuple(100.0 * (board.incumbents[mark - 1] / table.best - 1.0) for mark in MARKS)
    identity = table.identity(space)
    cpu_ms = 1000.0 * took / max(MARKS)
    return Game(
        player, space, seed, identity, regret, board.infeasible, board.repeats, round(cpu_ms, 1)
    )


def play_all(
    directory: Path, players: Sequence[str], spaces: Sequence[str], seeds: int, output: Path
) -> None:
    """Plays what a file of games does not hold yet, and adds each game to it.

    Args:
        directory: Of the tables.
        players: Keys of `PLAYERS`.
        spaces: Keys of `SPACES`.
        seeds: How many games of each player on each space.
        output: A JSON line a game.
    """
    known = {(game.player, game.space, game.seed) for game in read_games(output)}
    # Seed by seed, so that those who are stopped have as many games as others.
    left = [
        (player, space, seed)
        for seed in range(seeds)
        for space in spaces
        for player in players
        if (player, space, seed) not in known
    ]
    with (
        output.open("a") as file,
        ProcessPoolExecutor(1, max_tasks_per_child=8) as for_ours,
        # Apart: what ours changes of OpenTuner is not for those who play it as it comes.
        ProcessPoolExecutor(1, max_tasks_per_child=8) as for_others,
    ):
        for player, space, seed in left:
            pool = for_ours if is_ours(player) else for_others
            game = pool.submit(_play, player, directory, space, seed).result()
            file.write(json.dumps(asdict(game)) + "\n")
            file.flush()
            print(game.player, game.space, game.seed, [f"{r:.2f}" for r in game.regret], flush=True)


def read_games(path: Path) -> list[Game]:
    """Reads the games of a file; none where there is no file."""
    if not path.exists():
        return []
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [Game(**{**line, "regret": tuple(line["regret"])}) for line in lines]
