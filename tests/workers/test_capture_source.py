"""Programs of users: what ordinary makefiles build is captured, and what goes wrong is told."""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from searchspace.errors import InvalidInput
from searchspace.formats.source_archive import pack
from searchspace.formats.trace import TraceHeader, validate
from searchspace.kernels import TraceSummary, trace_summary
from tests.processes import are_running
from workers.capture_build import WRAPPERS
from workers.capture_limits import Limits
from workers.capture_run import Measure
from workers.capture_sandbox import CaptureFailed
from workers.capture_source import SourceProgram, capture_source

SOURCES = Path(__file__).parent / "sources"
ONE_FILE = "mpicc -O1 -o program program.c"
# A variable that an ordinary program reaches in a way that a shared object cannot.
GLOBAL = {"global.c": "int verbose; int twice(void) { return 2 * verbose; }\n"}
HEAD = "#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"

Capture = Callable[..., TraceHeader]


@pytest.fixture
def capture(tmp_path: Path) -> Capture:
    """Captures a source tree, a directory or files by name, into t.ht."""

    def run(
        source: Path | Mapping[str, str],
        build: str = ONE_FILE,
        run: str = "program",
        ranks: int = 2,
        *,
        captures: int = 1,
        declared: bool = False,
        limits: Limits | None = None,
        sandbox: bool = True,
    ) -> TraceHeader:
        if not isinstance(source, Path):
            folder = tmp_path / "source"
            folder.mkdir(exist_ok=True)
            for name, text in source.items():
                (folder / name).write_text(text)
            source = folder
        archive = tmp_path / "source.tar.gz"
        pack(source, archive)
        program = SourceProgram(build, run, ranks, Measure(declared, None, captures))
        return capture_source(archive, program, tmp_path / "t.ht", limits=limits, sandbox=sandbox)

    return run


def program(body: str) -> dict[str, str]:
    return {
        "program.c": f"{HEAD}int main(int argc, char **argv)\n{{\n  int rank;\n"
        "  MPI_Init(&argc, &argv);\n  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
        f"{body}\n  MPI_Finalize();\n  return 0;\n}}\n"
    }


def summary(tmp_path: Path) -> TraceSummary:
    return trace_summary(tmp_path / "t.ht")


@pytest.mark.parametrize("sandbox", [True, False])
def test_a_fortran_suite_with_generated_parameters(
    capture: Capture, tmp_path: Path, sandbox: bool
) -> None:
    header = capture(
        SOURCES / "suite", "make ring CLASS=S NPROCS=4", "bin/ring.S.4", 4, sandbox=sandbox
    )
    assert validate(tmp_path / "t.ht") == header
    assert (header.program, header.ranks) == ("ring.S.4", 4)
    assert summary(tmp_path)["calls"] == {
        "bcast": 4, "irecv": 40, "reduce": 4, "send": 40, "waitall": 20, "wtime": 8,
    }  # fmt: skip


def test_a_solver_in_several_cpp_files_with_an_input_file(capture: Capture, tmp_path: Path) -> None:
    header = capture(SOURCES / "solver", "make -j2", "bin/solve solve.dat", 8)
    assert header.arguments == ("solve.dat",)
    found = summary(tmp_path)
    assert found["calls"] == {
        "allreduce": 25 * 8 + 12 * 4, "bcast": 8, "comm_free": 4, "comm_split": 8,
        "irecv": 12 * 20, "isend": 12 * 20, "waitall": 12 * 12,
    }  # fmt: skip
    # Every other rank is on a communicator with planes of a quarter of the size.
    assert found["bytes"] == 12 * 8 * (14 * 16 * 16 + 6 * 8 * 8)
    assert [0, 2, 4, 6] in found["communicators"]["allreduce"]


def test_communicators_of_a_fortran_program_of_free_and_fixed_form(
    capture: Capture, tmp_path: Path
) -> None:
    capture(SOURCES / "grid", "make", "./grid", 6)
    assert summary(tmp_path)["calls"] == {
        "allreduce": 18, "bcast": 36, "cart_create": 6, "cart_sub": 6, "comm_split": 6,
        "sendrecv": 18,
    }  # fmt: skip


@pytest.mark.parametrize(
    "build",
    [
        "mpicc -I/usr/lib/x86_64-linux-gnu/openmpi/include -o program program.c -lmpi -static",
        "mpicc program.c && mv a.out program",
        "mpicc -c program.c && mpif77 program.o -o program -lmpi_mpifh -lmpi",
        "mpicc -c program.c && mpicxx -o program program.o -lmpi_cxx -lmpi",
        "mpicc -c program.c && ar r lib.a program.o && mpicc -o program lib.a",
        "gcc -fPIE -c global.c && mpicc -o program program.c global.o",
    ],
    ids=[
        *("flags of other libraries", "a.out", "linked as Fortran", "linked as C++", "archive"),
        "a library compiled by gcc",
    ],
)
def test_usual_ways_to_link(capture: Capture, tmp_path: Path, build: str) -> None:
    capture(program("  MPI_Barrier(MPI_COMM_WORLD);") | GLOBAL, build)
    assert summary(tmp_path)["calls"] == {"barrier": 2}


@pytest.mark.parametrize("suffix", ["f", "F", "for", "f90", "F90", "f95", "f03"])
def test_suffixes_of_fortran_and_a_main_that_lies_in_an_archive(
    capture: Capture, tmp_path: Path, suffix: str
) -> None:
    text = (
        "      program tiny\n      include 'mpif.h'\n      integer error\n"
        "      call mpi_init(error)\n      call mpi_barrier(MPI_COMM_WORLD, error)\n"
        "      call mpi_finalize(error)\n      end program tiny\n"
    )
    link = "ar r lib.a tiny.o && mpifort -o tiny lib.a"
    capture({f"tiny.{suffix}": text}, f"mpif90 -c tiny.{suffix} && {link}", "tiny")
    assert summary(tmp_path)["calls"] == {"barrier": 2}


def test_a_configure_script_may_run_what_it_compiles(capture: Capture, tmp_path: Path) -> None:
    files = program("  MPI_Barrier(MPI_COMM_WORLD);")
    files["conftest.c"] = "int main(void) { return 0; }\n"
    configure = "mpicc conftest.c && ./a.out && mpicc -o conftest conftest.c && ./conftest"
    pretend = "SMPI_PRETEND_CC=1 mpicc"
    told = f'[ "$({pretend} -print-prog-name=ld)" = ld ] && ! {pretend} -o broken missing.c'
    capture(files, f"{configure} && {told} && {ONE_FILE}")
    assert summary(tmp_path)["calls"] == {"barrier": 2}


@pytest.mark.parametrize("target", ["in_c", "in_fortran"])
def test_cmake_finds_the_compilers_by_itself(capture: Capture, tmp_path: Path, target: str) -> None:
    files = {
        "CMakeLists.txt": """
            cmake_minimum_required(VERSION 3.10)
            project(programs C Fortran)
            find_package(MPI REQUIRED)
            add_library(part STATIC global.c)
            add_executable(in_c program.c)
            target_link_libraries(in_c part MPI::MPI_C)
            add_executable(in_fortran program.f90)
            target_link_libraries(in_fortran MPI::MPI_Fortran)
        """,
        "program.f90": "use mpi; call mpi_init(ierror); call mpi_barrier(mpi_comm_world, ierror)\n"
        "call mpi_finalize(ierror)\nend\n",
    }
    files |= program("  MPI_Barrier(MPI_COMM_WORLD);") | GLOBAL
    capture(files, "cmake -S . -B made && make -C made", f"made/{target}")
    assert summary(tmp_path)["calls"] == {"barrier": 2}


def test_generators_of_random_numbers_in_a_library_of_the_tree_are_taken(
    capture: Capture, tmp_path: Path
) -> None:
    files = program("  if (random() != 45) MPI_Abort(MPI_COMM_WORLD, 1);")
    files["own.c"] = "long random(void) { return 45; }\n"
    capture(files, "mpicc -c own.c && ar r lib.a own.o && mpicc -o program program.c lib.a")
    assert summary(tmp_path)["ranks"] == 2


SHARED = {
    "kept.c": "#include <mpi.h>\nstatic int kept;\n"
    "void keep(void) { MPI_Comm_rank(MPI_COMM_WORLD, &kept); }\n"
    "int is_kept(void) { int rank; MPI_Barrier(MPI_COMM_WORLD);\n"
    "  MPI_Comm_rank(MPI_COMM_WORLD, &rank); return rank == kept; }\n",
    "plain.c": "static int count; int counted(void) { return ++count; }\n",
    "common.c": "int two(void) { return 2; }\n",
    "threads.c": "#include <omp.h>\nint two(void);\n"
    "int threads(void) { return omp_get_num_procs() > 0 ? two() : 0; }\n",
    "text.cpp": '#include <string>\nextern "C" int is_kept(void), two(void);\n'
    'extern "C" int length(void) { return is_kept() * std::to_string(two()).size(); }\n',
}


@pytest.mark.parametrize(
    "build",
    [
        "mpicc -shared -fPIC kept.c -Wl,-soname,libkept.so.1 -o libkept.so.1.0 && "
        "ln -s libkept.so.1.0 libkept.so && "
        "gcc -c plain.c && gcc -shared plain.o -o libplain.so && "
        "gcc -c common.c && ar r common.a common.o && "
        "gcc -shared -Wl,--whole-archive,common.a,--no-whole-archive -o libcommon.so && "
        "mpicc -shared -fopenmp threads.c common.a -o libthreads.so && "
        "mpicxx -shared -fPIC text.cpp common.a -L. -lkept -o libtext.so && "
        "mpicc -o program program.c -L. -Wl,-rpath,'$ORIGIN' -ltext -lplain -lkept "
        "-lcommon -lthreads -lm",
        "cmake -S . -B made -DCMAKE_INSTALL_PREFIX=$PWD/out && make -C made install && "
        "mv out/bin/program .",
        "cmake -S . -B made && make -C made && mkdir .libs && mv made/program .libs && "
        "echo '#!/bin/sh' > program",
    ],
    ids=["by hand", "cmake", "libtool's script"],
)
def test_shared_libraries_of_the_tree_have_the_variables_of_each_rank(
    capture: Capture, tmp_path: Path, build: str
) -> None:
    files = {
        "CMakeLists.txt": """
            cmake_minimum_required(VERSION 3.10)
            project(libraries C CXX)
            find_package(MPI REQUIRED)
            add_library(kept SHARED kept.c)
            set_target_properties(kept PROPERTIES VERSION 1.2 SOVERSION 1)
            target_link_libraries(kept PRIVATE MPI::MPI_C)
            add_library(plain SHARED plain.c)
            add_library(text SHARED text.cpp common.c)
            add_library(threads SHARED threads.c common.c)
            target_compile_options(threads PRIVATE -fopenmp)
            target_link_options(threads PRIVATE -fopenmp)
            target_link_libraries(text PRIVATE kept)
            add_executable(program program.c)
            target_link_libraries(program text plain kept threads MPI::MPI_C)
            install(TARGETS program text plain kept)
        """
    }
    body = (
        "  void keep(void); int is_kept(void), counted(void), length(void), threads(void);\n"
        "  keep(); MPI_Barrier(MPI_COMM_WORLD);\n"
        "  if (!is_kept() || counted() != 1 || length() * threads() != 2)\n"
        "    MPI_Abort(MPI_COMM_WORLD, 1);"
    )
    capture(files | SHARED | program(body), build)
    assert summary(tmp_path)["calls"] == {"barrier": 6}


@pytest.mark.parametrize(
    "libraries", ["", "mpicc -shared -o libb.so b.c && "], ids=["none", "one that has it too"]
)
def test_what_the_program_itself_defines_twice_is_an_error(
    capture: Capture, libraries: str
) -> None:
    files = program("  MPI_Barrier(MPI_COMM_WORLD);")
    files |= dict.fromkeys(("a.c", "b.c", "c.c"), "int twice(void) { return 2; }\n")
    link = "mpicc -o program program.c a.c c.c" + (" libb.so" if libraries else "")
    with pytest.raises(CaptureFailed) as caught:
        capture(files, libraries + link)
    assert "multiple definition of `twice'" in caught.value.log


def test_several_captures_agree_on_the_calls_and_tell_their_spread(
    capture: Capture, tmp_path: Path
) -> None:
    work = "  double x = rank;\n  for (int i = 0; i < 3000000; i++) x = x * 0.5 + i;\n"
    header = capture(
        program(f"{work}  MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);"), captures=3
    )
    assert header.repeats is not None
    assert header.repeats.captures == 3
    assert header.repeats.differing_ranks == ()
    assert len(header.repeats.rank_spreads) == 2
    assert validate(tmp_path / "t.ht") == header
    assert summary(tmp_path)["flops"] > 0


def test_ranks_whose_calls_differ_between_captures_are_named(capture: Capture) -> None:
    body = (
        '  FILE *seen = rank == 1 ? fopen("seen", "r") : NULL;\n'
        "  if (seen) MPI_Wtime();\n"
        '  if (rank == 1) fclose(fopen("seen", "w"));\n'
    )
    header = capture(program(body), captures=2)
    assert header.repeats is not None
    assert header.repeats.differing_ranks == (1,)


def test_declared_computation_is_captured_once_and_is_exact(
    capture: Capture, tmp_path: Path
) -> None:
    header = capture(program("  smpi_execute_flops(1e6);"), captures=3, declared=True)
    assert header.repeats is None
    assert summary(tmp_path)["flops"] == 2e6


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("  if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 3);", r"^the program called MPI_Abort\n"),
        ("  if (rank == 1) exit(4);", r"program ended with status|did not call MPI_Finalize"),
        ("  if (rank == 1) return 0;", "rank 1 did not call MPI_Finalize"),
        (
            "  MPI_Recv(&rank, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
            "the program deadlocks",
        ),
        ("  *(volatile int *)8 = 1;", r"program ended with status 139 \(Segmentation fault\)"),
        (
            "  for (;;) {\n"
            "    volatile char *b = malloc(1 << 24);\n"
            "    for (int i = 0; i < 1 << 24; i += 4096) b[i] = 1;\n"
            "  }",
            "the run used more than 1 GiB of memory",
        ),
        (
            '  FILE *f = fopen("out", "w"); char b[65536] = {1};\n'
            "  for (long i = 0; i < 100000; i++) fwrite(b, 1, sizeof b, f);",
            "wrote more than 64 MiB|program ended with",
        ),
    ],
    ids=["abort", "exit", "no finalize", "deadlock", "crash", "memory", "gigabytes"],
)
def test_a_run_that_fails_says_how(capture: Capture, body: str, message: str) -> None:
    limits = Limits(disk_bytes=64 << 20, memory_bytes=1 << 30)
    with pytest.raises(CaptureFailed, match=message) as caught:
        capture(program(body), limits=limits)
    assert "hamtune-capture-" not in str(caught.value)


def test_a_run_that_hangs_is_ended(capture: Capture, tmp_path: Path) -> None:
    """Its limit is one of the CPU, and its build needs next to none, so it is the run that ends."""
    source = tmp_path / "built"
    source.mkdir()
    (source / "program.c").write_text(program("  for (;;) sleep(1);")["program.c"])
    compiler = WRAPPERS / "hamtune-mpicc"
    subprocess.run([compiler, "program.c", "-o", "program"], cwd=source, check=True)
    with pytest.raises(CaptureFailed, match="the run used more than 2 seconds of CPU time"):
        capture(source, "test -x program", limits=Limits(cpu_seconds=2))


def test_the_wrong_number_of_ranks_is_told_in_the_programs_own_words(capture: Capture) -> None:
    with pytest.raises(CaptureFailed) as caught:
        capture(SOURCES / "suite", "make ring CLASS=S NPROCS=4", "bin/ring.S.4", 2)
    assert "ERROR: run on    2 ranks, compiled for    4" in caught.value.log


def test_a_call_that_no_trace_can_hold_is_named(capture: Capture) -> None:
    body = "  MPI_Win w;\n  MPI_Win_create(&rank, 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);"
    with pytest.raises(InvalidInput, match=r"^run: MPI_Win_create is not supported"):
        capture(program(body))


@pytest.mark.parametrize(
    ("build", "run", "message"),
    [
        ("echo broken >&2; exit 3", "program", r"the build ended with status 3\n.*\n?broken"),
        ("kill -9 $$", "program", r"the build ended with (status 137|signal 9) \(Killed\)"),
        ("cc -c program.c", "program", r"mpi\.h is not found: .*mpicc.*'make CC=mpicc'"),
        ("sleep 30", "program", "the build did not end within 2 seconds"),
        (ONE_FILE, "bin/program", "the build left no program bin/program"),
        ("cp /bin/true program", "program", "program has no recorder in it"),
        ("ln -s /etc/hostname program", "program", "the build left no program"),
        ("ln -s /usr/bin/true program", "program", "the build left no program"),
        ("mkfifo program", "program", "the build left no program"),
        (
            "/usr/bin/gcc -fPIE -c global.c && mpicc -o program program.c global.o",
            "program",
            r"compiled without -fPIC(.*\n)*.*mpicc: .* have to be compiled with -fPIC too",
        ),
    ],
)
def test_a_build_that_fails_says_how(capture: Capture, build: str, run: str, message: str) -> None:
    with pytest.raises(CaptureFailed, match=message):
        capture(
            program("") | GLOBAL,
            build,
            run,
            limits=Limits(wall_seconds=2 if "sleep" in build else 60),
        )


@pytest.mark.parametrize(
    ("run", "ranks", "message"),
    [
        ("", 2, "run: give the program"),
        ("mpirun -np 2 program", 2, "run: .* without mpirun"),
        ("program 'a b'", 2, "the argument 'a b' cannot be handed"),
        ("program --help", 2, "SimGrid answers the argument '--help' in place of the program"),
        ("program 'a", 2, "is not a command"),
        ("program", 0, "ranks: must be from 1"),
    ],
)
def test_wrong_use_is_refused(capture: Capture, run: str, ranks: int, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        capture(program(""), ONE_FILE, run, ranks)


def test_a_recording_that_is_a_link_is_not_followed(capture: Capture, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the other user's password")
    body = (
        '  char to[4096];\n  snprintf(to, sizeof to, "%s/refused",'
        ' getenv("HAMTUNE_RECORD_DIRECTORY"));\n'
        f'  if (rank == 0) symlink("{secret}", to);'
    )
    capture(program(body))
    body = body.replace("/refused", "/rank-1.operations.count") + "  if (rank == 1) exit(0);"
    with pytest.raises(CaptureFailed) as caught:
        capture(program(body))
    assert "password" not in str(caught.value)


@pytest.mark.parametrize("captures", [1, 3])
def test_recordings_without_end_are_refused_by_their_sizes(
    capture: Capture, tmp_path: Path, captures: int
) -> None:
    """They take no room on the disk, and hours to read: a limit of CPU time would not help."""
    body = """
  char name[4096];
  MPI_Finalize();
  snprintf(name, sizeof name, "%s/rank-%d.operations", getenv("HAMTUNE_RECORD_DIRECTORY"), rank);
  unlink(name);
  FILE *file = fopen(name, "w");
  if (fseek(file, (1L << 31) - 2, SEEK_SET) || fputc(15, file) == EOF || fclose(file)) abort();
  exit(0);"""
    with pytest.raises(InvalidInput, match=r"more than 2 GiB of operations \(16.0 GiB\)"):
        capture(program(body), ranks=8, captures=captures)
    assert not (tmp_path / "t.ht").exists()


def test_a_makefile_that_tries_everything_gets_nothing(capture: Capture, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    seconds = f"49{os.getpid()}.0625"
    makefile = f"""
all: program
	! cat /etc/shadow
	! cat {victim}
	! sh -c 'echo x > {victim}'
	ln -s {victim} out && ! sh -c 'echo x > out'
	! bash -c 'exec 3<>/dev/tcp/127.0.0.1/22'
	! sh -c 'echo x > /usr/bin/x'
	! sh -c 'echo x > $(HAMTUNE_RECORDER)'
	setsid sleep {seconds} &
program: program.c
	mpicc -o program program.c
"""
    capture({**program(""), "Makefile": makefile}, "make")
    assert victim.read_text() == "untouched"
    assert not are_running(seconds)
