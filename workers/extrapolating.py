"""Extrapolation within limits: captures are users' files, and a pattern may take long to find.

It runs in a process of its own, `python -m workers.extrapolating ANSWER RANKS OUTPUT CAPTURE...`,
which writes what was found, or why there is nothing, to the file ANSWER as JSON.
"""

from __future__ import annotations

import json
import shutil
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from searchspace.errors import InvalidInput
from searchspace.extrapolation import extrapolate
from workers.capture_limits import Limits
from workers.capture_sandbox import CaptureFailed, Sandbox

__all__ = ["LIMITS", "extrapolate_within"]

LIMITS = Limits(wall_seconds=3600, cpu_seconds=3600, memory_bytes=8 << 30)
"""Many times what captures of 256 ranks of the NAS benchmarks need."""

_ROOT = Path(__file__).resolve().parent.parent


def extrapolate_within(
    captures: Sequence[Path],
    ranks: int,
    output: Path,
    *,
    limits: Limits = LIMITS,
    stop: threading.Event | None = None,
) -> dict[str, Any]:
    """Write the trace of a larger run, as `searchspace.extrapolation.extrapolate` does.

    Args:
        captures: Of smaller runs.
        ranks: Of the larger one.
        output: Its trace.
        limits: What the search for patterns may use.
        stop: Ends it when set.

    Returns:
        What was found: the attributes of `Extrapolated`.

    Raises:
        InvalidInput: The captures follow no pattern.
        CaptureFailed: It met a limit.
        Interrupted: It was stopped.
    """
    with Sandbox.temporary(limits=limits, confined=False, stop=stop) as box:
        made, told = box.workspace / "large.ht", box.workspace / "answer.json"
        given = [told, ranks, made, *(path.absolute() for path in captures)]
        command = [sys.executable, "-m", "workers.extrapolating", *map(str, given)]
        status = box.run(command, {"PYTHONPATH": str(_ROOT)}, log="extrapolation")
        if status:
            raise CaptureFailed("the extrapolation failed", box.log("extrapolation"))
        answer: dict[str, Any] = json.loads(told.read_text())
        if "problem" in answer:
            raise InvalidInput(answer["problem"])
        shutil.move(made, output)
    return answer


def main() -> None:
    """Extrapolate what the command line names."""
    told, ranks, output, *captures = sys.argv[1:]
    try:
        made = extrapolate([Path(capture) for capture in captures], int(ranks), Path(output))
    except InvalidInput as error:
        answer: dict[str, Any] = {"problem": error.message}
    except MemoryError:
        answer = {"problem": "looking for a pattern takes more memory than a worker grants"}
    else:
        answer = asdict(made)
    Path(told).write_text(json.dumps(answer))


if __name__ == "__main__":
    main()
