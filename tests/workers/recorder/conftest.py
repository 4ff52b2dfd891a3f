"""Runs one of the small programs and shows what each rank recorded."""

from collections.abc import Callable
from pathlib import Path

import pytest

from searchspace.formats.operations import Operation, decode
from searchspace.formats.trace import read_operations, validate
from workers.capture import capture

PROGRAMS = Path(__file__).parent / "programs"

Recorded = list[list[str]]

CLAIMED = [
    "probe tag=5",
    "irecv tag=5 count=16 size=1",
    "probe tag=5",
    "irecv slot=1 tag=5 count=12 size=1",
    "recv tag=5 count=2 size=4",
    "recv tag=5 count=1 size=4",
    "wait slot=1",
    "wait",
    "finalize",
]
"""What rank 1 of `probed_first.c` does."""


def line(operation: Operation) -> str:
    """An operation as text: its name and the fields that are not zero or empty."""
    shown = [operation.name]
    for field, value in operation.fields.items():
        if isinstance(value, (int, float)):
            if value:
                shown.append(
                    f"{field}={value:g}" if isinstance(value, float) else f"{field}={value}"
                )
        elif value:
            shown.append(f"{field}={','.join(map(str, value))}")
    return " ".join(shown)


@pytest.fixture
def record(tmp_path: Path) -> Callable[..., Recorded]:
    """Capture programs by file name and return the operations of each rank as lines."""

    def run(*command: str, ranks: int = 2) -> Recorded:
        words = [str(PROGRAMS / word) if (PROGRAMS / word).exists() else word for word in command]
        trace = tmp_path / "recorded.ht"
        capture(words, ranks, trace, declared_flops=True)
        header = validate(trace)
        operations = [list(decode(read_operations(trace, rank))) for rank in range(ranks)]
        assert header.operations == sum(len(ops) for ops in operations)
        return [[line(operation) for operation in ops] for ops in operations]

    return run
