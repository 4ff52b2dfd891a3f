"""Where commands print tables."""

from __future__ import annotations

import sys
from typing import TextIO

from rich.console import Console

__all__ = ["table_console"]

_WIDE = 10_000
"""Characters of a line: what reads a pipe wants whole values, not what fits on a screen."""


def table_console(file: TextIO | None = None) -> Console:
    """Standard output, or a file; as wide as the tables are where it is no terminal.

    What stands in cells is shown as it is: names are anybody's, and no markup.
    """
    return Console(
        file=file,
        width=None if (file or sys.stdout).isatty() else _WIDE,
        soft_wrap=True,
        markup=False,
        highlight=False,
        emoji=False,
    )
