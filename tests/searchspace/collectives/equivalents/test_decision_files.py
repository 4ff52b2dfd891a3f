"""What is written for each library says what the table says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.collectives import COLLECTIVES
from searchspace.collectives.decision_table import DecisionTable, Line, Row, chosen
from searchspace.collectives.equivalents import TARGETS
from searchspace.collectives.equivalents.decision_files import DECISION_FILES
from searchspace.collectives.equivalents.decisions import decided, rules
from searchspace.collectives.equivalents.openmpi import ALGORITHM_IDS
from searchspace.collectives.equivalents.openmpi_rules import OF_ALL, WITHOUT_SIZE, dynamic_rules_of
from searchspace.errors import InvalidInput

OPENMPI = TARGETS["openmpi-4.1"]
TREE = {
    "collective=bcast": {"comm_type=intra": {"algorithm=own": {}}, "comm_type=inter": {"x": {}}},
    "collective=allreduce": {"comm_type=intra": {"algorithm=own": {}}},
    "collective=iallgather": {"algorithm=own": {}},
}


@st.composite
def tables(draw: st.DrawFn) -> DecisionTable:
    """Tables of what Open MPI has, for collectives whose sizes it looks at."""
    names = draw(
        st.lists(
            st.sampled_from(sorted(set(OPENMPI.entries) - set(WITHOUT_SIZE))),
            min_size=1,
            unique=True,
        )
    )
    found = {}
    for name in names:
        choices = ["default", *OPENMPI.expressible(name, (8,))]
        ranks = draw(st.lists(st.integers(2, 64), min_size=1, max_size=3, unique=True).map(sorted))
        found[name] = tuple(
            Row(
                count,
                tuple(
                    Line(least, draw(st.sampled_from(choices)))
                    for least in (
                        0,
                        *draw(st.lists(st.integers(1, 10**6), max_size=3, unique=True).map(sorted)),
                    )
                ),
            )
            for count in ranks
        )
    return found


def read(text: str) -> dict[str, list[tuple[int, list[tuple[int, int, int]]]]]:
    """A dynamic rules file, as the library reads it: numbers one after the other."""
    words = iter(int(word) for word in re.sub(r"#.*", "", text).split())
    ids = {
        0: "allgather",
        1: "allgatherv",
        2: "allreduce",
        3: "alltoall",
        7: "bcast",
        9: "gather",
        11: "reduce",
        12: "reduce_scatter",
        15: "scatter",
    }
    found = {}
    for _ in range(next(words, 0)):
        name = ids[next(words)]
        blocks = []
        for _ in range(next(words)):
            ranks, lines = next(words), []
            for _ in range(next(words)):
                least, algorithm, _, segment = (next(words) for _ in range(4))
                lines.append((least, algorithm, segment))
            blocks.append((ranks, lines))
        found[name] = blocks
    assert next(words, None) is None
    return found


@given(table=tables(), ranks=st.integers(1, 80), size=st.integers(0, 10**6))
def test_open_mpi_reads_what_the_table_says(table: DecisionTable, ranks: int, size: int) -> None:
    blocks = read(dynamic_rules_of(table, OPENMPI))
    for name, rows in table.items():
        row = next((row for row in reversed(rows) if row.ranks <= ranks), None)
        if name in OF_ALL and row is not None and len(row.lines) > 1 and ranks != row.ranks:
            continue  # rows are repeated there, each for its own ranks
        wanted = chosen(rows, ranks, size)
        total = size * ranks if name in OF_ALL else size
        if name not in blocks:
            assert wanted == "default"
            continue
        lines = next(lines for begin, lines in reversed(blocks[name]) if begin <= ranks)
        algorithm = next(number for least, number, _ in reversed(lines) if least <= total)
        meant = (
            OPENMPI.equivalent(name, wanted, (8,)).algorithm if wanted != "default" else "ignore"
        )
        assert ALGORITHM_IDS[name][algorithm] == meant


def test_segments_and_chains_are_told() -> None:
    text = dynamic_rules_of({"bcast": (Row(2, (Line(0, "ompi_four_chains"),)),)}, OPENMPI)
    assert read(text)["bcast"] == [(1, [(0, 0, 0)]), (2, [(0, 2, 8192)])]
    assert "\n0 2 4 8192 #" in text


def test_intel_mpi_has_ranges_and_none_where_it_chooses() -> None:
    table = {
        "bcast": (
            Row(2, (Line(0, "default"), Line(64, "binomial_tree"), Line(1024, "default"))),
            Row(8, (Line(0, "scatter_LR_allgather"),)),
        ),
        "gather": (Row(2, (Line(0, "default"),)),),
    }
    text = DECISION_FILES["intelmpi"].write(table, TARGETS["intelmpi-2021"], ["Whence"], None)
    assert (
        text == "# Whence\nexport I_MPI_ADJUST_BCAST='1:64-1023@2-7;3:0-2147483647@8-2147483647'\n"
    )


def test_mpich_keeps_its_own_decisions_beside_those_of_the_table(tmp_path: Path) -> None:
    library = tmp_path / "libmpich.so"
    library.write_bytes(
        b'\x7fELF\0{"collective=bcast":{}}\0' + json.dumps(TREE).replace(" ", "").encode() + b"\0\1"
    )
    table = {
        "bcast": (Row(4, (Line(0, "default"), Line(64, "binomial_tree"))),),
        "allreduce": (Row(2, (Line(0, "rab_rdb"),)),),
    }

    text = DECISION_FILES["mpich"].write(table, TARGETS["mpich-4.0"], [], library)

    own: dict[str, Any] = {"algorithm=own": {}}
    tree = json.loads(text)
    assert tree["collective=iallgather"] == own
    assert tree["collective=bcast"] == {
        "comm_type=intra": {
            "comm_size<4": own,
            "comm_size=any": {
                "avg_msg_size<64": own,
                "avg_msg_size=any": {"algorithm=MPIR_Bcast_intra_binomial": {}},
            },
        },
        "comm_type=inter": {"x": {}},
    }
    assert tree["collective=allreduce"]["comm_type=intra"]["is_commutative=no"] == own
    guarded = tree["collective=allreduce"]["comm_type=intra"]["is_commutative=yes"]
    leaf: dict[str, Any] = {"algorithm=MPIR_Allreduce_intra_reduce_scatter_allgather": {}}
    assert guarded["comm_size=any"]["avg_msg_size=any"] == {
        "is_op_built_in=no": own,
        "is_op_built_in=yes": {"count<pow2": own, "count=any": leaf},
    }


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x7fELF",
        b'{"collective=iallgather":\0',
        b'["collective=iallgather"]',
        b'{"collective=iallgather": 1}',
    ],
)
def test_a_file_that_is_no_library_of_mpich_is_refused(content: bytes, tmp_path: Path) -> None:
    library = tmp_path / "lib.so"
    library.write_bytes(content)
    table = {"bcast": (Row(2, (Line(0, "binomial_tree"),)),)}
    with pytest.raises(InvalidInput, match=r"lib\.so"):
        DECISION_FILES["mpich"].write(table, TARGETS["mpich-4.0"], [], library)


@pytest.mark.parametrize("library", ["openmpi-4.1", "mpich-4.0"])
@pytest.mark.parametrize("collective", sorted(COLLECTIVES))
def test_a_table_that_decides_nothing_is_the_library(collective: str, library: str) -> None:
    rows = (Row(2, (Line(0, "default"),)),)
    assert decided(rows, collective, library) == rules(library, collective)
