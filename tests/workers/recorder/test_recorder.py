"""Real programs under SMPI: what each call family leaves in the trace, operation by operation.

Fields that are 0 are not shown: slot 0, communicator 0 (the world), peer 0, tag 0.
"""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.workers.recorder.conftest import CLAIMED, PROGRAMS

Record = Callable[..., list[list[str]]]


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def test_blocking_messages(record: Record) -> None:
    sender, receiver = record("blocking.c")
    assert sender == lines("""
        send peer=1 tag=1 count=8 size=4
        ssend peer=1 tag=2 count=3 size=4
        send peer=1 tag=3 count=1 size=4
        bsend peer=1 tag=4 count=5 size=4
        send peer=1 tag=5 size=4
        sendrecv to=1 send_tag=6 send_count=2 send_size=4 from=1 recv_tag=6 recv_count=4 recv_size=4
        sendrecv to=1 send_tag=7 send_count=3 send_size=4 from=1 recv_tag=7 recv_count=3 recv_size=4
        sendrecv to=1 send_tag=8 send_count=1 send_size=4 from=-1 recv_tag=8 recv_size=4
        finalize""")
    assert receiver == lines("""
        recv tag=1 count=8 size=4
        recv tag=2 count=8 size=4
        recv tag=3 count=8 size=4
        probe tag=4
        recv tag=4 count=8 size=4
        probe tag=5
        recv tag=5 size=4
        sendrecv send_tag=6 send_count=2 send_size=4 recv_tag=6 recv_count=4 recv_size=4
        sendrecv send_tag=7 send_count=3 send_size=4 recv_tag=7 recv_count=3 recv_size=4
        sendrecv to=-1 send_tag=8 send_size=4 recv_tag=8 recv_count=1 recv_size=4
        finalize""")


def test_requests_and_every_way_to_complete_them(record: Record) -> None:
    assert record("requests.c")[0] == lines("""
        irecv peer=1 tag=1 count=1 size=4
        irecv slot=1 peer=1 tag=2 count=1 size=4
        wait
        irecv peer=1 tag=3 count=1 size=4
        waitall slots=1,0
        irecv peer=1 tag=4 count=1 size=4
        wait
        irecv peer=1 tag=5 count=1 size=4
        wait
        irecv peer=1 tag=6 count=1 size=4
        waitall slots=0
        irecv peer=1 tag=7 count=1 size=4
        wait
        irecv peer=1 tag=8 count=1 size=4
        irecv slot=1 peer=1 tag=9 count=1 size=4
        waitall slots=0,1
        irecv peer=1 tag=10 count=1 size=4
        wait
        irecv peer=1 tag=11 count=1 size=4
        waitall slots=0
        irecv peer=-2 tag=-1 count=1 size=4
        match peer=1 tag=12
        waitall slots=0
        isend peer=1 tag=21 count=1 size=4
        issend slot=1 peer=1 tag=22 count=1 size=4
        isend slot=2 peer=1 tag=23 count=1 size=4
        bsend peer=1 tag=24 count=1 size=4
        request_free
        waitall slots=1,2
        finalize""")


def test_persistent_requests_are_recorded_at_each_start(record: Record) -> None:
    sender, receiver = record("persistent.c")
    assert sender == lines("""
        isend peer=1 tag=1 count=2 size=8
        issend slot=1 peer=1 tag=2 count=1 size=4
        waitall slots=0,1
        issend peer=1 tag=2 count=1 size=4
        wait
        bsend peer=1 tag=3 count=1 size=4
        finalize""")
    assert receiver == lines("""
        irecv tag=1 count=2 size=8
        irecv slot=1 peer=-2 tag=2 count=1 size=4
        match slot=1 tag=2
        waitall slots=0,1
        irecv peer=-2 tag=2 count=1 size=4
        match tag=2
        wait
        recv tag=3 count=1 size=4
        finalize""")


@pytest.mark.parametrize(("program", "times"), [("restarted.c", 4), ("restarted.f90", 3)])
def test_a_persistent_send_starts_again_before_its_last_message_is_received(
    program: str, times: int, record: Record
) -> None:
    sender, receiver = record(program)
    started = [line for line in sender if line.startswith("isend")]
    assert started == times * ["isend peer=1 tag=5 count=1 size=4"]
    assert receiver == ["barrier", *times * ["recv tag=5 count=1 size=4"], "finalize"]


def test_a_persistent_send_has_the_type_that_it_was_made_with(record: Record) -> None:
    start = ["irecv count=5 size=4", "irecv slot=1 tag=1 count=2 size=4", "waitall slots=0,1"]
    assert record("columns.c")[1] == [*3 * start, "finalize"]


def test_a_program_may_declare_functions_of_the_system(record: Record) -> None:
    assert record("declares.c", "-n", "7")[1] == ["wtime", "barrier", "finalize"]


def test_every_rank_draws_the_random_numbers_of_a_process_of_its_own(
    record: Record, tmp_path: Path
) -> None:
    alone = tmp_path / "alone"
    source = PROGRAMS / "random.c"
    subprocess.run(["cc", "-D_GNU_SOURCE", "-DALONE", str(source), "-o", str(alone)], check=True)
    drawn = subprocess.run([alone], check=True, capture_output=True, text=True).stdout.split()
    assert record("random.c", *drawn, ranks=3)[2] == [*len(drawn) * ["barrier"], "finalize"]


@pytest.mark.parametrize("way", ["plain", "number", "text", "exit"])
def test_a_rank_that_stops_in_fortran_ends_no_other(way: str, record: Record) -> None:
    assert record("stops.f90", way, ranks=3) == 3 * [["barrier", "finalize"]]


def test_a_rank_that_ends_by_the_c_library_ends_no_other(record: Record) -> None:
    assert record("exits.c", ranks=3) == 3 * [["barrier", "finalize"]]


def test_every_rank_has_fortrans_units_and_random_numbers_to_itself(record: Record) -> None:
    found = record("units.f90", ranks=3)
    assert found[2] == ["barrier", "barrier", "bcast count=1 size=4", "finalize"]


COLLECTIVES = lines("""
    barrier
    bcast root=1 count=10 size=8
    reduce root=2 count=4 size=4
    allreduce count=4 size=4 flags=2
    gather send_count=2 send_size=4 recv_count=2 recv_size=4
    scatter send_count=2 send_size=4 recv_count=2 recv_size=4
    allgather send_count=2 send_size=4 recv_count=2 recv_size=4
    alltoall send_count=2 send_size=4 recv_count=2 recv_size=4
    gatherv send_count=1 send_size=4 recv_size=4 recv_counts=1,2,3
    scatterv send_size=4 recv_count=1 recv_size=4 send_counts=1,2,3
    allgatherv send_count=1 send_size=4 recv_size=4 recv_counts=1,2,3
    alltoallv send_size=4 recv_size=4 send_counts=1,1,1 recv_counts=1,1,1
    alltoallw send_bytes=4,4,4 recv_bytes=4,4,4
    reduce_scatter size=4 counts=1,2,3
    reduce_scatter_block count=2 size=4
    scan count=2 size=4
    exscan count=2 size=4""")


def test_collectives(record: Record) -> None:
    root, other, _ = record("collectives.c", ranks=3)
    assert root == [*COLLECTIVES, "finalize"]
    assert other[4:6] == ["gather send_count=2 send_size=4", "scatter recv_count=2 recv_size=4"]
    assert other[8:10] == ["gatherv send_count=2 send_size=4", "scatterv recv_count=2 recv_size=4"]


def test_nonblocking_collectives(record: Record) -> None:
    root = record("collectives.c", "nonblocking", ranks=3)[0]
    expected = [entry for line in COLLECTIVES for entry in (f"i{line}", "wait")]
    assert root == [*expected, "finalize"]


def test_in_place_collectives_leave_out_what_is_not_significant(record: Record) -> None:
    root, other = record("in_place.c")
    everywhere = lines("""
        allgather recv_count=1 recv_size=4 flags=1
        allgatherv recv_size=4 flags=1 recv_counts=1,2
        alltoall recv_count=1 recv_size=4 flags=1
        finalize""")
    assert root == [
        *lines("""
        reduce count=2 size=4 flags=1
        allreduce count=2 size=4 flags=1
        gather recv_count=1 recv_size=4 flags=1
        scatter send_count=1 send_size=4 flags=1
        gatherv recv_size=4 flags=1 recv_counts=1,2
        scatterv send_size=4 flags=1 send_counts=1,2"""),
        *everywhere,
    ]
    assert other == [
        *lines("""
        reduce count=2 size=4
        allreduce count=2 size=4 flags=1
        gather send_count=1 send_size=4
        scatter recv_count=1 recv_size=4
        gatherv send_count=2 send_size=4
        scatterv recv_count=2 recv_size=4"""),
        *everywhere,
    ]


def test_communicators_are_numbered_alike_whatever_a_rank_gets(record: Record) -> None:
    ranks = record("communicators.c", ranks=4)
    end = lines("""
        cart_create dims=2,1,2,0
        cart_sub comm=5 remain=0,1
        barrier comm=5
        barrier comm=6
        comm_free comm=2
        comm_dup comm=6
        barrier comm=7
        comm_dup
        barrier comm=8
        comm_free comm=8
        finalize""")
    in_half_only = lines("""
        barrier comm=1
        comm_dup
        comm_split comm=2
        barrier comm=3
        comm_create ranks=3,1""")
    in_some_only = lines("""
        barrier comm=1
        comm_dup
        comm_split comm=2 color=-1 key=-3
        comm_create ranks=3,1
        barrier comm=4""")
    assert ranks[0] == [*in_half_only, *end]
    assert ranks[3] == [*in_some_only, *end]


def test_a_split_by_what_is_shared_is_a_split(record: Record) -> None:
    # Every rank of a capture has a host of its own.
    first, second = record("shared.c")
    assert first == lines("""
        comm_create_group ranks=0
        barrier comm=2
        finalize""")
    assert second == lines("""
        comm_create_group ranks=1
        barrier comm=2
        comm_create_group ranks=1
        barrier comm=3
        finalize""")


def test_grids_without_dimensions_and_groups_that_differ(record: Record) -> None:
    first, second, *_ = record("grids.c", ranks=4)
    assert first == lines("""
        comm_create_group ranks=0
        comm_dup comm=2
        barrier comm=3
        comm_create ranks=0,2
        barrier comm=4
        finalize""")
    assert second == lines("""
        comm_create ranks=1,3
        barrier comm=2
        finalize""")


def test_derived_datatypes_are_sizes(record: Record) -> None:
    sender, receiver = record("datatypes.c")
    assert sender == lines("""
        send peer=1 count=1 size=64
        send peer=1 count=2 size=11
        bcast count=2 size=64
        reduce count=2 size=11 flags=4
        allreduce count=2 size=16
        finalize""")
    assert receiver[0] == "recv count=8 size=8"


def test_computations_clocks_and_control_points_stay_as_they_are(record: Record) -> None:
    assert record("computation.c")[1] == lines("""
        compute flops=1e+06
        compute flops=1e+06
        barrier
        pcontrol level=2
        wtime
        wtime
        pcontrol level=-1
        compute flops=5
        finalize""")


def test_fortran(record: Record) -> None:
    assert record("forms.f90")[0] == lines("""
        send peer=1 tag=1 count=3 size=8
        sendrecv to=1 send_tag=2 send_count=2 send_size=4 from=1 recv_tag=2 recv_count=2 recv_size=4
        irecv peer=-2 tag=3 count=1 size=4
        isend slot=1 peer=1 tag=3 count=1 size=4
        match peer=1 tag=3
        waitall slots=0,1
        irecv peer=1 tag=4 count=1 size=4
        isend slot=1 peer=1 tag=4 count=1 size=4
        wait slot=1
        wait
        irecv peer=1 tag=5 count=1 size=4
        send peer=1 tag=5 count=1 size=4
        waitall slots=0
        irecv peer=1 tag=6 count=1 size=4
        send peer=1 tag=6 count=1 size=4
        wait
        isend peer=1 tag=7 count=1 size=8
        irecv slot=1 peer=1 tag=7 count=1 size=8
        waitall slots=0,1
        isend peer=1 tag=7 count=1 size=8
        irecv slot=1 peer=1 tag=7 count=1 size=8
        waitall slots=0,1
        wtime
        pcontrol level=1
        barrier
        bcast root=1 count=4 size=8
        reduce count=1 size=8
        allreduce count=1 size=8 flags=1
        alltoall send_count=1 send_size=4 recv_count=1 recv_size=4
        allgatherv send_count=1 send_size=4 recv_size=4 recv_counts=1,2
        alltoallw send_bytes=4,4 recv_bytes=4,4
        comm_split
        barrier comm=2
        cart_create dims=2,1,1,0
        cart_sub comm=3 remain=1,0
        barrier comm=4
        comm_free comm=2
        ibarrier
        wait
        finalize""")


def test_fixed_form_fortran_in_two_sources(record: Record) -> None:
    assert record("old.f", "old_parts.f")[1] == ["bcast count=5 size=4", "finalize"]


def test_groups_make_communicators_without_the_others(record: Record) -> None:
    ranks = record("groups.c", ranks=4)
    three = ["comm_create_group ranks=3,1,0", "barrier comm=2"]
    pair = ["comm_create_group comm=2 ranks=2,0", "barrier comm=3"]
    assert ranks[0] == ranks[3] == [*three, *pair, "comm_free comm=2", "finalize"]
    assert ranks[1] == [*three, "comm_free comm=2", "finalize"]
    assert ranks[2] == ["finalize"]


def test_topologies_and_neighbours_that_smpi_lacks(record: Record) -> None:
    """The program checks what arrives, and ends the run where it is wrong."""
    calls = record("topologies.c", ranks=4)
    assert calls[0][0] == "comm_dup"
    assert [call.split()[0] for call in calls[3]].count("isend") == 2 * (4 + 4) + 0 + 1 + 0
    assert [call.split()[0] for call in calls[0]].count("isend") == 2 * (4 + 4) + 2 * 2 + 1 + 1


def test_neighbours_from_fortran(record: Record) -> None:
    assert record("neighbours.f90", ranks=3)[0] == lines("""
        cart_create dims=3,1
        irecv comm=2 peer=2 tag=32767 count=1 size=4
        irecv slot=1 comm=2 peer=1 tag=32767 count=1 size=4
        isend slot=2 comm=2 peer=2 tag=32767 count=1 size=4
        isend slot=3 comm=2 peer=1 tag=32767 count=1 size=4
        waitall slots=0,1,2,3
        irecv comm=2 peer=2 tag=32767 count=1 size=4
        irecv slot=1 comm=2 peer=1 tag=32767 count=1 size=4
        isend slot=2 comm=2 peer=2 tag=32767 count=1 size=4
        isend slot=3 comm=2 peer=1 tag=32767 count=1 size=4
        waitall slots=0,1,2,3
        comm_split
        irecv comm=3 peer=1 tag=32767 count=1 size=4
        irecv slot=1 comm=3 peer=2 tag=32767 count=1 size=4
        isend slot=2 comm=3 peer=1 tag=32767 count=1 size=4
        isend slot=3 comm=3 peer=2 tag=32767 count=1 size=4
        waitall slots=0,1,2,3
        comm_free comm=3
        finalize""")


def test_matched_probes_are_a_probe_and_a_receive(record: Record) -> None:
    assert record("matched_smpi.c")[1] == lines("""
        probe tag=2
        recv tag=2 count=4 size=4
        probe tag=1
        recv tag=1 count=4 size=4
        probe tag=3
        recv tag=3 count=4 size=4
        finalize""")


def test_a_message_that_was_found_is_not_that_of_a_later_receive(record: Record) -> None:
    assert record("probed_first.c")[1] == CLAIMED


@pytest.mark.parametrize(("program", "size"), [("borders.c", 200000), ("borders.f90", 1)])
def test_requests_with_nobody_are_over_and_freed_sends_go_on(
    record: Record, program: str, size: int
) -> None:
    first, second = record(program)
    waits = [name for name in (line.split()[0] for line in first) if name == "wait"]
    assert len(waits) == 2
    kind = f"count={size} size={1 if size > 1 else 4}"
    assert first[-4:] == [f"isend peer=1 tag=2 {kind}", "request_free", "barrier", "finalize"]
    assert second[-3:] == ["barrier", f"recv tag=2 {kind}", "finalize"]


def test_any_of_several_requests_is_found(record: Record) -> None:
    for operations in record("testany.c"):
        assert [line.split()[0] for line in operations if line != "match"] == [
            *("isend", "ibarrier", "irecv"),
            *("wait", "wait", "wait"),
            "finalize",
        ]
    assert record("requests.f90")[0][-3:] == lines("""
        probe peer=1 tag=7
        recv peer=1 tag=7 count=1 size=4
        finalize""")
