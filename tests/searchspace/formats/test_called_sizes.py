"""At which sizes a program calls collectives."""

from __future__ import annotations

from pathlib import Path

from searchspace.formats.called_sizes import called_sizes
from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace

ALL = ("allgather", "allreduce", "bcast", "reduce_scatter", "scatter")


def traced(path: Path, *calls: bytes, ranks: int = 4) -> Path:
    operations = b"".join(calls) + encode("finalize")
    write_trace(path, TraceHeader(ranks=ranks, program="p"), [operations] * ranks)
    return path


def test_sizes_are_those_of_the_vector_or_of_the_block_of_a_rank(tmp_path: Path) -> None:
    block = {"send_count": 3, "send_size": 8, "recv_count": 3, "recv_size": 8}
    trace = traced(
        tmp_path / "a.ht",
        encode("allreduce", count=1, size=8),
        encode("allreduce", count=100, size=4),
        encode("allreduce", count=1, size=8),
        encode("allgather", **block),
        encode("reduce_scatter", size=4, counts=[2, 2, 3, 3]),
        encode("bcast", count=0, size=8),
        encode("barrier"),
    )
    assert called_sizes([trace], ALL) == {
        "allgather": (24,),
        "allreduce": (8, 400),
        "reduce_scatter": (40,),
    }


def test_of_many_sizes_some_stand_for_all(tmp_path: Path) -> None:
    sizes = range(100, 200)
    trace = traced(tmp_path / "a.ht", *(encode("bcast", count=n, size=1) for n in sizes))
    found = called_sizes([trace], ALL, most=4)["bcast"]
    assert found == (100, 133, 166, 199)


def test_several_programs_are_looked_at_together(tmp_path: Path) -> None:
    one = traced(tmp_path / "a.ht", encode("bcast", count=5, size=1))
    other = traced(tmp_path / "b.ht", encode("bcast", count=9, size=1), ranks=2)
    assert called_sizes([one, other], ALL) == {"bcast": (5, 9)}
