"""The tables of the documentation that are made of data, each by what measures it.

A table stands in its page between `<!-- NAME -->` and `<!-- end of NAME -->`.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["DOCS", "table_of", "write_table"]

DOCS = Path(__file__).parents[1] / "docs"
"""Where the pages are."""


def write_table(page: str, name: str, table: str) -> None:
    """Put a table in the place of the one of this name."""
    before, _, after = _parts(page, name)
    (DOCS / page).write_text(before + table + after)


def table_of(page: str, name: str) -> str:
    """The table of this name as it stands there."""
    return _parts(page, name)[1]


def _parts(page: str, name: str) -> tuple[str, str, str]:
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    before, rest = (DOCS / page).read_text().split(begin)
    table, after = rest.split(end)
    return before + begin, table, end + after
