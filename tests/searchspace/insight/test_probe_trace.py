"""Probe traces: the calls of one collective, as far as they are not alike."""

from collections import Counter
from pathlib import Path

import pytest

from searchspace.formats.operations import decode, encode
from searchspace.formats.trace import TraceHeader, read_operations, validate, write_trace
from searchspace.insight import write_probe_trace

RANKS = 4


def trace(path: Path, calls: list[bytes]) -> Path:
    body = encode("comm_split", comm=1, color=0, key=0) + b"".join(calls) + encode("finalize")
    write_trace(path, TraceHeader(ranks=RANKS, program="p", captured_by="hand"), [body] * RANKS)
    return path


def names(path: Path, rank: int = 0) -> Counter[str]:
    return Counter(operation.name for operation in decode(read_operations(path, rank)))


def test_only_the_collective_and_what_makes_communicators_is_kept(tmp_path: Path) -> None:
    calls = [encode("bcast", count=1, size=8), encode("allreduce", count=2, size=8)]
    program = trace(tmp_path / "t.ht", calls)
    probe = tmp_path / "p.ht"
    assert write_probe_trace(program, "allreduce", probe, most_flops=1e3) == "all"
    validate(probe)
    assert names(probe) == {"comm_split": 1, "compute": 1, "allreduce": 1, "finalize": 1}


@pytest.mark.parametrize(("sizes", "told"), [([8], "all"), ([8] * 299 + [16], "all")])
def test_of_many_calls_each_size_is_kept(tmp_path: Path, sizes: list[int], told: str) -> None:
    program = trace(tmp_path / "t.ht", [encode("bcast", count=n, size=1) for n in sizes])
    probe = tmp_path / "p.ht"
    assert write_probe_trace(program, "bcast", probe, most_flops=1e3) == told
    kept = {o.fields["count"] for o in decode(read_operations(probe, 0)) if o.name == "bcast"}
    assert kept == set(sizes)
    assert names(probe)["bcast"] <= 65


def test_lists_of_sizes_beyond_the_first_calls_are_not_known_to_be_alike(tmp_path: Path) -> None:
    call = encode("alltoallv", send_counts=[1] * RANKS, recv_counts=[1] * RANKS)
    program = trace(tmp_path / "t.ht", [call] * 300)
    assert write_probe_trace(program, "alltoallv", tmp_path / "p.ht", most_flops=0.0) == "some"


def test_a_program_without_the_collective_leaves_ranks_that_do_nothing(tmp_path: Path) -> None:
    program = trace(tmp_path / "t.ht", [encode("barrier")])
    probe = tmp_path / "p.ht"
    assert write_probe_trace(program, "bcast", probe, most_flops=0.0) == "none"
    assert names(probe) == {"comm_split": 1, "finalize": 1}
