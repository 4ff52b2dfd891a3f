"""A script of the user's that measures one configuration: how it is run, and what it tells."""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from measuring.callers_environment import callers_environment
from searchspace.errors import InvalidInput

__all__ = ["Measured", "NoSeconds", "measure"]

_LOOK_SECONDS = 0.1
_END_SECONDS = 5.0
"""For which a script may go on after it was asked to end."""
_LONGEST_REASON = 2_000
_LONGEST_ANSWER = 64 * 1024


@dataclass(frozen=True)
class Measured:
    """What a script told of a configuration.

    Attributes:
        seconds: What it took; None where it failed.
        reason: Why it failed.
    """

    seconds: float | None
    reason: str | None = None


class NoSeconds(InvalidInput):
    """A script that ended well printed no time: it is no script for this."""


def measure(
    command: Sequence[str],
    configuration: Mapping[str, Any],
    environment: Mapping[str, str],
    stop: threading.Event,
    *,
    most_seconds: float | None = None,
) -> Measured | None:
    """Run a script and read the seconds in the last line that it prints.

    It has the configuration as JSON on its standard input, and in the file that
    `HAMTUNE_CONFIGURATION` names.

    Args:
        command: The script and its arguments.
        configuration: What to measure.
        environment: Variables beside those of this process.
        stop: Ends it, with all that it has started.
        most_seconds: After which it is ended, and has failed.

    Returns:
        What it told; None where it was stopped.

    Raises:
        NoSeconds: It ended with 0 and printed no number of seconds.
        InvalidInput: It cannot be started.
    """
    with tempfile.TemporaryDirectory(prefix="hamtune-measure-") as directory:
        file, out, err = (Path(directory) / name for name in ("configuration.json", "out", "err"))
        file.write_text(json.dumps(configuration) + "\n")
        with file.open("rb") as given, out.open("w+b") as output, err.open("w+b") as errors:
            try:
                process = subprocess.Popen(
                    command,
                    stdin=given,
                    stdout=output,
                    stderr=errors,
                    env={
                        **callers_environment(),
                        **environment,
                        "HAMTUNE_CONFIGURATION": str(file),
                    },
                    start_new_session=True,  # Ctrl-C is for us; we end it, and its descendants
                )
            except OSError as error:
                raise InvalidInput(f"{command[0]} cannot be run: {error.strerror}") from None
            ended = _await(process, stop, most_seconds)
            if ended is None:
                return None
            if not ended:
                return Measured(None, f"no end within {most_seconds:g} s")
            if process.returncode != 0:
                return Measured(None, _reason(process.returncode, _end_of(errors)))
            return Measured(_seconds(command[0], _end_of(output)))


def _await(
    process: subprocess.Popen[bytes], stop: threading.Event, most_seconds: float | None
) -> bool | None:
    """Whether it has ended by itself; None where it was stopped."""
    waited = 0.0
    try:
        while True:
            try:
                process.wait(_LOOK_SECONDS)
                return True
            except subprocess.TimeoutExpired:
                waited += _LOOK_SECONDS
            if stop.is_set():
                return None
            if most_seconds is not None and waited >= most_seconds:
                return False
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the group of a script: at first kindly, and what is left of it in the end."""
    if process.poll() is None:
        _signal(process, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_SECONDS)
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # nothing of it is left
        os.killpg(process.pid, number)


def _end_of(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _LONGEST_ANSWER))
    return file.read().decode(errors="replace").replace("\x00", "")


def _reason(status: int, said: str) -> str:
    how = f"exit status {status}" if status > 0 else f"ended by signal {-status}"
    text = said.strip()[-_LONGEST_REASON:]
    return f"{how}: {text}" if text else how


def _seconds(name: str, said: str) -> float:
    line = next((one for one in reversed(said.splitlines()) if one.strip()), "").strip()
    try:
        seconds = float(line)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds > 0.0):
        shown = repr(line[:80]) if line else "nothing"
        raise NoSeconds(
            f"{name} ended with 0, and its last line is {shown}; it must print the seconds "
            "that the configuration took, or end with another status where it failed"
        )
    return seconds
