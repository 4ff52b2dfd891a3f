"""What a program is on few ranks gives, to the byte, what it is on many."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.extrapolation import NoPattern, extrapolate
from searchspace.extrapolation.grids import dims_create
from searchspace.formats.measured import Measured
from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, read_header, read_operations, write_trace

FINALIZE = encode("finalize")
Program = Callable[[int, int], bytes]
"""The operations of a rank among so many."""


def captured(directory: Path, program: Program, ranks: int) -> Path:
    path = directory / f"{ranks}.ht"
    encoded = [program(rank, ranks) + FINALIZE for rank in range(ranks)]
    write_trace(path, TraceHeader(ranks=ranks, program="p"), encoded)
    return path


def assert_extrapolates(directory: Path, program: Program, known: list[int], wanted: int) -> None:
    captures = [captured(directory, program, ranks) for ranks in known]
    output = directory / "large.ht"
    made = extrapolate(captures, wanted, output)
    assert (made.ranks, read_header(output).ranks) == (wanted, wanted)
    for rank in range(wanted):
        assert read_operations(output, rank) == program(rank, wanted) + FINALIZE, rank


def exchange(peer: int, count: int, tag: int = 0) -> bytes:
    return (
        encode("irecv", slot=0, peer=peer, tag=tag, count=count, size=8)
        + encode("send", peer=peer, tag=tag, count=count, size=8)
        + encode("wait", slot=0)
    )


@settings(max_examples=12, deadline=None)
@given(
    iterations=st.integers(1, 3),
    distance=st.integers(1, 2),
    count=st.integers(1, 1000),
    strong=st.booleans(),
)
def test_a_ring(
    tmp_path_factory: pytest.TempPathFactory,
    iterations: int,
    distance: int,
    count: int,
    strong: bool,
) -> None:
    def ring(rank: int, ranks: int) -> bytes:
        to, source = (rank + distance) % ranks, (rank - distance) % ranks
        size = count * 4096 // ranks if strong else count
        step = encode("compute", flops=size * 3.0)
        sizes = {"send_count": size, "send_size": 8, "recv_count": size, "recv_size": 8}
        step += encode("sendrecv", **{"to": to, "from": source, **sizes})
        return step * iterations + encode("allreduce", count=1, size=8)

    assert_extrapolates(tmp_path_factory.mktemp("ring"), ring, [8, 16, 32], 128)


def halo_of(axes: int, points: int, *, wraps: bool) -> Program:
    """Strong scaling: a face depends on how the other axes are cut."""

    def halo(rank: int, ranks: int) -> bytes:
        dims = dims_create(ranks, axes)
        out = b""
        stride = ranks
        for axis in range(axes):
            stride //= dims[axis]
            place = rank // stride % dims[axis]
            face = points ** (axes - 1) * dims[axis] // ranks
            for tag, step in enumerate((-1, 1)):
                if not wraps and not 0 <= place + step < dims[axis]:
                    continue
                peer = rank + ((place + step) % dims[axis] - place) * stride
                out += encode("irecv", slot=0, peer=peer, tag=1 - tag, count=face, size=8)
                out += encode("send", peer=peer, tag=tag, count=face, size=8)
                out += encode("wait", slot=0)
        return out + encode("compute", flops=float(points**axes // ranks))

    return halo


@settings(max_examples=6, deadline=None)
@given(axes=st.sampled_from([2, 3]), wraps=st.booleans(), points=st.sampled_from([256, 512]))
def test_halos_of_a_grid(
    tmp_path_factory: pytest.TempPathFactory, axes: int, wraps: bool, points: int
) -> None:
    known, wanted = ([16, 32, 64], 128) if axes == 2 else ([64, 128, 256], 512)
    directory = tmp_path_factory.mktemp("halo")
    assert_extrapolates(directory, halo_of(axes, points, wraps=wraps), known, wanted)


@settings(max_examples=6, deadline=None)
@given(grows=st.booleans(), count=st.integers(1, 64), iterations=st.integers(1, 3))
def test_recursive_doubling(
    tmp_path_factory: pytest.TempPathFactory, grows: bool, count: int, iterations: int
) -> None:
    """A loop goes round more often on more ranks, each time with another partner."""

    def doubling(rank: int, ranks: int) -> bytes:
        steps = b"".join(
            exchange(rank ^ 1 << bit, count << bit if grows else count)
            for bit in range(ranks.bit_length() - 1)
        )
        return (encode("compute", flops=5e6) + steps + encode("barrier")) * iterations

    assert_extrapolates(tmp_path_factory.mktemp("doubling"), doubling, [8, 16, 32], 128)


def test_rows_and_columns_of_a_square(tmp_path: Path) -> None:
    def rows_and_columns(rank: int, ranks: int) -> bytes:
        side = dims_create(ranks, 2)[0]
        row, column = divmod(rank, side)
        return (
            encode("comm_split", color=row, key=column)
            + encode("comm_split", color=column, key=row)
            + encode("bcast", comm=2, root=0, count=4096 // side, size=8)
            + encode("allreduce", comm=3, count=4096 // side, size=8)
            + encode("sendrecv", comm=2, to=(column + 1) % side, **{"from": (column - 1) % side})
        )

    assert_extrapolates(tmp_path, rows_and_columns, [16, 64, 256], 1024)


def test_captures_of_another_pattern_are_left_aside(tmp_path: Path) -> None:
    def across(rank: int, ranks: int) -> bytes:
        rows, columns = dims_create(ranks, 2)[::-1]
        if rows != columns:
            return encode("barrier") * 3
        return exchange((rank % columns) * columns + rank // columns, 10)

    captures = [captured(tmp_path, across, ranks) for ranks in (16, 32, 64)]
    made = extrapolate(captures, 256, tmp_path / "large.ht")
    assert (made.from_ranks, made.left_aside) == ((16, 64), (32,))
    assert made.check is None
    assert made.check_obstacle is not None
    assert "a check takes three" in made.check_obstacle
    assert read_operations(tmp_path / "large.ht", 3) == across(3, 256) + FINALIZE


def test_a_capture_whose_grid_is_periodic_otherwise_is_left_aside(tmp_path: Path) -> None:
    def grid(_rank: int, ranks: int) -> bytes:
        periods = (1, int(ranks == 16))
        dims = dims_create(ranks, 2)
        flat = [number for pair in zip(dims, periods, strict=True) for number in pair]
        return encode("cart_create", dims=flat, reorder=0)

    captures = [captured(tmp_path, grid, ranks) for ranks in (8, 16, 32)]
    assert extrapolate(captures, 64, tmp_path / "large.ht").left_aside == (16,)
    assert read_operations(tmp_path / "large.ht", 3) == grid(3, 64) + FINALIZE


def test_the_check_tells_how_far_off_a_prediction_is(tmp_path: Path) -> None:
    """On 32 ranks the program computes twice what its law on 8 and 16 ranks says."""

    def odd(rank: int, ranks: int) -> bytes:
        return encode("compute", flops=2e6 if ranks == 32 else 1e6) + encode("barrier")

    captures = [captured(tmp_path, odd, ranks) for ranks in (4, 8, 16, 32)]
    made = extrapolate(captures, 64, tmp_path / "large.ht")
    assert made.check is not None
    assert (made.check.ranks, made.check.flops, made.check.calls) == (32, -0.5, 0.0)


def ring_of_uneven_sizes(rank: int, ranks: int) -> bytes:
    sizes = {"send_count": 1 + rank * 7 % 97, "send_size": 8, "recv_count": 97, "recv_size": 8}
    return encode("sendrecv", **{"to": (rank + 1) % ranks, "from": (rank - 1) % ranks, **sizes})


def random_peers(rank: int, ranks: int) -> bytes:
    return exchange((rank * rank * 7 + 3) % ranks, 1)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (random_peers, "follow no pattern"),
        (lambda rank, ranks: encode("barrier") * (1 + rank % 5 * rank), "do not stand alike"),
        (
            lambda rank, ranks: encode(
                "alltoallv", send_counts=range(ranks), recv_counts=range(ranks)
            ),
            "sizes that differ from rank to rank",
        ),
        (ring_of_uneven_sizes, "sizes of a sendrecv that differ from rank to rank"),
        (
            lambda rank, ranks: encode("comm_create", ranks=[0]),
            "comm_create with a list of ranks",
        ),
    ],
)
def test_what_follows_no_pattern_is_refused(tmp_path: Path, program: Program, message: str) -> None:
    captures = [captured(tmp_path, program, ranks) for ranks in (8, 16, 32)]
    with pytest.raises(NoPattern, match=message):
        extrapolate(captures, 64, tmp_path / "large.ht")
    assert not (tmp_path / "large.ht").exists()


def test_captures_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    one = captured(tmp_path, random_peers, 4)
    other = tmp_path / "other.ht"
    write_trace(other, TraceHeader(ranks=8, program="q"), [FINALIZE] * 8)
    with pytest.raises(InvalidInput, match="at least two"):
        extrapolate([one], 16, tmp_path / "large.ht")
    with pytest.raises(InvalidInput, match="of several programs: p, q"):
        extrapolate([one, other], 16, tmp_path / "large.ht")
    with pytest.raises(InvalidInput, match="both have 4 ranks"):
        extrapolate([one, one], 16, tmp_path / "large.ht")
    with pytest.raises(InvalidInput, match="above the 4 ranks"):
        extrapolate([one, captured(tmp_path, random_peers, 2)], 4, tmp_path / "large.ht")


def shared_out(total: int) -> Program:
    """A ring in which every rank passes on its share of a fixed problem, rounded."""

    def program(rank: int, ranks: int) -> bytes:
        sizes = {"send_size": 8, "recv_size": 8}
        sizes |= {"send_count": round(total / ranks), "recv_count": round(total / ranks)}
        return encode("sendrecv", **{"to": (rank + 1) % ranks, "from": (rank - 1) % ranks, **sizes})

    return program


@pytest.mark.parametrize(("total", "rounding"), [(4096, 0.0), (4000, 1 - 31 / 31.25)])
def test_a_problem_that_does_not_divide_evenly_is_told(
    tmp_path: Path, total: int, rounding: float
) -> None:
    captures = [captured(tmp_path, shared_out(total), ranks) for ranks in (8, 16, 32)]
    made = extrapolate(captures, 128, tmp_path / "large.ht")
    assert made.rounding == pytest.approx(rounding)


def test_sizes_of_ranks_that_differ_a_little_are_told(tmp_path: Path) -> None:
    def uneven(rank: int, ranks: int) -> bytes:
        size = 100 + (rank % 3 == 1)
        return exchange((rank + ranks // 2) % ranks, size)

    captures = [captured(tmp_path, uneven, ranks) for ranks in (8, 16, 32)]
    made = extrapolate(captures, 128, tmp_path / "large.ht")
    assert made.rounding == pytest.approx(1 - 100 / 101)


def test_what_was_measured_of_a_capture_is_not_said_of_the_large_run(tmp_path: Path) -> None:
    captures = [captured(tmp_path, shared_out(4096), ranks) for ranks in (8, 16)]
    for path in captures:
        header = read_header(path)
        operations = [read_operations(path, rank) for rank in range(header.ranks)]
        told = header.model_copy(
            update={"measured": Measured(stretches=9, seconds=1.0, empty_stretch=0.0)}
        )
        write_trace(path, told, operations)
    made = tmp_path / "large.ht"
    extrapolate(captures, 64, made)
    assert read_header(captures[0]).measured is not None
    assert read_header(made).measured is None


def test_a_problem_too_small_for_so_many_ranks_is_refused(tmp_path: Path) -> None:
    captures = [captured(tmp_path, shared_out(160), ranks) for ranks in (8, 16, 32)]
    with pytest.raises(NoPattern, match="does not divide evenly"):
        extrapolate(captures, 128, tmp_path / "large.ht")
