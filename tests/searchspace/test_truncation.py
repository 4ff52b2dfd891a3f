"""Truncated traces: valid traces that say of themselves how much they stand for."""

from pathlib import Path

import pytest

from searchspace.errors import InvalidInput
from searchspace.formats.operations import decode, encode
from searchspace.formats.trace import TraceHeader, read_header, read_operations, write_trace
from searchspace.kernels import CannotCut, trace_summary
from searchspace.truncation import pays, truncate

STEP = encode("compute", flops=2e6) + encode("allreduce", count=1, size=8)


def looping(directory: Path, iterations: int, step: bytes = STEP) -> Path:
    path = directory / "whole.ht"
    operations = encode("barrier") + step * iterations + encode("finalize")
    write_trace(path, TraceHeader(ranks=2, program="p", arguments=("A",)), [operations] * 2)
    return path


def test_a_truncated_trace_keeps_the_asked_iterations_between_marks(tmp_path: Path) -> None:
    short = tmp_path / "short.ht"
    truncation = truncate(looping(tmp_path, 100), short, 3)
    names = [operation.name for operation in decode(read_operations(short, 0))]
    step = ["compute", "allreduce"]
    assert names == ["barrier", *step, "pcontrol", *step, "pcontrol", *step, "pcontrol", "finalize"]
    assert truncation.operations == 22
    assert truncation.share == 22 / 404
    header = read_header(short)
    assert header.weights == ((48.5, 48.5), (98.0, -1.0), (-1.0, 98.0))
    assert (header.program, header.arguments) == ("p", ("A",))


def test_two_iterations_leave_nothing_to_test_the_estimate_with(tmp_path: Path) -> None:
    short = tmp_path / "short.ht"
    truncate(looping(tmp_path, 100), short, 2)
    assert read_header(short).weights == ((98.0,),)


def test_marks_tell_whether_the_iterations_behind_them_are_alike(tmp_path: Path) -> None:
    """A rank sends to each of the others by turns."""
    path, short = tmp_path / "whole.ht", tmp_path / "short.ht"
    ranks = [b""] * 5
    for step in range(60):
        peer = 1 + step % 4
        ranks = [operations + encode("pcontrol", level=1) for operations in ranks]
        ranks[0] += encode("send", peer=peer, count=1000, size=8)
        ranks[peer] += encode("recv", count=1000, size=8)
        ranks = [operations + encode("allreduce", count=1, size=8) for operations in ranks]
    ends = [operations + encode("finalize") for operations in ranks]
    write_trace(path, TraceHeader(ranks=5, program="p"), ends)
    truncate(path, short)
    marks = [op for op in decode(read_operations(short, 0)) if op.name == "pcontrol"]
    assert {op.fields["level"] for op in marks[:-1]} == {2}  # nothing follows the last


def test_truncating_again_gives_the_same_bytes(tmp_path: Path) -> None:
    trace = looping(tmp_path, 30)
    first, second = tmp_path / "first.ht", tmp_path / "second.ht"
    truncate(trace, first)
    truncate(trace, second)
    assert first.read_bytes() == second.read_bytes()


def test_what_computations_take_is_kept_on_the_whole(tmp_path: Path) -> None:
    steps = b"".join(
        encode("compute", flops=1e6 * (1 + step % 5)) + encode("allreduce", count=1, size=8)
        for step in range(100)
    )
    path = tmp_path / "whole.ht"
    write_trace(path, TraceHeader(ranks=1, program="p"), [steps + encode("finalize")])
    short = tmp_path / "short.ht"
    truncate(path, short, 2)
    first, second = (
        operation.fields["flops"]
        for operation in decode(read_operations(short, 0))
        if operation.name == "compute"
    )
    assert isinstance(first, float)
    assert isinstance(second, float)
    assert second == 2 * first
    assert first + 99 * second == pytest.approx(3e8)


@pytest.mark.parametrize(
    ("calls", "trials", "expected"),
    [(999_999, 100, False), (1_000_000, 20, True), (1_000_000, None, True), (10**9, 19, False)],
)
def test_it_pays_for_many_calls_and_trials(calls: int, trials: int | None, expected: bool) -> None:
    assert pays(calls, trials) is expected


def passing(rank: int, ranks: int, *, around: bool) -> bytes:
    """A message to the next rank after one from that before; around: from the last to the first."""
    step = encode("compute", flops=1e6)
    if around or rank > 0:
        step += encode("recv", peer=(rank - 1) % ranks, count=10, size=8)
    if around or rank < ranks - 1:
        step += encode("send", peer=(rank + 1) % ranks, count=10, size=8)
    return step


@pytest.mark.parametrize(("around", "kept"), [(False, 60), (True, 9)], ids=["wavefront", "ring"])
def test_within_iterations_loops_are_cut_that_hold_the_ranks_together(
    tmp_path: Path, around: bool, kept: int
) -> None:
    ranks, short = 4, tmp_path / "short.ht"
    blocks = []
    for rank in range(ranks):
        planes = passing(rank, ranks, around=around) * 20
        step = encode("pcontrol", level=1) + planes + encode("allreduce", count=1, size=8)
        blocks.append(encode("barrier") + step * 30 + encode("finalize"))
    write_trace(tmp_path / "whole.ht", TraceHeader(ranks=ranks, program="p"), blocks)
    truncate(tmp_path / "whole.ht", short)
    for rank in range(1, ranks):
        names = [operation.name for operation in decode(read_operations(short, rank))]
        assert names.count("recv") == kept
        assert names.count("allreduce") == 3


def test_a_truncated_trace_is_not_truncated_again(tmp_path: Path) -> None:
    short = tmp_path / "short.ht"
    truncate(looping(tmp_path, 30), short)
    with pytest.raises(CannotCut, match="truncated before"):
        truncate(short, tmp_path / "shorter.ht")


def test_a_trace_without_loops_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotCut, match="no loop of more than 3 iterations"):
        truncate(looping(tmp_path, 2), tmp_path / "short.ht")


def test_one_iteration_does_not_show_how_even_the_others_are(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="iterations: must be at least 2"):
        truncate(looping(tmp_path, 30), tmp_path / "short.ht", 1)


@pytest.mark.parametrize(
    "weights", [((1.0,),), ((-0.5, 1.0),), ((1.0, 1.0), (1.0,)), ((), ()), ((1e10, 1.0),)]
)
def test_weights_that_do_not_fit_are_refused(
    tmp_path: Path, weights: tuple[tuple[float, ...], ...]
) -> None:
    path = tmp_path / "t.ht"
    marks = encode("pcontrol", level=1) * 3 + encode("finalize")
    write_trace(path, TraceHeader(ranks=1, program="p", weights=weights), [marks])
    with pytest.raises(InvalidInput, match="weight"):
        trace_summary(path)
