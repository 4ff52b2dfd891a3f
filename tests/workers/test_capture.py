"""Captures: what they leave, what they refuse, and what they do not let out."""

import hashlib
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from searchspace.builtins import BUILTINS
from searchspace.errors import InvalidInput
from searchspace.formats.measured import ELSEWHERE
from searchspace.formats.operations import decode
from searchspace.formats.trace import read_operations, validate
from tests.processes import are_running
from workers import capture_sandbox
from workers.capture import APPLICATIONS, CaptureFailed, Limits, capture, capture_builtin
from workers.capture_build import WRAPPERS

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests/workers/recorder/programs"


def fail(way: str, output: Path, *, limits: Limits | None = None, ranks: int = 2) -> None:
    command = [str(PROGRAMS / "failing.c"), way]
    capture(command, ranks, output, declared_flops=True, limits=limits)


def test_a_capture_is_a_valid_trace_that_says_where_it_came_from(tmp_path: Path) -> None:
    trace = tmp_path / "t.ht"
    (tmp_path / "input.txt").write_text("3")
    header = capture(
        [str(PROGRAMS / "hello.cpp"), "4"],
        3,
        trace,
        declared_flops=True,
        inputs=[tmp_path / "input.txt"],
    )
    assert validate(trace) == header
    assert (header.ranks, header.program, header.arguments) == (3, "hello", ("4",))
    assert header.captured_by.startswith("smpi ")
    assert header.host_speed is None
    bcast, _ = decode(read_operations(trace, 2))
    assert bcast.fields == {"comm": 0, "root": 0, "count": 7, "size": 1}


def test_measured_computation_counts_only_the_rank_that_computes(tmp_path: Path) -> None:
    trace = tmp_path / "t.ht"
    header = capture([str(PROGRAMS / "measured.c")], 3, trace, host_speed=1e9)
    assert header.host_speed == 1e9

    def computed(rank: int) -> float:
        operations = decode(read_operations(trace, rank))
        stretches: list[Any] = [op.fields["flops"] for op in operations if op.name == "compute"]
        return sum(map(float, stretches))

    flops = [computed(rank) for rank in range(3)]
    assert flops[1] > 20 * max(flops[0], flops[2])
    assert header.measured is not None
    assert header.measured.seconds == pytest.approx(sum(flops) / 1e9, rel=1e-5)
    # To the barrier and to the end, in each rank.
    assert header.measured.stretches == 6
    assert header.measured.uncertainty == pytest.approx(ELSEWHERE, abs=0.01)


def test_the_recorders_own_looks_at_the_clock_are_no_computation(tmp_path: Path) -> None:
    trace, looks = tmp_path / "t.ht", 5000
    header = capture([str(PROGRAMS / "looks.c"), str(looks)], 1, trace, host_speed=1e9)
    assert header.measured is not None
    assert header.measured.stretches == looks + 1
    operations = list(decode(read_operations(trace, 0)))
    computed = [float(op.fields["flops"]) / 1e9 for op in operations if op.name == "compute"]  # type: ignore[arg-type]
    stretches = computed + [0.0] * (looks + 1 - len(computed))
    assert statistics.median(stretches) < header.measured.empty_stretch
    assert header.measured.uncertainty > 0.2


def test_flops_are_measured_or_declared_but_not_both(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="declares its flops"):
        capture([str(PROGRAMS / "measured.c"), "declare"], 2, tmp_path / "t.ht", host_speed=1e9)


def test_a_program_made_by_the_wrapper_compilers_is_captured_and_runs_alone(tmp_path: Path) -> None:
    program = tmp_path / "share"
    for name in ("old.f", "old_parts.f"):
        shutil.copy(PROGRAMS / name, tmp_path)
    wrapper = str(WRAPPERS / "hamtune-mpif77")
    for name in ("old", "old_parts"):
        subprocess.run([wrapper, "-c", f"{name}.f", "-o", f"{name}.o"], cwd=tmp_path, check=True)
    subprocess.run([wrapper, "old.o", "old_parts.o", "-o", program], cwd=tmp_path, check=True)
    header = capture([str(program)], 2, tmp_path / "t.ht", declared_flops=True)
    assert header.program == "share"
    assert [(block.operations, block.ranks) for block in header.calls] == [(2, 2)]


def test_a_program_without_the_recorder_is_refused(tmp_path: Path) -> None:
    program = tmp_path / "plain"
    subprocess.run(["smpicc", PROGRAMS / "datatypes.c", "-o", program], check=True)
    with pytest.raises(InvalidInput, match="plain has no recorder in it"):
        capture([str(program)], 2, tmp_path / "t.ht")


@pytest.mark.parametrize(
    "call",
    [
        "MPI_Win_create",
        "MPI_Request_get_status",
        "MPI_Put",
        "MPI_Cancel",
        "MPI_Ineighbor_alltoallw",
        "MPI_File_open",
        "smpi_execute",
    ],
)
def test_a_call_that_no_trace_can_hold_is_named(call: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=f"command: {call} is not supported"):
        capture([str(PROGRAMS / "unsupported.c"), call], 2, tmp_path / "t.ht", declared_flops=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ("truncate", "MPI_Recv failed"),
        ("no-topology", "a collective of neighbours failed"),
    ],
)
def test_a_run_with_an_mpi_error_is_refused(way: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=message):
        fail(way, tmp_path / "t.ht")


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ("without-mpi", "rank 0 did not call MPI_Init"),
        ("no-finalize", "rank 1 did not call MPI_Finalize"),
        ("deadlock", "the program deadlocks: ranks 0 to 1 are waiting in MPI_Recv"),
        ("poll", "no rank of the program gets on: rank 0 is polling with MPI_Iprobe, rank 1 is w"),
        ("gone", "deadlocks: rank 0 is waiting in MPI_Barrier, rank 1 is gone without MPI_Fin"),
        ("crash", r"status 139 \(Segmentation fault\) in rank 1, whose last call was MPI_Barrier"),
        ("type", r"MPI_Type_vector failed with MPI_ERR_COUNT: param 1 \(count\) cannot be neg"),
        ("abort", "the pressure is negative"),
        ("mpi-abort", "the program called MPI_Abort(?!: rank)"),
        ("status", "failing ended with status 3"),
    ],
)
def test_a_run_that_fails_says_how(way: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(CaptureFailed, match=message) as caught:
        fail(way, tmp_path / "t.ht")
    assert "hamtune-capture-" not in str(caught.value)
    assert "Switch to algorithm" not in caught.value.log
    assert "src/" not in caught.value.log
    assert "Backtrace" not in caught.value.log
    assert not list(tmp_path.iterdir())


def test_a_source_that_does_not_compile_shows_the_compilers_words(tmp_path: Path) -> None:
    source = tmp_path / "wrong.c"
    source.write_text("int main(void) { return nothing; }\n")
    with pytest.raises(CaptureFailed, match=r"wrong\.c does not compile") as caught:
        capture([str(source)], 1, tmp_path / "t.ht")
    assert "'nothing' undeclared" in caught.value.log or "‘nothing’ undeclared" in caught.value.log
    assert "hamtune-capture-" not in caught.value.log


def test_endless_and_greedy_programs_meet_their_limits(tmp_path: Path) -> None:
    with pytest.raises(CaptureFailed, match="did not end within 2 seconds"):
        fail("endless", tmp_path / "t.ht", limits=Limits(wall_seconds=2))
    with pytest.raises(CaptureFailed, match="no call of MPI for 1 seconds: rank 0 is computing"):
        fail("endless", tmp_path / "t.ht", limits=Limits(stall_seconds=1))
    with pytest.raises(CaptureFailed, match=r"did nothing for 1 seconds.*: rank 0 is computing"):
        fail("asleep", tmp_path / "t.ht", limits=Limits(idle_seconds=1))
    with pytest.raises(CaptureFailed, match="the run used more than 1 GiB of memory"):
        fail("memory", tmp_path / "t.ht", limits=Limits(memory_bytes=1 << 30))


def test_the_sandbox_hides_other_files_and_makes_the_system_read_only(tmp_path: Path) -> None:
    with pytest.raises(CaptureFailed, match="failing ended with status 7"):
        fail("write-outside", tmp_path / "t.ht", ranks=1)
    source = tmp_path / "program" / "peek.c"
    source.parent.mkdir()
    source.write_text(
        "#include <mpi.h>\n#include <stdio.h>\n"
        "int main(int argc, char **argv) {\n"
        '  MPI_Init(&argc, &argv);\n  FILE *file = fopen(argv[1], "r");\n'
        "  MPI_Finalize();\n  return file == NULL ? 5 : 0;\n}\n"
    )
    secret = tmp_path / "secret"
    secret.write_text("s")
    with pytest.raises(CaptureFailed, match="peek ended with status 5"):
        capture([str(source), str(secret)], 1, tmp_path / "t.ht", declared_flops=True)
    capture([str(source), str(secret)], 1, tmp_path / "t.ht", declared_flops=True, sandbox=False)


def test_where_bubblewrap_cannot_run_the_switch_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture_sandbox, "confinement_problem", lambda: "no user namespaces")
    with pytest.raises(CaptureFailed, match=r"\(no user namespaces\).*--no-sandbox"):
        fail("status", tmp_path / "t.ht")


@pytest.mark.parametrize(
    ("command", "ranks", "message"),
    [
        ([], 2, "command: give source files or a program"),
        (["nowhere.c"], 2, "command: there is no source file nowhere.c"),
        (["./nowhere"], 2, "command: there is no program nowhere"),
        ([str(PROGRAMS / "datatypes.c")], 0, "ranks: must be from 1 to 65536"),
        ([str(PROGRAMS / "datatypes.c"), "a b"], 2, "the argument 'a b' cannot be handed"),
        ([str(PROGRAMS / "datatypes.c"), "--cfg=x:1"], 2, "the argument '--cfg=x:1' cannot"),
    ],
)
def test_wrong_use_is_refused(command: list[str], ranks: int, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=message):
        capture(command, ranks, tmp_path / "t.ht", declared_flops=True)


@pytest.mark.parametrize("sandbox", [True, False])
def test_a_killed_capture_takes_its_children_with_it(sandbox: bool, tmp_path: Path) -> None:
    source = tmp_path / f"endless{os.getpid()}{sandbox}.c"
    shutil.copy(PROGRAMS / "failing.c", source)
    script = (
        "import sys; from pathlib import Path; from workers.capture import capture\n"
        f"capture([{str(source)!r}, 'endless'], 2, Path('t.ht'), declared_flops=True,"
        f" sandbox={sandbox})"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    starter = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, env=environment)
    mark = f"/{source.stem}"
    wait_until(lambda: are_running("smpimain", mark))
    starter.send_signal(signal.SIGKILL)
    starter.wait()
    wait_until(lambda: not are_running(mark))


def wait_until(condition: object) -> None:
    assert callable(condition)
    deadline = time.monotonic() + 300.0
    while not condition():
        assert time.monotonic() < deadline, "it did not happen within 300 seconds"
        time.sleep(0.05)


def test_a_builtin_program_leaves_the_same_trace_each_time(tmp_path: Path) -> None:
    digests = set()
    for name in ("a.ht", "b.ht"):
        header = capture_builtin("cg", "S", 4, {}, tmp_path / name)
        digests.add(hashlib.sha256((tmp_path / name).read_bytes()).hexdigest())
    assert len(digests) == 1
    assert (header.program, header.arguments, header.host_speed) == ("cg", ("S",), None)


def test_a_builtin_program_does_not_hold_the_path_of_the_checkout() -> None:
    """Stored captures are known by its bytes, which are to be the same wherever it was built."""
    built = [ROOT / "build/applications" / program for program in BUILTINS]
    assert len(built) > 10
    assert not [path.name for path in built if str(ROOT).encode() in path.read_bytes()]


def test_a_builtin_program_says_what_it_cannot_do(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"no built-in program 'hpl'; allowed: .*cg, "):
        capture_builtin("hpl", "S", 4, {}, tmp_path / "t.ht")
    with pytest.raises(InvalidInput, match="application: class S needs a power of two"):
        capture_builtin("cg", "S", 3, {}, tmp_path / "t.ht")


def test_a_builtin_program_that_is_not_built_is_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.capture.APPLICATIONS", tmp_path / "applications")
    with pytest.raises(CaptureFailed, match=r"program cg is not built; run \./setup\.sh"):
        capture_builtin("cg", "S", 4, {}, tmp_path / "t.ht")


def test_the_recorder_does_not_change_simulated_time(tmp_path: Path) -> None:
    hosts = [f"h{rank}" for rank in range(4)]
    (tmp_path / "hosts").write_text("\n".join(hosts))
    (tmp_path / "platform.xml").write_text(
        '<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
        '<platform version="4.1"><cluster id="c" prefix="h" suffix="" radical="0-3" speed="1Gf"'
        ' bw="1GBps" lat="1us"/></platform>'
    )
    sources = [*(APPLICATIONS / "mg").glob("*.c"), *(APPLICATIONS / "common").glob("*.c")]
    flags = ["-O2", "-DHAMTUNE_DECLARE_FLOPS", f"-I{APPLICATIONS}", "-lm"]
    command = ["smpirun", "-np", "4", "-platform", "platform.xml", "-hostfile", "hosts"]
    command += ["--cfg=smpi/simulate-computation:no", "--cfg=smpi/display-timing:yes"]
    reports: list[list[str]] = []
    for compiler in ("smpicc", str(WRAPPERS / "hamtune-mpicc")):
        subprocess.run([compiler, *sources, *flags, "-o", tmp_path / "mg"], check=True)
        recording = tmp_path / f"recording-{len(reports)}"
        recording.mkdir()
        run = subprocess.run(
            [*command, "./mg", "S"],
            cwd=tmp_path,
            env={**os.environ, "HAMTUNE_RECORD_DIRECTORY": str(recording)},
            capture_output=True,
            text=True,
            check=True,
        )
        reports.append(
            [line for line in run.stdout.splitlines() if "Time" in line]
            + [
                line.split("Simulated time: ")[1].split(".The")[0]
                for line in run.stderr.splitlines()
                if "Simulated time: " in line
            ]
        )
    assert len(list(recording.glob("rank-*"))) == 8
    assert len(reports[0]) == 2
    assert reports[0] == reports[1]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "f08.f90",
            "program f\nuse mpi_f08\ncall mpi_init()\nend program\n",
            "module mpi_f08 is not",
        ),
        ("main.py", "from mpi4py import MPI\n", r"main\.py: scripts cannot run under SMPI"),
    ],
)
def test_what_only_smpi_cannot_run_is_refused_with_the_way_out(
    name: str, text: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises((InvalidInput, CaptureFailed), match=f"{message}.*hamtune recorder"):
        capture([str(tmp_path / name)], 2, tmp_path / "t.ht")


def test_headers_and_members_that_meet_smpis_macros_compile(tmp_path: Path) -> None:
    source = tmp_path / "memory.cpp"
    source.write_text(
        "#include <mpi.h>\n#include <malloc.h>\n#include <cstdlib>\n"
        "struct Pool {\n  void *malloc(int n) { return std::malloc(n); }\n"
        "  void free(void *p) { std::free(p); }\n};\n"
        "int main(int argc, char **argv) {\n  MPI_Init(&argc, &argv);\n  Pool pool;\n"
        "  pool.free(pool.malloc(8));\n  free(memalign(64, 64));\n  MPI_Finalize();\n}\n"
    )
    capture([str(source)], 2, tmp_path / "t.ht", declared_flops=True)
