"""A line that shows how far a job is while somebody waits for it: in a notebook, or a terminal."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from hamtune_client import html
from hamtune_client.wording import headway

if TYPE_CHECKING:
    from hamtune_client.models import JobRecord

__all__ = ["Display", "display"]

_ERASE = "\r\x1b[2K"


class Display(Protocol):
    """Where progress is shown."""

    def show(self, record: JobRecord) -> None:
        """Put what is known of a job in the place of what was shown before."""

    def end(self) -> None:
        """Let what was shown last stay."""


def display(quiet: bool | None) -> Display:
    """What shows progress where this runs.

    Args:
        quiet: Whether to show nothing; None shows it where somebody looks: in notebooks and where
            stderr is a terminal.
    """
    if quiet:
        return Nowhere()
    if _in_notebook():
        return Cell()
    if quiet is False or sys.stderr.isatty():
        return Line(sys.stderr)
    return Nowhere()


class Nowhere:
    """Shows nothing."""

    def show(self, record: JobRecord) -> None:
        """Shows nothing."""

    def end(self) -> None:
        """Shows nothing."""


class Line:
    """A line of a terminal, written over; where there is no terminal, a line for each news."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._terminal = stream.isatty()
        self._last = ""

    def show(self, record: JobRecord) -> None:
        """Write the line, if it has changed."""
        text = f"{record.name}: {headway(record)}"
        if text == self._last:
            return
        self._last = text
        if self._terminal:
            shown = "".join(letter for letter in text if letter.isprintable())
            self._stream.write(_ERASE + shown[: _width() - 1])
        else:
            self._stream.write(text + "\n")
        self._stream.flush()

    def end(self) -> None:
        """Go to the next line."""
        if self._last and self._terminal:
            self._stream.write("\n")
            self._stream.flush()


class Cell:
    """The output of a notebook's cell, with a bar."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, record: JobRecord) -> None:
        """Show the job, or show it anew."""
        from IPython.display import HTML
        from IPython.display import display as show_in_notebook

        shown = HTML(html.job(record))  # type: ignore[no-untyped-call]
        if self._handle is None:
            self._handle = show_in_notebook(shown, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(shown)

    def end(self) -> None:
        """It stays as it is."""


def _in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this, whose output can hold HTML."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and getattr(shell, "kernel", None) is not None


def _width() -> int:
    return shutil.get_terminal_size().columns
