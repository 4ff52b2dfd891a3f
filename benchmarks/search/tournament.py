"""Games on tables, and what they say: regret by trials, and players side by side."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.search.build import table_path
from benchmarks.search.players import PLAYERS, Board
from benchmarks.search.tables import Case, Table

__all__ = ["MARKS", "Game", "play_all", "read_games", "report"]

MARKS = (25, 50, 100)
_LEVEL = 0.1
"""Per cent of regret within which two players are level."""
_RESAMPLES = 2_000


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
    case = Case(space, directory / space)
    table = Table.load(table_path(case))
    board = Board(case, table, max(MARKS))
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
    with output.open("a") as file, ProcessPoolExecutor(1, max_tasks_per_child=8) as pool:
        for player, space, seed in left:
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


def report(games: Sequence[Game], us: str) -> list[str]:
    """Tables in Markdown: each player by itself, then ours beside every other.

    Args:
        games: Of any players.
        us: The player whose lead is told.
    """
    lines = [
        "| player | games | "
        + " | ".join(f"regret at {mark}, %" for mark in MARKS)
        + " | 90th percentile at 100, % | infeasible | repeats | CPU ms a trial |",
        "|---|" + "---|" * (len(MARKS) + 5),
    ]
    for player in dict.fromkeys(game.player for game in games):
        own = [game for game in games if game.player == player]
        regret = np.array([game.regret for game in own])
        means = " | ".join(f"{mean:.2f}" for mean in regret.mean(axis=0))
        lines.append(
            f"| {player} | {len(own)} | {means} | {np.percentile(regret[:, -1], 90):.2f} | "
            f"{np.mean([g.infeasible for g in own]):.1f} | {np.mean([g.repeats for g in own]):.1f}"
            f" | {np.mean([g.cpu_ms for g in own]):.0f} |"
        )
    lines += ["", f"| {us} against | pairs | " + " | ".join(_heads()) + " |"]
    lines.append("|---|" + "---|" * (len(MARKS) + 2))
    for player in dict.fromkeys(game.player for game in games):
        if player != us:
            lines.append(_beside(games, us, player))
    return lines


def _heads() -> Iterable[str]:
    yield from (f"ahead or level at {mark}" for mark in MARKS)
    yield "mean lead at 100, % (95% interval)"


def _beside(games: Sequence[Game], us: str, player: str) -> str:
    """Pairs of games on one space with one seed."""
    ours = {(g.space, g.seed): g.regret for g in games if g.player == us}
    theirs = {(g.space, g.seed): g.regret for g in games if g.player == player}
    pairs = sorted(ours.keys() & theirs.keys())
    if not pairs:
        return f"| {player} | 0 |" + " - |" * (len(MARKS) + 1)
    leads = np.array([np.subtract(theirs[pair], ours[pair]) for pair in pairs])
    shares = " | ".join(f"{share:.0%}" for share in (leads >= -_LEVEL).mean(axis=0))
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(pairs), size=(_RESAMPLES, len(pairs)))
    low, high = np.percentile(leads[:, -1][drawn].mean(axis=1), (2.5, 97.5))
    return (
        f"| {player} | {len(pairs)} | {shares} | {leads[:, -1].mean():.2f} "
        f"({low:.2f} to {high:.2f}) |"
    )
