"""Search techniques on spaces whose every point is known, ours beside others.

    .venv/bin/python -m benchmarks.search build [SPACE ...]
    .venv/bin/python -m benchmarks.search play [--seeds N] [--players A,B] [SPACE ...]
    .venv/bin/python -m benchmarks.search report [FILE]

`build` evaluates whole spaces with the packets model and may be stopped and called again. `play`
lets players search the tables, where a trial takes microseconds, and adds each game to a file;
`report` says what the games come to. SMAC3, and PyTorch for Optuna's Gaussian process, are in
benchmarks/search/requirements.txt, for an environment of their own.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from benchmarks.search.build import build
from benchmarks.search.players import PLAYERS
from benchmarks.search.spaces import SPACES
from benchmarks.search.tables import Case
from benchmarks.search.tournament import play_all, read_games, report

GAMES = Path(__file__).with_name("games.jsonl")
TABLES = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hamtune-search"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.search",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    building = commands.add_parser("build", help="evaluate spaces whole")
    playing = commands.add_parser("play", help="let players search the tables")
    for command in (building, playing):
        command.add_argument("--tables", type=Path, default=TABLES, help=f"default: {TABLES}")
        command.add_argument("spaces", nargs="*", metavar="SPACE", help=", ".join(SPACES))
    playing.add_argument("--seeds", type=int, default=20)
    playing.add_argument("--players", default=",".join(PLAYERS), help=", ".join(PLAYERS))
    reporting = commands.add_parser("report", help="say what the games come to")
    for command in (playing, reporting):
        command.add_argument("--games", type=Path, default=GAMES, help=f"default: {GAMES.name}")
    return parser


def main() -> None:
    """Do what the command line says."""
    arguments = _parser().parse_args()
    if arguments.command == "report":
        print("\n".join(report(read_games(arguments.games), next(iter(PLAYERS)))))
        return
    spaces = arguments.spaces or list(SPACES)
    unknown = [name for name in spaces if name not in SPACES]
    if unknown:
        raise SystemExit(f"unknown space '{unknown[0]}'; known: {', '.join(SPACES)}")
    if arguments.command == "build":
        for name in spaces:
            table = build(Case(name, arguments.tables / name))
            print(f"{name}: {len(table.values)} points, {table.identity(name)}", flush=True)
        return
    players = arguments.players.split(",")
    unknown = [name for name in players if name not in PLAYERS]
    if unknown:
        raise SystemExit(f"unknown player '{unknown[0]}'; known: {', '.join(PLAYERS)}")
    # Players may change the directory.
    tables, games = arguments.tables.absolute(), arguments.games.absolute()
    play_all(tables, players, spaces, arguments.seeds, games)


if __name__ == "__main__":
    main()
