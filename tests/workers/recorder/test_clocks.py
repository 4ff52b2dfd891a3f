"""The clocks of captured programs contain what the rank computed, and the communication simulated.

The programs judge by themselves: what a clock says is compared with what the kernel says of the
thread, within a fifth. One that finds a clock wrong ends with status 3 and a line about it.
"""

from pathlib import Path

import pytest

from searchspace.formats.operations import decode
from searchspace.formats.trace import read_operations
from workers.capture import capture

_TIMED = """
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, bytes = atoi(argv[1]), flag = 0;
  char *data = calloc(bytes, 1);
  double least = atof(argv[2]), most = atof(argv[3]);
  MPI_Request request;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  double since = MPI_Wtime();
  if (rank == 0) {
    smpi_execute_flops(atof(argv[4]));
    MPI_Send(data, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Irecv(data, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
    while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    double passed = MPI_Wtime() - since;
    if (passed < least || passed > most) { fprintf(stderr, "%g s passed", passed); return 3; }
  }
  MPI_Finalize();
  return 0;
}
"""
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


@pytest.mark.parametrize(
    ("sent", "computed", "passed"),
    [(1, 0.0, 1e-6), (1 << 25, 0.0, 2.7e-3), (1, 1e6, 1e-3)],
    ids=["latency", "bandwidth", "polls"],
)
def test_messages_and_polls_take_the_time_of_a_fast_network(
    sent: int, computed: float, passed: float, tmp_path: Path
) -> None:
    source = tmp_path / "timed.c"
    source.write_text(_TIMED)
    given = [str(sent), f"{0.8 * passed}", f"{1.2 * passed}", str(computed)]
    header = capture([str(source), *given], 2, tmp_path / "t.ht", declared_flops=True)
    assert header.ranks == 2
