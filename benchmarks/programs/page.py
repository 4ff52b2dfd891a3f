"""The tables of docs/programs.md, each written by what measures it."""

from __future__ import annotations

from pathlib import Path

__all__ = ["PAGE", "write_table"]

PAGE = Path(__file__).parents[2] / "docs/programs.md"
"""The page."""


def write_table(name: str, table: str) -> None:
    """Put a table in the place of the one of this name."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    before, rest = PAGE.read_text().split(begin)
    _, after = rest.split(end)
    PAGE.write_text(before + begin + table + end + after)
