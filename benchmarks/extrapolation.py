"""Extrapolated traces beside captured ones: `python -m benchmarks.extrapolation`.

Each built-in program is captured on small numbers of ranks and on the wanted one; the trace that is
extrapolated from the small captures is compared with the captured one: calls, bytes, flops, and the
simulated time on a 3-D torus. Captures are kept in a directory between runs. Results go to
`benchmarks/extrapolation.json`.

    python -m benchmarks.extrapolation --traces captures/ stencil3d ft
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.provenance import measured_now
from cli.extrapolation import simulated_on
from searchspace.errors import InvalidInput
from searchspace.extrapolation import extrapolate
from searchspace.kernels import trace_summary
from workers.capture import capture_builtin
from workers.simulator_client import simulator_version

RESULTS = Path(__file__).with_suffix(".json")


@dataclass(frozen=True)
class Case:
    """A program and the numbers of ranks that it is extrapolated from and to."""

    program: str
    class_: str | None
    parameters: dict[str, int] = field(default_factory=dict)
    known: tuple[int, ...] = (64, 128, 256)
    wanted: int = 1024


CASES = (
    Case("stencil3d", None, {"points": 128, "iterations": 20}),
    # Class W has planes for a 2-D layout on all of these numbers of ranks.
    Case("ft", "W"),
    Case("lu", "A", {"iterations": 10}),
    # A square grid of ranks, which 128 are not.
    Case("cg", "A", known=(16, 64, 256)),
    Case("mg", "A"),
)


def capture(case: Case, ranks: int, directory: Path) -> Path:
    """The capture of a program, made where it is not there yet."""
    path = directory / f"{case.program}.{case.class_ or '-'}.{ranks}.ht"
    if not path.exists():
        capture_builtin(case.program, case.class_, ranks, case.parameters, path)
    return path


def measure(
    case: Case, directory: Path, simulate: Callable[[Path], float | None]
) -> dict[str, Any]:
    """How far the extrapolated trace is from the captured one."""
    row: dict[str, Any] = {
        "program": case.program,
        "class": case.class_,
        **case.parameters,
        "from_ranks": case.known,
        "ranks": case.wanted,
    }
    output = directory / f"{case.program}.extrapolated.ht"
    began = time.process_time()
    try:
        captures = [capture(case, ranks, directory) for ranks in case.known]
        extrapolate(captures, case.wanted, output, check=False)
    except InvalidInput as error:
        return {**row, "refused": str(error)}
    row["cpu_seconds"] = time.process_time() - began
    captured = capture(case, case.wanted, directory)
    one, other = trace_summary(output), trace_summary(captured)
    row["calls"] = [sum(summary["calls"].values()) for summary in (one, other)]
    row["bytes"] = [one["bytes"], other["bytes"]]
    row["flops"] = [one["flops"], other["flops"]]
    row["file_bytes"] = [path.stat().st_size for path in (output, captured)]
    row["simulated_time"] = [simulate(path) for path in (output, captured)]
    return row


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the cases that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("programs", nargs="*", help="programs; all if none is named")
    parser.add_argument("--traces", type=Path, required=True, help="where captures are kept")
    given = parser.parse_args(arguments)
    given.traces.mkdir(parents=True, exist_ok=True)
    rows = []
    for case in CASES:
        if given.programs and case.program not in given.programs:
            continue
        rows.append(measure(case, given.traces, simulated_on(None)))
        print(json.dumps(rows[-1]), flush=True)
    results = {
        **measured_now(),
        "python": platform.python_version(),
        "simulator": simulator_version(),
        "rows": rows,
    }
    RESULTS.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
