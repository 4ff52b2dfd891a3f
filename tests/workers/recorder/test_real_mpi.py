"""The recorder preloaded into real runs of Open MPI and MPICH records what it does under SMPI."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from searchspace.errors import InvalidInput
from searchspace.formats.operations import decode, encode
from searchspace.formats.trace import read_header, read_operations
from searchspace.kernels import trace_summary, traffic_matrix
from tests.workers.recorder.conftest import CLAIMED, PROGRAMS, line
from tests.workers.simulator.runs import answer_of, on_a_line, write_program
from workers.capture import APPLICATIONS, capture, capture_builtin
from workers.merge import merge
from workers.recorder_build import LIBRARY, build_recorder

Run = Callable[..., Path]

STARTERS = {
    "openmpi": ("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"),
    "mpich": ("mpirun.mpich",),
}
MPIS = sorted(STARTERS)
_NOT_CALLS = ("compute", "finalize")


@pytest.fixture(scope="session")
def run_recorded(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs a program with the recorder preloaded; returns the directory that it recorded into."""
    built = tmp_path_factory.mktemp("real")

    @cache
    def recorder(mpi: str) -> Path:
        build_recorder(f"mpicc.{mpi}", built / mpi)
        return built / mpi / LIBRARY

    @cache
    def program(mpi: str, sources: tuple[Path, ...]) -> Path:
        compiler = "mpif90" if sources[0].suffix == ".f90" else "mpicc"
        target = built / f"{mpi}-{sources[0].stem}"
        command = [f"{compiler}.{mpi}", "-w", "-O1", f"-I{APPLICATIONS}", "-J", str(built)]
        command = command if compiler == "mpif90" else command[:-2]
        subprocess.run([*command, *map(str, sources), "-o", str(target), "-lm"], check=True)
        return target

    def run(
        mpi: str,
        ranks: int,
        *sources: Path,
        arguments: tuple[str, ...] = (),
        host_speed: str = "2e9",
        recorder_of: str | None = None,
    ) -> Path:
        recording = tmp_path_factory.mktemp("recording")
        environment = os.environ | {
            "LD_PRELOAD": str(recorder(recorder_of or mpi)),
            "HAMTUNE_RECORD_DIRECTORY": os.path.relpath(recording),
            "HAMTUNE_RECORD_HOST_SPEED": host_speed,
        }
        settings = [
            f"{name}={environment[name]}" for name in environment if name[:4] in ("LD_P", "HAMT")
        ]
        command = [*STARTERS[mpi], "-np", str(ranks), "env", *settings]
        command += [str(program(mpi, sources)), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=200)
        said_of(recording).write_text(done.stderr)
        return recording

    return run


def said_of(recording: Path) -> Path:
    """Where a run left what it said on standard error."""
    return recording.with_suffix(".said")


def calls(trace: Path) -> list[list[str]]:
    """The operations of each rank but its computations."""
    return [
        [line(op) for op in decode(read_operations(trace, rank)) if op.name != "compute"]
        for rank in range(trace_summary(trace)["ranks"])
    ]


def sources_of(builtin: str) -> tuple[Path, ...]:
    return (
        APPLICATIONS / builtin / f"{builtin}.c",
        *sorted((APPLICATIONS / "common").glob("*.c")),
    )


@pytest.fixture(scope="session")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str, int], Path]:
    """Captures a program once a session."""

    @cache
    def capture_once(program: str, size: str, ranks: int) -> Path:
        trace = tmp_path_factory.mktemp("captured") / "t.ht"
        order = {"order": int(size)} if program == "mm" else {}
        capture_builtin(program, None if program == "mm" else size, ranks, order, trace)
        return trace

    return capture_once


def without_computation(trace: Path, target: Path) -> Path:
    """The calls of a trace alone, whose replay takes the same time wherever they were recorded."""
    ranks = []
    for rank in range(trace_summary(trace)["ranks"]):
        kept = decode(read_operations(trace, rank))
        ranks.append([encode(op.name, **op.fields) for op in kept if op.name not in _NOT_CALLS])
    return write_program(target, ranks)


# Some of each; `benchmarks.recorder matrix` goes through all programs and numbers of ranks.
@pytest.mark.parametrize(
    ("mpi", "program", "size", "ranks"),
    [
        ("openmpi", "cg", "S", 4),
        ("openmpi", "ft", "S", 4),
        ("openmpi", "is", "S", 16),
        ("mpich", "mg", "S", 4),
        ("mpich", "is", "S", 16),
        ("mpich", "mm", "100", 9),
    ],
)
def test_a_real_run_records_the_calls_messages_and_bytes_of_the_capture(
    run_recorded: Run,
    captured: Callable[[str, str, int], Path],
    tmp_path: Path,
    mpi: str,
    program: str,
    size: str,
    ranks: int,
) -> None:
    real, simulated = tmp_path / "real.ht", captured(program, size, ranks)
    header = merge(run_recorded(mpi, ranks, *sources_of(program), arguments=(size,)), real)

    assert header.host_speed == 2e9
    assert header.measured is not None
    assert trace_summary(real)["flops"] == pytest.approx(2e9 * header.measured.seconds, rel=1e-5)
    assert trace_summary(real)["calls"] == trace_summary(simulated)["calls"]
    assert np.array_equal(traffic_matrix(real), traffic_matrix(simulated))
    assert calls(real) == calls(simulated)


def test_a_merged_trace_takes_the_time_of_its_capture(
    run_recorded: Run, captured: Callable[[str, str, int], Path], tmp_path: Path
) -> None:
    real, simulated = tmp_path / "real.ht", captured("mg", "S", 4)
    merge(run_recorded("openmpi", 4, *sources_of("mg"), arguments=("S",)), real)
    request = on_a_line(0, 1, 2, 3)

    measured = answer_of(real, request)
    assert measured["status"] == "completed"

    calls_alone = [
        answer_of(without_computation(trace, tmp_path / f"{number}.ht"), request)
        for number, trace in enumerate((real, simulated))
    ]
    assert calls_alone[0]["simulated_time"] == calls_alone[1]["simulated_time"]
    assert 0 < calls_alone[0]["simulated_time"] < measured["simulated_time"]


@pytest.mark.parametrize("mpi", MPIS)
@pytest.mark.parametrize(
    "name", ["requests.c", "persistent.c", "collectives.c", "forms.f90", "groups.c"]
)
def test_every_form_of_call_is_recorded_as_under_smpi(
    run_recorded: Run, tmp_path: Path, mpi: str, name: str
) -> None:
    real, simulated = tmp_path / "real.ht", tmp_path / "simulated.ht"
    ranks = {"collectives.c": 3, "groups.c": 4}.get(name, 2)
    merge(run_recorded(mpi, ranks, PROGRAMS / name), real)
    capture([str(PROGRAMS / name)], ranks, simulated, declared_flops=True)
    assert calls(real) == calls(simulated)


@pytest.mark.parametrize("mpi", MPIS)
def test_programs_of_the_module_mpi_f08(run_recorded: Run, tmp_path: Path, mpi: str) -> None:
    trace = tmp_path / "real.ht"
    merge(run_recorded(mpi, 2, PROGRAMS / "module_f08.f90"), trace)
    assert calls(trace)[0] == [
        "sendrecv to=1 send_tag=1 send_count=4 send_size=4 "
        "from=1 recv_tag=1 recv_count=4 recv_size=4",
        "irecv peer=-2 tag=2 count=4 size=4",
        "isend slot=1 peer=1 tag=2 count=4 size=4",
        "match peer=1 tag=2",
        "waitall slots=0,1",
        "irecv peer=1 tag=3 count=2 size=4",
        "send peer=1 tag=3 count=2 size=4",
        "wait",
        "comm_split",
        "allreduce comm=2 count=4 size=4 flags=1",
        "barrier comm=2",
        "comm_free comm=2",
        "finalize",
    ]


@pytest.mark.parametrize("mpi", MPIS)
def test_a_call_that_no_trace_can_hold_is_named_at_the_merge(
    run_recorded: Run, tmp_path: Path, mpi: str
) -> None:
    recording = run_recorded(mpi, 2, PROGRAMS / "window.c")
    with pytest.raises(InvalidInput, match="was not recorded: MPI_Win_create is not supported"):
        merge(recording, tmp_path / "real.ht")


@pytest.mark.parametrize("mpi", MPIS)
def test_a_program_that_hides_the_recorders_functions_is_not_recorded_without_them(
    run_recorded: Run, tmp_path: Path, mpi: str
) -> None:
    recording = run_recorded(mpi, 2, PROGRAMS / "profiles.c")
    with pytest.raises(InvalidInput, match=r"not recorded: MPI_Send is defined in \S*profiles too"):
        merge(recording, tmp_path / "real.ht")


def test_the_recorder_of_another_library_says_so(run_recorded: Run) -> None:
    for mpi, other in (("openmpi", "mpich"), ("mpich", "openmpi")):
        said = said_of(run_recorded(mpi, 1, PROGRAMS / "blocking.c", recorder_of=other)).read_text()
        assert "hamtune-recorder: the recorder was built with" in said
        assert "hamtune recorder build --mpicc" in said


# Open MPI 4 has no counts of 64 bits.
@pytest.mark.parametrize("call", ["Allreduce_c", "Allreduce_init_c", "Isendrecv_c", "Win_create_c"])
def test_counts_of_64_bits_are_named_at_the_merge(
    run_recorded: Run, tmp_path: Path, call: str
) -> None:
    recording = run_recorded("mpich", 2, PROGRAMS / "large_counts.c", arguments=(f"MPI_{call}",))
    with pytest.raises(InvalidInput, match=f"was not recorded: MPI_{call} is not supported"):
        merge(recording, tmp_path / "real.ht")


@pytest.mark.parametrize("mpi", MPIS)
def test_a_program_that_asked_has_waited(run_recorded: Run, tmp_path: Path, mpi: str) -> None:
    trace = tmp_path / "real.ht"
    merge(run_recorded(mpi, 2, PROGRAMS / "asks.c"), trace)
    assert calls(trace)[1] == [
        "irecv peer=-2 tag=1 count=1 size=4",
        "match tag=1",
        "wait",
        "send tag=2 count=1 size=4",
        "finalize",
    ]


# SMPI has no matched probes.
@pytest.mark.parametrize("mpi", MPIS)
def test_matched_probes_are_receives_of_what_they_found(
    run_recorded: Run, tmp_path: Path, mpi: str
) -> None:
    trace = tmp_path / "real.ht"
    merge(run_recorded(mpi, 2, PROGRAMS / "matched.c"), trace)
    assert calls(trace)[1] == [
        "probe tag=2",
        "recv tag=2 count=4 size=4",
        "probe tag=1",
        "irecv tag=1 count=4 size=4",
        "wait",
        "probe tag=3",
        "recv tag=3 count=4 size=4",
        "finalize",
    ]


@pytest.mark.parametrize("mpi", MPIS)
def test_a_message_that_was_found_is_not_that_of_a_later_receive(
    run_recorded: Run, tmp_path: Path, mpi: str
) -> None:
    trace = tmp_path / "real.ht"
    merge(run_recorded(mpi, 2, PROGRAMS / "probed_first.c"), trace)
    assert calls(trace)[1] == CLAIMED
    assert answer_of(trace, on_a_line(0, 1))["status"] == "completed"


# Under SMPI, which has none, by the recorder's own.
@pytest.mark.parametrize("mpi", [*MPIS, "smpi"])
def test_collectives_of_neighbours_are_their_messages(
    run_recorded: Run, tmp_path: Path, mpi: str
) -> None:
    trace = tmp_path / "real.ht"
    if mpi == "smpi":
        capture([str(PROGRAMS / "neighbours.c")], 3, trace, declared_flops=True)
    else:
        merge(run_recorded(mpi, 3, PROGRAMS / "neighbours.c"), trace)

    def messages(comm: int, sources: list[int], targets: list[int], what: str) -> list[str]:
        ends = [("irecv", peer) for peer in sources] + [("isend", peer) for peer in targets]
        slots = [f" slot={slot}" if slot else "" for slot in range(len(ends))]
        return [
            f"{name}{slot} comm={comm}{f' peer={peer}' if peer else ''} tag=32767 {what}"
            for (name, peer), slot in zip(ends, slots, strict=True)
        ] + [f"waitall slots={','.join(map(str, range(len(ends))))}"]

    pair, integer = "count=2 size=8", "count=1 size=4"
    assert calls(trace)[0] == [
        *("cart_create dims=3,0", *messages(2, [1], [1], pair)),
        *("comm_split", *messages(3, [1], [1], integer) * 2),
        *("comm_split", *messages(4, [2], [1], integer) * 2, "comm_free comm=4"),
        *("comm_split", *messages(5, [2], [1], integer), "finalize"),
    ]
    assert calls(trace)[1][1:6] == messages(2, [0, 2], [0, 2], pair)
    assert calls(trace)[2][4:6] == ["comm_split color=-1", "comm_split key=2"]
    answer = answer_of(trace, on_a_line(0, 1, 2))
    assert answer["status"] == "completed"


@pytest.mark.parametrize("mpi", [*MPIS, "smpi"])
def test_what_goes_down_a_round_axis_of_two_ranks_comes_from_above(
    run_recorded: Run, tmp_path: Path, mpi: str
) -> None:
    trace = tmp_path / "real.ht"
    if mpi == "smpi":
        capture([str(PROGRAMS / "torus.c")], 2, trace, declared_flops=True)
    else:
        merge(run_recorded(mpi, 2, PROGRAMS / "torus.c"), trace)

    def messages(*lengths: int) -> list[str]:
        ends = [
            f"{name}{{slot}} comm=2{peer} tag=32767 count={length} size=4"
            for name in ("irecv", "isend")
            for length, peer in zip(lengths, (" peer=1", " peer=1", "", ""), strict=True)
        ]
        return [
            *(end.format(slot=f" slot={slot}" if slot else "") for slot, end in enumerate(ends)),
            "waitall slots=0,1,2,3,4,5,6,7",
        ]

    exchanges = [*messages(1, 1, 1, 1), *messages(1, 2, 3, 4)]
    assert calls(trace)[0][1:] == [*exchanges, *exchanges, "finalize"]
    assert answer_of(trace, on_a_line(0, 1))["status"] == "completed"


# It cannot wait for a request that was cancelled.
@pytest.mark.parametrize("mpi", MPIS)
def test_a_receive_that_is_cancelled_in_vain_is_one_from_nobody(
    run_recorded: Run, tmp_path: Path, mpi: str
) -> None:
    trace = tmp_path / "real.ht"
    merge(run_recorded(mpi, 2, PROGRAMS / "cancel.c"), trace)
    assert calls(trace)[0] == [
        *("barrier", "irecv peer=-2 tag=5 count=1 size=4", "match peer=-1", "wait"),
        *("probe peer=1 tag=6", "irecv peer=1 tag=6 count=1 size=4", "wait"),
        *("irecv peer=1 tag=7 count=1 size=4", "match peer=-1", "request_free", "finalize"),
    ]
    assert answer_of(trace, on_a_line(0, 1))["status"] == "completed"


@pytest.mark.parametrize("mpi", [*MPIS, "smpi"])
def test_what_completes_later(run_recorded: Run, tmp_path: Path, mpi: str) -> None:
    trace = tmp_path / "real.ht"
    if mpi == "smpi":
        capture([str(PROGRAMS / "later.c")], 3, trace, declared_flops=True)
    else:
        merge(run_recorded(mpi, 3, PROGRAMS / "later.c"), trace)

    def messages(first: int, *counts: int) -> list[str]:
        ends = [("irecv", 2), ("irecv", 1), ("isend", 2), ("isend", 1)]
        return [
            f"{name}{f' slot={slot}' if slot else ''} comm=3 peer={peer} tag=32767 "
            f"count={count} size=4"
            for slot, ((name, peer), count) in enumerate(zip(ends, counts, strict=True), first)
        ]

    assert calls(trace)[0] == [
        *("comm_dup", "barrier comm=2", "cart_create dims=3,1"),
        *(*messages(0, 2, 2, 2, 2), *messages(4, 2, 1, 1, 2), "waitall slots=0,1,2,3,4,5,6,7"),
        *(*messages(0, 1, 1, 1, 1), "waitall slots=0,1,2,3") * 2,
        "finalize",
    ]
    assert answer_of(trace, on_a_line(0, 1, 2))["status"] == "completed"


@pytest.mark.parametrize("mpi", MPIS)
def test_ranks_of_one_machine_share_it(run_recorded: Run, tmp_path: Path, mpi: str) -> None:
    trace = tmp_path / "real.ht"
    merge(run_recorded(mpi, 2, PROGRAMS / "shared.c"), trace)
    assert calls(trace)[1] == [
        *("comm_split key=1", "barrier comm=2", "comm_split color=1", "barrier comm=3", "finalize")
    ]


@pytest.mark.parametrize("mpi", MPIS)
def test_a_program_may_go_to_another_folder(run_recorded: Run, tmp_path: Path, mpi: str) -> None:
    trace = tmp_path / "real.ht"
    merge(run_recorded(mpi, 2, PROGRAMS / "away.c"), trace)
    assert calls(trace) == [["barrier", "finalize"]] * 2


def test_the_speed_of_a_core_may_have_a_unit(run_recorded: Run, tmp_path: Path) -> None:
    trace = tmp_path / "real.ht"
    merge(run_recorded("mpich", 1, PROGRAMS / "away.c", host_speed="2.5Gf"), trace)
    assert read_header(trace).host_speed == 2.5e9


@pytest.mark.parametrize(
    "speed", ["fast", "2,5e9", "2e9 x", "0x10", "5", "-2e9", "1e300", "inf", "nan", "", "2GB"]
)
def test_a_speed_that_no_core_has_ends_the_run(
    run_recorded: Run, tmp_path: Path, speed: str
) -> None:
    recording = run_recorded("mpich", 1, PROGRAMS / "away.c", host_speed=speed)
    with pytest.raises(InvalidInput, match="HAMTUNE_RECORD_HOST_SPEED must be the speed of a core"):
        merge(recording, tmp_path / "real.ht")


@pytest.mark.parametrize("mpi", MPIS)
def test_a_datatype_of_two_gigabytes_is_named(run_recorded: Run, tmp_path: Path, mpi: str) -> None:
    recording = run_recorded(mpi, 1, PROGRAMS / "away.c", arguments=("3221225472",))
    with pytest.raises(InvalidInput, match="a datatype of 2 GiB or more"):
        merge(recording, tmp_path / "real.ht")


def test_ranks_that_are_missing_or_did_not_finish_are_named(
    run_recorded: Run, tmp_path: Path
) -> None:
    recording = run_recorded("openmpi", 4, *sources_of("is"), arguments=("S",))
    (recording / "rank-1.operations.count").unlink()
    for file in recording.glob("rank-3.*"):
        file.unlink()
    with pytest.raises(
        InvalidInput, match="of 4 ranks rank 3 left no file; rank 1 did not reach MPI_Finalize"
    ):
        merge(recording, tmp_path / "real.ht")


def test_a_directory_without_a_recording_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="LD_PRELOAD"):
        merge(tmp_path, tmp_path / "real.ht")


@pytest.mark.parametrize(
    "text", ["", "ranks 2\n", "ranks 0\nspeed 1\nlibrary x\n", "ranks 2\nspeed 1e-e\nlibrary x\n"]
)
def test_damaged_descriptions_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "rank-0.run").write_text(text)
    with pytest.raises(InvalidInput, match=r"rank-0\.run"):
        merge(tmp_path, tmp_path / "real.ht")
