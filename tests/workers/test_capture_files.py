"""The files that runs leave: which are kept, whatever a hostile program makes of its folder."""

import os
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from workers import capture_files
from workers.capture import capture
from workers.capture_files import LeftFiles, OutputFile, pack_left, stamps
from workers.capture_progress import runs_so_far
from workers.capture_sandbox import CaptureFailed, Sandbox

PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    FILE *verdict = fopen("verdict.txt", "w");
    fprintf(verdict, "valid\\n");
    fclose(verdict);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1)
    exit(3);
  MPI_Finalize();
  return 0;
}
"""


@pytest.fixture
def leave(tmp_path: Path) -> Callable[[Callable[[Path], object]], LeftFiles]:
    """What is packed of a folder with a file `old` and a link, after something was done to it."""
    root = tmp_path / "work"
    root.mkdir()
    (root / "old").write_text("as before")

    def run(change: Callable[[Path], object]) -> LeftFiles:
        before = stamps(root)
        change(root)
        return pack_left(root, before, tmp_path / "left.tar.gz")

    return run


def content(left: LeftFiles) -> dict[str, bytes]:
    with tarfile.open(left.archive) as tar:
        return {one.name: tar.extractfile(one).read() for one in tar}  # type: ignore[union-attr]


def test_new_and_changed_files_are_packed(leave: Callable[..., LeftFiles]) -> None:
    def change(root: Path) -> None:
        (root / "out/deep").mkdir(parents=True)
        (root / "out/deep/result.txt").write_text("42")

    assert content(leave(change)) == {"out/deep/result.txt": b"42"}
    left = leave(lambda root: (root / "old").write_text("now it differs"))
    assert left.files == (OutputFile("old", 14),)
    assert content(left) == {"old": b"now it differs"}


def test_links_and_devices_are_no_files(leave: Callable[..., LeftFiles], tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("of somebody else")

    def change(root: Path) -> None:
        (root / "key").symlink_to(secret / "key")
        (root / "all").symlink_to(secret)
        os.mkfifo(root / "pipe")

    left = leave(change)
    assert (left.files, left.left_out) == ((), ())


def test_what_is_too_large_or_too_many_is_named(
    leave: Callable[..., LeftFiles], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture_files, "MOST_FILES", 3)

    def change(root: Path) -> None:
        with (root / "huge").open("wb") as file:
            file.truncate(2 << 30)  # of no blocks: it costs its maker nothing
        for number in range(4):
            (root / f"small-{number}").write_text("x" * number)

    left = leave(change)
    assert [file.path for file in left.files] == ["small-0", "small-1", "small-2"]
    assert left.left_out == (OutputFile("huge", 2 << 30), OutputFile("small-3", 3))


def test_a_name_that_cannot_be_shown_leaves_its_file_out(leave: Callable[..., LeftFiles]) -> None:
    left = leave(lambda root: (root / "a\nb\x1b[2J").write_text("x"))
    assert left.files == ()
    assert left.left_out == (OutputFile("'a\\nb\\x1b[2J'", 1),)


@pytest.mark.parametrize("fails", [False, True])
def test_a_capture_hands_over_what_its_runs_wrote(tmp_path: Path, *, fails: bool) -> None:
    (tmp_path / "judge.c").write_text(PROGRAM)
    seen = []

    @contextmanager
    def watching(box: Sandbox) -> Iterator[None]:
        try:
            yield
        finally:
            seen.append(runs_so_far(box.directory, 2, 4))

    found: list[dict[str, bytes]] = []
    command = [str(tmp_path / "judge.c"), *["fail"] * fails]
    try:
        capture(
            command,
            4,
            tmp_path / "t.ht",
            captures=2,
            watching=watching,
            leaving=lambda left: found.append(content(left)),
        )
    except CaptureFailed:
        assert fails
    assert found == [{"verdict.txt": b"valid\n"}]
    (progress,) = seen
    assert progress is not None
    # Of the last of the runs that there were.
    assert (progress["run"], progress["runs"]) == (1 if fails else 2, 2)
    assert fails or progress["ranks_ended"] == 4
    assert progress["operations"] >= 4
