"""The clocks of captured programs contain what the rank computed, and the communication simulated.

The programs judge by themselves: what a clock says is compared with what the kernel says of the
thread, within a fifth. One that finds a clock wrong ends with status 3 and a line about it.
"""

from pathlib import Path

import pytest

from searchspace.formats.operations import decode
from searchspace.formats.trace import read_operations
from workers.capture import capture

PROGRAMS = Path(__file__).parent / "programs"


@pytest.mark.parametrize("language", ["c", "cpp", "f90"])
def test_all_clocks_of_a_language_say_what_was_computed(language: str, tmp_path: Path) -> None:
    header = capture([str(PROGRAMS / f"clocks.{language}")], 2, tmp_path / "t.ht", host_speed=1e9)
    assert header.ranks == 2


def test_a_look_at_the_clock_lets_no_other_rank_run(tmp_path: Path) -> None:
    """Or a program that pauses between two looks would be told of what others did meanwhile."""
    source = tmp_path / "looks.c"
    source.write_text(
        "#include <mpi.h>\nint main(int argc, char **argv) {\n"
        "  MPI_Init(&argc, &argv);\n  double first = MPI_Wtime();\n"
        "  for (int look = 0; look < 1000; look++) MPI_Wtime();\n"
        "  double passed = MPI_Wtime() - first;\n  MPI_Finalize();\n"
        "  return passed > 0 && passed < 0.1 ? 0 : 3;\n}\n"
    )
    trace = tmp_path / "t.ht"
    capture([str(source)], 2, trace, declared_flops=True)
    names = [operation.name for operation in decode(read_operations(trace, 1))]
    assert names == ["wtime"] * 1002 + ["finalize"]
