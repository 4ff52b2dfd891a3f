"""Evaluations of one program by two or more builds of Hamtune, in turns."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["in_tree", "in_turns"]

_EVALUATING = Path(__file__).resolve().with_name("evaluating.py")


def in_tree(python: str, tree: Path) -> list[str]:
    """The command that evaluates with the build of a tree, by this file's `evaluating.py`."""
    return ["env", f"PYTHONPATH={tree}", python, "-P", str(_EVALUATING)]


def in_turns(
    case: Sequence[str],
    model: str,
    commands: Sequence[Sequence[str]],
    repeats: int,
    least_seconds: float = 0.0,
) -> dict[str, Any]:
    """CPU seconds of each evaluation by each build, and what they say of the time.

    Each build captures the program itself: the form of traces may differ.

    Args:
        case: Program, class (or -), ranks, and values of its parameters.
        model: `fluid` or `packets`.
        commands: What starts `evaluating.py` with each build.
        repeats: Evaluations that are kept of each, or more of them:
        least_seconds: As many as take a build this much CPU time in all.

    Raises:
        RuntimeError: An evaluation failed.
    """
    given = [*case[:3], model, *case[3:]]
    started = [
        subprocess.Popen(
            [*command, *given], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for command in commands
    ]
    answers: list[list[dict[str, Any]]] = [[] for _ in commands]
    spent = 0.0
    while len(answers[0]) <= repeats or spent < least_seconds:
        for process, of_one in zip(started, answers, strict=True):
            assert process.stdin and process.stdout
            process.stdin.write("\n")
            process.stdin.flush()
            of_one.append(json.loads(process.stdout.readline()))
            if of_one[-1]["status"] != "completed":
                raise RuntimeError(f"{' '.join(given)}: {of_one[-1]['status']}")
        spent += answers[0][-1]["cpu_seconds"]
    for process in started:
        process.communicate()
    return {
        "case": " ".join(case),
        "model": model,
        # The first evaluation reads the trace.
        "cpu_seconds": [[answer["cpu_seconds"] for answer in of_one[1:]] for of_one in answers],
        "simulated_time": [of_one[0]["simulated_time"] for of_one in answers],
    }
