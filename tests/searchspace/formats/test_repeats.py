from __future__ import annotations

import errno
import statistics
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.formats.operations import Operation, decode, encode
from searchspace.formats.repeats import merge_repeats, spread
from searchspace.formats.trace import RankFile

CALLS = [
    encode("send", peer=1, count=300, size=8),
    encode("cart_create", dims=[2, 0, 3, 1], reorder=0),
    encode("alltoallv", send_size=8, recv_size=8, send_counts=[1, 200], recv_counts=[3, 4]),
    encode("igatherv", slot=1, root=0, recv_counts=[5, 6, 7]),
    encode("waitall", slots=[0, 1, 2]),
    encode("match", slot=3, peer=-1, tag=-1),
    encode("wtime"),
]
END = encode("finalize")


def compute(flops: float) -> bytes:
    return encode("compute", flops=flops)


def write(folder: Path, captures: list[list[bytes]]) -> list[list[RankFile]]:
    """Captures as lists of each rank's bytes."""
    result = []
    for number, ranks in enumerate(captures):
        files = []
        for rank, content in enumerate(ranks):
            path = folder / f"{number}-{rank}"
            path.write_bytes(content)
            files.append(RankFile(path, sum(1 for _ in decode(content))))
        result.append(files)
    return result


def operations(file: RankFile) -> list[Operation]:
    found = list(decode(file.path.read_bytes()))
    assert len(found) == file.operations
    return found


def test_computations_are_the_medians_and_calls_stay(tmp_path: Path) -> None:
    captures = [[compute(a) + CALLS[0] + compute(b) + END] for a, b in ((1, 9), (5, 2), (3, 4))]
    (merged,), repeats = merge_repeats(write(tmp_path, captures), tmp_path)
    flops = [op.fields["flops"] for op in operations(merged) if op.name == "compute"]
    assert flops == [3.0, 4.0]
    assert (repeats.captures, repeats.differing_ranks) == (3, ())
    # Totals are 10, 7 and 7.
    assert repeats.spread == pytest.approx(3 / 7, abs=1e-6)
    assert repeats.rank_spreads == (repeats.spread,)


def test_computations_that_cannot_be_set_side_by_side_are_compared_by_their_sum(
    tmp_path: Path,
) -> None:
    captures = [[compute(1) + compute(2) + END], [END], [compute(7) + END]]
    (merged,), _ = merge_repeats(write(tmp_path, captures), tmp_path)
    assert [op.name for op in operations(merged)] == ["compute", "finalize"]
    assert operations(merged)[0].fields["flops"] == 3.0


@pytest.mark.parametrize(
    "other",
    [CALLS[1] + END, CALLS[0] + CALLS[0] + END, END],
    ids=["another call", "one more", "one fewer"],
)
def test_a_rank_whose_calls_differ_is_named_and_keeps_the_first_capture(
    tmp_path: Path, other: bytes
) -> None:
    first = compute(5) + CALLS[0] + END
    captures = [[first, compute(1) + END], [compute(6) + other, compute(3) + END]]
    merged, repeats = merge_repeats(write(tmp_path, captures), tmp_path)
    assert repeats.differing_ranks == (0,)
    assert merged[0].path.read_bytes() == first
    assert operations(merged[1])[0].fields["flops"] == 2.0


@given(
    st.lists(st.sampled_from(CALLS), max_size=12),
    st.integers(1, 5),
    st.data(),
)
def test_every_operation_of_the_format_is_passed_over(
    tmp_path_factory: pytest.TempPathFactory, calls: list[bytes], many: int, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("repeats")
    amounts = st.floats(0.5, 1e12)
    flops = [[data.draw(amounts) for _ in calls] for _ in range(many)]
    captures = [
        [b"".join(compute(f) + c for f, c in zip(row, calls, strict=True)) + END] for row in flops
    ]
    (merged,), _ = merge_repeats(write(folder, captures), folder)
    found = operations(merged)
    assert [op for op in found if op.name != "compute"] == list(decode(b"".join(calls) + END))
    medians = [statistics.median(column) for column in zip(*flops, strict=True)]
    shown = [op.fields["flops"] for op in found if op.name == "compute"]
    assert shown == pytest.approx(medians)


@pytest.mark.parametrize("content", [b"\xff", b"\x01\x00", b"\x02\x80", CALLS[2][:-1]])
def test_a_damaged_recording_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(InvalidInput, match="rank 0: "):
        merge_repeats([[RankFile(tmp_path / "a", 1)]] * 2, tmp_path)


def test_the_spread_is_relative_to_the_median() -> None:
    assert spread([1.0, 2.0, 4.0]) == 1.5
    assert spread([0.0, 0.0]) == 0.0


def test_computations_without_end_between_two_calls_are_refused(tmp_path: Path) -> None:
    """The median needs those of all captures in memory."""
    content = compute(1) * (1 << 20)
    with pytest.raises(InvalidInput, match=r"rank 0: .* more than a million computations"):
        merge_repeats(write_raw(tmp_path, content + compute(1) + END), tmp_path)
    (merged,), _ = merge_repeats(write_raw(tmp_path, content + END), tmp_path)
    assert merged.operations == (1 << 20) + 1


def test_a_merged_recording_that_finds_no_room_says_so_as_the_system_does(tmp_path: Path) -> None:
    """Who runs out of disk must not be told that the recording is wrong."""
    (tmp_path / "rank-0.merged").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as caught:
        merge_repeats(write_raw(tmp_path, CALLS[0] + END), tmp_path)
    assert caught.value.errno == errno.ENOSPC


def test_merging_can_be_interrupted_between_ranks(tmp_path: Path) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        merge_repeats(write_raw(tmp_path, END), tmp_path, each_rank=interrupt)
    assert not list(tmp_path.glob("*.merged"))


def write_raw(folder: Path, content: bytes) -> list[list[RankFile]]:
    """Two captures of one rank that are alike."""
    path = folder / "recording"
    path.write_bytes(content)
    return [[RankFile(path, 1)]] * 2
