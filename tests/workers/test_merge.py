"""Recordings whose files were emptied, cut short or overwritten: which rank's, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.formats.operations import encode
from workers.merge import merge

RANKS = 3
OPERATIONS = (
    encode("send", peer=1, tag=7, count=70_000, size=1),
    encode("compute", flops=1e6),
    encode("allreduce", count=5000, size=8),
    encode("finalize"),
)
WHAT_TO_DO = "copy the files again from where the rank ran, or record the run again"
EVERY_RANK = pytest.mark.parametrize("rank", range(RANKS))


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A recording that is whole."""
    return write_recording(tmp_path / "recording")


def write_recording(directory: Path) -> Path:
    directory.mkdir()
    for rank in range(RANKS):
        text = f"ranks {RANKS}\nspeed 2e9\nlibrary Open MPI v4.1.4\n./solver\0"
        (directory / f"rank-{rank}.run").write_text(text)
        (directory / f"rank-{rank}.operations").write_bytes(b"".join(OPERATIONS))
        (directory / f"rank-{rank}.operations.count").write_text(f"{len(OPERATIONS)}\n")
    return directory


def refusal(recording: Path) -> str:
    """Why a recording is not merged: one line that says what to do."""
    output = recording.parent / "t.ht"
    with pytest.raises(InvalidInput) as refused:
        merge(recording, output)
    assert not output.exists()
    assert WHAT_TO_DO in str(refused.value)
    return str(refused.value)


def test_a_whole_recording_is_merged(recording: Path) -> None:
    assert merge(recording, recording.parent / "t.ht").ranks == RANKS


@EVERY_RANK
def test_an_emptied_file(recording: Path, rank: int) -> None:
    path = recording / f"rank-{rank}.operations"
    path.write_bytes(b"")

    assert f"the recording of rank {rank} is empty: {path} has no bytes" in refusal(recording)


@EVERY_RANK
@pytest.mark.parametrize("kept", [1, 12, len(b"".join(OPERATIONS)) - 1])
def test_a_file_that_is_cut_short(recording: Path, rank: int, kept: int) -> None:
    path = recording / f"rank-{rank}.operations"
    path.write_bytes(path.read_bytes()[:kept])

    assert f"the recording of rank {rank} is damaged: {path}" in refusal(recording)


@EVERY_RANK
@pytest.mark.parametrize("at", [0, 12, len(b"".join(OPERATIONS)) - 1])
def test_a_file_that_is_overwritten(recording: Path, rank: int, at: int) -> None:
    path = recording / f"rank-{rank}.operations"
    content = bytearray(path.read_bytes())
    content[at:] = b"\xff" * len(content[at:])
    path.write_bytes(content)

    assert f"the recording of rank {rank} is damaged: {path}" in refusal(recording)


@EVERY_RANK
@pytest.mark.parametrize("count", ["", "0", "-1", "many", "3", "99", "9" * 40])
def test_a_number_of_operations_that_is_wrong(recording: Path, rank: int, count: str) -> None:
    (recording / f"rank-{rank}.operations.count").write_text(count)

    assert f"the recording of rank {rank} is damaged: " in refusal(recording)


@EVERY_RANK
@pytest.mark.parametrize("text", ["", "ranks 3\nspe", "\0" * 60])
def test_a_file_about_the_run_that_is_wrong(recording: Path, rank: int, text: str) -> None:
    (recording / f"rank-{rank}.run").write_text(text)

    assert f"rank-{rank}.run is damaged" in refusal(recording)


@pytest.mark.parametrize("about", ["speed 2e9\nlibrary l\n./sol\1ver", "speed 0\nlibrary l\n./s"])
def test_a_program_or_speed_that_cannot_be(recording: Path, about: str) -> None:
    for rank in range(RANKS):
        (recording / f"rank-{rank}.run").write_text(f"ranks {RANKS}\n{about}\0")

    assert "rank-0.run says what no trace can hold" in refusal(recording)


@EVERY_RANK
def test_a_file_that_is_missing(recording: Path, rank: int) -> None:
    (recording / f"rank-{rank}.operations").unlink()

    assert f"rank-{rank}.operations" in refusal(recording)


def test_calls_of_another_run(recording: Path) -> None:
    parts = [encode("send", peer=7, tag=7, count=1, size=1), *OPERATIONS[1:]]
    (recording / "rank-1.operations").write_bytes(b"".join(parts))

    assert "do not fit together: rank 1, send: there is no rank 7" in refusal(recording)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_whatever_a_file_holds_is_merged_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    recording = write_recording(tmp_path_factory.mktemp("damaged") / "recording")
    path = data.draw(st.sampled_from(sorted(recording.iterdir())))
    content = bytearray(path.read_bytes())
    start = data.draw(st.integers(0, len(content)))
    content[start : start + data.draw(st.integers(0, 20))] = data.draw(st.binary(max_size=20))
    path.write_bytes(content)

    try:
        merge(recording, recording.parent / "t.ht")
    except InvalidInput as error:
        assert "\n" not in str(error)
        assert "header" not in str(error)
