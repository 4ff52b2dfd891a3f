"""A capture as it goes on: what the program prints, and how far it is, on stderr."""

from __future__ import annotations

import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cli.job_words import capture_line
from cli.options import say
from cli.output_files import write_below
from workers.capture_files import LeftFiles
from workers.capture_progress import runs_so_far
from workers.capture_sandbox import Sandbox
from workers.polling import polling

__all__ = ["CaptureDisplay", "unpack_into"]

LOOK_SECONDS = 0.5
TELL_SECONDS = 5.0
_LOGS = ("build", "run")


class CaptureDisplay:
    """Shows a capture while the context is open that it makes of a sandbox.

    Args:
        runs: How many there will be.
        ranks: How many each has.
    """

    def __init__(self, runs: int, ranks: int) -> None:
        self._runs, self._ranks = runs, ranks
        self._shown = dict.fromkeys(_LOGS, "")
        self._told: dict[str, Any] | None = None
        self._told_at = time.monotonic()

    @contextmanager
    def __call__(self, box: Sandbox) -> Iterator[None]:
        """Show what happens in a sandbox; nothing is left to be shown when the context closes."""

        def look() -> None:
            self._show(box)
            if time.monotonic() >= self._told_at + TELL_SECONDS:
                self._tell(runs_so_far(box.directory, self._runs, self._ranks))

        with polling(look, LOOK_SECONDS, last=lambda: self._show(box)):
            yield

    def _show(self, box: Sandbox) -> None:
        for log, shown in self._shown.items():
            text = box.full_log(log)
            if text.startswith(shown):  # of a long log the middle is taken out at the end
                print(text[len(shown) :], end="", file=sys.stderr, flush=True)
                self._shown[log] = text

    def _tell(self, progress: dict[str, Any] | None) -> None:
        if progress is not None and progress != self._told:
            say(f"hamtune: {capture_line(progress)}")
        self._told, self._told_at = progress, time.monotonic()


def unpack_into(directory: Path, left: LeftFiles) -> None:
    """Unpack the files that runs left, and say which were not kept."""
    with tarfile.open(left.archive) as tar:
        for entry in tar:
            content = tar.extractfile(entry)
            if content is not None:
                write_below(directory, entry.name, content.read())
    for file in left.left_out:
        say(f"hamtune: not kept: {file.path} ({file.bytes} bytes)")
