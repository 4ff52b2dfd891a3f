"""The tables of the documentation that are made of data, each by what measures it.

A table stands in its page between `<!-- NAME -->` and `<!-- end of NAME -->`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

__all__ = [
    "DOCS",
    "add_keep",
    "add_table",
    "markdown",
    "missed_unless",
    "table_of",
    "write_table",
    "write_tables",
]

DOCS = Path(__file__).parents[1] / "docs"
"""Where the pages are."""


def write_table(page: str, name: str, table: str) -> None:
    """Put a table in the place of the one of this name."""
    before, _, after = _parts(page, name)
    (DOCS / page).write_text(before + table + after)


def write_tables(page: str, tables: Mapping[str, str]) -> None:
    """Put several, each by its name, into one page."""
    for name, table in tables.items():
        write_table(page, name, table)


def table_of(page: str, name: str) -> str:
    """The table of this name as it stands there."""
    return _parts(page, name)[1]


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells."""
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def missed_unless(met: bool) -> str:
    """What stands behind a figure that misses its bar."""
    return "" if met else " (missed)"


def add_keep(parser: argparse.ArgumentParser, results: Path) -> None:
    """Let a benchmark keep its figures as those of the documentation."""
    parser.add_argument(
        "--keep", action="store_true", help=f"write {results.name} and the documentation's tables"
    )


def add_table(parser: argparse.ArgumentParser) -> None:
    """Let a benchmark that takes no other words write its tables without measuring."""
    parser.add_argument(
        "table",
        nargs="?",
        choices=["table"],
        metavar="table",
        help="measure nothing; write the documentation's tables of what was kept",
    )


def _parts(page: str, name: str) -> tuple[str, str, str]:
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    before, rest = (DOCS / page).read_text().split(begin)
    table, after = rest.split(end)
    return before + begin, table, end + after
