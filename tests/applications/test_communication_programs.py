"""The communication programs: right results, and the traffic that their pages tell."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from searchspace.builtins import validate
from searchspace.formats.operations import Operation, decode
from searchspace.formats.trace import read_operations
from searchspace.kernels import TraceSummary, trace_loops, trace_summary, traffic_matrix
from workers.capture import capture_builtin

Run = Callable[..., subprocess.CompletedProcess[str]]

COLLECTIVES = ("allgather", "allreduce", "alltoall", "bcast", "gather", "reduce", "scatter")


@pytest.mark.parametrize(
    ("program", "ranks", "arguments"),
    [
        ("pingpong", 4, ("64", "3")),
        ("pingpong", 3, ("0", "1")),
        *(("collective", 3, (operation, "4096", "2")) for operation in COLLECTIVES),
        ("beff", 4, ("8192",)),
        ("beff", 3, ("4096",)),
        ("fft1d", 1, ("2",)),
        ("fft1d", 4, ("13",)),
        ("fft1d", 8, ("6",)),
        ("stencil3d", 6, ("17", "10")),
        ("stencil3d", 1, ("4", "2")),
        ("graph500", 4, ("9",)),
        ("graph500", 3, ("5", "4", "8")),
    ],
)
def test_verifies_on_open_mpi(
    run_program: Run, program: str, ranks: int, arguments: tuple[str, ...]
) -> None:
    result = run_program("openmpi", program, ranks, *arguments)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("Verification: successful\n") == 1


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        ("pingpong", ("64", "3")),
        ("collective", ("alltoall", "4096")),
        ("beff", ("4096",)),
        ("fft1d", ("10",)),
        ("stencil3d", ("8", "5")),
        ("graph500", ("7", "8", "4")),
    ],
)
def test_verifies_on_mpich(run_program: Run, program: str, arguments: tuple[str, ...]) -> None:
    result = run_program("mpich", program, 2, *arguments)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("Verification: successful\n") == 1


def capture(
    directory: Path, program: str, ranks: int, parameters: dict[str, object]
) -> tuple[TraceSummary, Path]:
    trace = directory / f"{program}.ht"
    capture_builtin(program, None, ranks, parameters, trace)
    return trace_summary(trace), trace


MATRIX = """%%MatrixMarket matrix coordinate integer symmetric
% what pairs exchange both ways
4 4 3
2 1 1001
4 1 50000
3 2 7
"""


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_player_verifies_what_it_exchanged(run_program: Run, tmp_path: Path, mpi: str) -> None:
    matrix = tmp_path / "w.mtx"
    matrix.write_text(MATRIX)
    directed = tmp_path / "directed.mtx"
    directed.write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 30.0\n")
    for arguments, ranks in (((str(matrix), "3"), 4), ((str(directed),), 2)):
        result = run_program(mpi, "player", ranks, *arguments)
        assert result.returncode == 0, result.stdout + result.stderr
        assert result.stdout.count("Verification: successful\n") == 1


def counts(operation: Operation) -> Sequence[int]:
    sent = operation.fields["send_counts"]
    assert isinstance(sent, Sequence)
    return sent


def test_player_sends_the_matrix_every_round(tmp_path: Path) -> None:
    run = validate("player", {"matrix": MATRIX, "rounds": 5}, 4)
    found, trace = capture(tmp_path, "player", 4, dict(run.parameters))
    assert found["calls"]["alltoallv"] == 4 * 5
    sent = {
        (rank, peer): count
        for rank in range(4)
        for operation in decode(read_operations(trace, rank))
        if operation.name == "alltoallv"
        for peer, count in enumerate(counts(operation))
        if count
    }
    assert sent == {
        (0, 1): 501, (1, 0): 500, (0, 3): 25000, (3, 0): 25000, (1, 2): 4, (2, 1): 3,
    }  # fmt: skip
    assert [loop["iterations"] for loop in trace_loops(trace)] == [5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense\n", "is no MatrixMarket file of whole numbers, symmetric or general"),
        (MATRIX.replace("4 4 3", "3 3 3"), "is not of as many rows and columns as there are ranks"),
        (MATRIX.replace("4 4 3", "4 4 4"), "has fewer entries than it says"),
        (MATRIX.replace("4 4 3", "4 4 2"), "has more entries than it says"),
        (MATRIX.replace("3 2 7", "3 2 x"), "has an entry that is not three whole numbers"),
        (MATRIX.replace("3 2 7", "5 2 7"), "has an entry for a rank that there is not"),
        (MATRIX.replace("50000", "9000000000"), "has a message of more than 2147483647 bytes"),
    ],
)
def test_player_says_what_is_wrong_with_a_matrix(
    run_program: Run, tmp_path: Path, text: str, message: str
) -> None:
    matrix = tmp_path / "w.mtx"
    matrix.write_text(text)
    result = run_program("mpich", "player", 4, str(matrix))
    assert result.returncode != 0
    (line,) = result.stderr.splitlines()
    assert line == f"player: {matrix} {message}"


def test_pingpong_bounces_between_all_pairs(tmp_path: Path) -> None:
    found, trace = capture(tmp_path, "pingpong", 5, {"bytes": 100, "repeats": 3})
    sent = traffic_matrix(trace)
    assert found["pairs"] == 10
    assert found["messages"] == 2 * 3 * 10 + 4  # and the token
    assert (sent + (1 - (sent > 0)) * 300 == 300).all()


@pytest.mark.parametrize("operation", COLLECTIVES)
def test_collective_calls_what_it_is_asked_for(tmp_path: Path, operation: str) -> None:
    parameters = {"operation": operation, "bytes": 1024, "repeats": 3}
    calls = capture(tmp_path, "collective", 4, parameters)[0]["calls"]
    # Two reductions make the report.
    assert calls[operation] == 4 * (5 if operation == "reduce" else 3)


def test_beff_measures_every_pattern_length_and_method(tmp_path: Path) -> None:
    found, _ = capture(tmp_path, "beff", 8, {"longest": 4096, "repeats": 1})
    measured = 8 * 12 * 21  # ranks, patterns, lengths
    assert found["calls"]["sendrecv"] == 2 * measured
    assert found["calls"]["alltoallv"] == measured
    assert found["calls"]["waitall"] == measured


def test_fft_transposes_three_times(tmp_path: Path) -> None:
    found, _ = capture(tmp_path, "fft1d", 4, {"log2n": 10})
    assert found["calls"]["alltoall"] == 3 * 4
    assert found["messages"] == 0
    assert found["flops"] == pytest.approx(5 * 1024 * 10 + 6 * 1024)


def test_stencil_exchanges_faces_with_neighbours(tmp_path: Path) -> None:
    found, trace = capture(tmp_path, "stencil3d", 8, {"points": 8, "iterations": 5})
    # 2 x 2 x 2 ranks with cubes of 4^3 points: three faces of 16 doubles each.
    assert found["messages"] == 8 * 3 * 5
    assert found["bytes"] == 8 * 3 * 5 * 16 * 8
    assert (traffic_matrix(trace).sum(axis=1) == 3 * 5 * 16 * 8).all()
    assert found["calls"]["allreduce"] == 8 * 5


def test_graph500_exchanges_once_a_level_and_once_to_validate(tmp_path: Path) -> None:
    parameters: dict[str, object] = {"scale": 6, "edges": 8, "searches": 4}
    calls = capture(tmp_path, "graph500", 4, parameters)[0]["calls"]
    assert calls["alltoall"] == calls["alltoallv"]
    exchanges = calls["alltoallv"] // 4
    assert exchanges >= 1 + 4 * (1 + 2)  # the graph; for each search at least a level, a check


@pytest.mark.parametrize(
    ("program", "ranks", "arguments", "message"),
    [
        ("pingpong", 1, (), "pingpong: needs at least 2 ranks, not 1\n"),
        ("pingpong", 2, ("-1",), "pingpong: needs bytes from 0"),
        ("collective", 1, ("scan",), "collective: needs one of allgather"),
        ("collective", 1, ("bcast", "12"), "bytes from 8 to 1073741824 that 8 divides"),
        ("beff", 1, (), "beff: needs at least 2 ranks, not 1\n"),
        ("beff", 2, ("7",), "beff: needs a longest message from 4096"),
        ("fft1d", 3, ("8",), "length 2^8 needs a power of two of ranks up to 16, not 3\n"),
        ("fft1d", 1, ("x",), "fft1d: needs the logarithm of the length from 2 to 28"),
        ("stencil3d", 7, ("4",), "stencil3d: needs at least 7 points a side for 7 ranks, not 4\n"),
        ("graph500", 3, ("1",), "graph500: scale 1 needs at most 2 ranks, not 3\n"),
        ("player", 1, (), "player: needs a communication matrix and rounds from 1 to 1000000"),
        ("player", 1, ("nowhere.mtx",), "player: nowhere.mtx cannot be read\n"),
        ("graph500", 1, ("25",), "graph500: needs a scale from 1 to 24"),
    ],
)
def test_wrong_use_is_one_plain_line(
    run_program: Run, program: str, ranks: int, arguments: tuple[str, ...], message: str
) -> None:
    result = run_program("openmpi", program, ranks, *arguments)
    assert result.returncode != 0
    assert message in result.stderr
