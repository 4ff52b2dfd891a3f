from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from searchspace.errors import InvalidInput
from searchspace.formats.operations import Operation, decode, encode
from searchspace.formats.stock_trace import import_time_independent
from searchspace.formats.time_independent import time_independent
from searchspace.formats.trace import TraceHeader, describe_trace, read_operations, write_trace
from searchspace.kernels import traffic_matrix

RANKS = 4


def program(rank: int) -> bytes:
    """A ring exchange and collectives of all ranks."""
    ahead, behind = (rank + 1) % RANKS, (rank - 1) % RANKS
    same = {"send_count": 3, "send_size": 8, "recv_count": 3, "recv_size": 8}
    vector = {"send_size": 4, "recv_size": 4}
    return b"".join(
        [
            encode("compute", flops=1e6 * (rank + 1)),
            encode("irecv", slot=0, peer=behind, tag=7, count=1000, size=1),
            encode("isend", slot=1, peer=ahead, tag=7, count=1000, size=1),
            encode("wait", slot=0),
            encode("wait", slot=1),
            encode("wtime"),
            encode("barrier"),
            encode("bcast", root=2, count=100, size=8),
            encode("reduce", root=1, count=10, size=4),
            encode("allreduce", count=100_000, size=8),
            encode("gather", root=3, **same),
            encode("scatter", root=0, **same),
            encode("allgather", **same),
            encode("alltoall", **same),
            encode("allgatherv", send_count=rank + 1, recv_counts=[1, 2, 3, 4], **vector),
            encode("alltoallv", send_counts=[5] * RANKS, recv_counts=[5] * RANKS, **vector),
            encode("reduce_scatter", size=8, counts=[4] * RANKS),
            encode(
                "gatherv", root=2, send_count=4, recv_counts=[4] * RANKS * (rank == 2), **vector
            ),
            encode(
                "scatterv", root=0, recv_count=4, send_counts=[4] * RANKS * (rank == 0), **vector
            ),
            encode("finalize"),
        ]
    )


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    path = tmp_path / "ours.ht"
    header = TraceHeader(ranks=RANKS, program="ours")
    write_trace(path, header, [program(rank) for rank in range(RANKS)])
    return path


def stock_files(trace: Path, directory: Path) -> list[Path]:
    directory.mkdir()
    files = []
    for rank in range(RANKS):
        files.append(directory / f"rank-{rank}.txt")
        lines = time_independent(rank, RANKS, decode(read_operations(trace, rank)))
        files[-1].write_text("".join(lines))
    return files


def operations(directory: Path, text: str, rank: int = 0) -> list[Operation]:
    """What the importer makes of a rank of a merged trace."""
    (directory / "stock.txt").write_text(text)
    import_time_independent([directory / "stock.txt"], directory / "t.ht", host_speed=2e9)
    return list(decode(read_operations(directory / "t.ht", rank)))


@pytest.mark.parametrize("form", ["files", "directory", "merged", "list"])
def test_an_exported_trace_comes_back(ours: Path, tmp_path: Path, form: str) -> None:
    files = stock_files(ours, tmp_path / "stock")
    merged, listed = tmp_path / "merged.txt", tmp_path / "list.txt"
    merged.write_text("".join(file.read_text() for file in files))
    listed.write_text("".join(f"stock/{file.name}\n" for file in files))
    sources = {"files": files, "directory": [tmp_path / "stock"], "merged": [merged]}

    import_time_independent(sources.get(form, [listed]), tmp_path / "back.ht")

    for rank in range(RANKS):
        assert read_operations(tmp_path / "back.ht", rank) == program(rank)
    before, after = describe_trace(ours), describe_trace(tmp_path / "back.ht")
    assert (after["calls"], after["bytes"]) == (before["calls"], before["bytes"])
    assert np.array_equal(traffic_matrix(ours), traffic_matrix(tmp_path / "back.ht"))


@pytest.mark.parametrize("elsewhere", [True, False])
def test_a_list_may_name_files_from_where_smpirun_ran(
    ours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: bool
) -> None:
    files = stock_files(ours, tmp_path / "trace")
    listed = tmp_path / "trace" / "ranks.txt"
    listed.write_text("".join(f"trace/{file.name}\n" for file in files))
    monkeypatch.chdir("/" if elsewhere else tmp_path)

    for source in (listed, listed.parent):
        import_time_independent([source], tmp_path / "back.ht")
        assert read_operations(tmp_path / "back.ht", 1) == program(1)


@pytest.mark.parametrize(
    "name", ["../secret.txt", "{tmp}/secret.txt", "link.txt", "tests/../../secret.txt"]
)
def test_a_list_names_nothing_outside_of_its_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.txt").write_text("0 finalize\n")
    folder = tmp_path / "given"
    (folder / "tests").mkdir(parents=True)
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "list.txt").write_text(name.format(tmp=tmp_path) + "\n")

    with pytest.raises(InvalidInput, match="outside of its folder"):
        import_time_independent([folder / "list.txt"], tmp_path / "t.ht")


def test_equal_requests_are_waited_for_in_order_and_the_rest_at_the_end(tmp_path: Path) -> None:
    text = "0 init\n0 irecv 0 1 8 6\n0 irecv 0 1 9 6\n0 wait 0 0 1\n0 test 0 0 1\n"
    text += "0 send 0 1 8 6\n0 send 0 1 9 6\n0 finalize\n"

    names = [
        (o.name, o.fields.get("slot", o.fields.get("slots"))) for o in operations(tmp_path, text)
    ]

    assert names[2:] == [
        ("wait", 0),
        ("send", None),
        ("send", None),
        ("waitall", [1]),
        ("finalize", None),
    ]


def test_defaults_sleeps_and_the_work_of_reductions(tmp_path: Path) -> None:
    text = "0 init 1\n0 bcast 1e3\n0 allreduce 5 70\n0 sleep 0.5\n0 comm_size 4\n0 finalize\n"

    found = operations(tmp_path, text)

    assert [operation.name for operation in found] == [
        "bcast", "allreduce", "compute", "compute", "finalize"
    ]  # fmt: skip
    assert (found[0].fields["count"], found[0].fields["size"]) == (1000, 8)
    assert [found[2].fields["flops"], found[3].fields["flops"]] == [70, 1e9]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0 init\n0 win_fence 1\n", "line 2, action win_fence: no such action"),
        ("0 send 5 1 8 6\n", "line 1, action send: there is no rank 5"),
        ("0 recv -555 1 8 6\n", "any source"),
        ("0 bcast x\n", "action bcast: wrong arguments"),
        ("0 bcast 1 0 99\n", "datatype 99"),
        ("0 bcast -1\n", "-1 is no count"),
        ("0 init\n", "no finalize of rank 0"),
        ("0 finalize\n0 barrier\n", "line 2, action barrier: rank 0 has finished"),
        ("2 finalize\n", "no action of rank 0, 1 of 3"),
        ("hello world\n", "neither an action of a rank nor a file: hello world"),
        ("0 init\nhello\n", "line 2: this is not a rank"),
        ("", "no action"),
    ],
)
def test_what_cannot_be_imported_is_named(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        operations(tmp_path, text)
    assert not (tmp_path / "t.ht").exists()


def test_a_sleep_needs_a_host_speed(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("0 sleep 1\n0 finalize\n")

    with pytest.raises(InvalidInput, match="line 1, action sleep: --host-speed"):
        import_time_independent([tmp_path / "s.txt"], tmp_path / "t.ht")


def test_what_smpirun_writes_of_a_sendrecv_is_one_call(tmp_path: Path) -> None:
    (found, _) = operations(tmp_path, "0 sendRecv 7 0 9 0 1 0 \n0 finalize\n")

    assert found.name == "sendrecv"
    assert (found.fields["send_count"], found.fields["send_size"]) == (7, 4)
    assert (found.fields["recv_count"], found.fields["recv_size"]) == (9, 8)
