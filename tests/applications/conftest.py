"""Builds the programs once a session, and tells what their traces hold."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from searchspace.kernels import TraceSummary, trace_summary
from workers.capture import builtin_sources, capture_builtin

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror")

Build = Callable[..., Path]
Run = Callable[..., subprocess.CompletedProcess[str]]


@dataclass(frozen=True)
class Traffic:
    """A trace and its summary, with its figures grouped as the reference lists them."""

    trace: Path
    summary: TraceSummary

    @property
    def collectives(self) -> dict[str, int]:
        """Collective calls, over all ranks."""
        names = ("bcast", "barrier", "reduce", "allreduce", "alltoall", "alltoallv")
        return {
            name: self.summary["calls"][name] for name in names if name in self.summary["calls"]
        }

    @property
    def partners(self) -> tuple[int, int]:
        """Fewest and most ranks that a rank sends to, itself included."""
        return self.summary["least_partners"], self.summary["most_partners"]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Compiles a program without a single warning: build(compiler, program, *flags)."""
    directory = tmp_path_factory.mktemp("programs")

    @cache
    def compile_program(compiler: str, program: str, *flags: str) -> Path:
        target = directory / "-".join((program, compiler, *(flag.strip("-") for flag in flags)))
        sources = map(str, builtin_sources(program))
        command = [compiler, "-std=c11", "-O2", *WARNINGS, *flags, *sources]
        subprocess.run([*command, "-o", str(target), "-lm"], check=True)
        return target

    return compile_program


@pytest.fixture(scope="session")
def run_program(build: Build) -> Run:
    """Runs a program for real: run_program(mpi, program, ranks, *arguments)."""
    starters = {
        "openmpi": ("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"),
        "mpich": ("mpirun.mpich",),
    }

    def run(
        mpi: str, program: str, ranks: int, *arguments: str
    ) -> subprocess.CompletedProcess[str]:
        binary = build(f"mpicc.{mpi}", program)
        command = [*starters[mpi], "-np", str(ranks), str(binary), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=300)

    return run


@pytest.fixture(scope="session")
def traffic(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Traffic]:
    """Captures a program once for every class (or order), number of ranks and of iterations."""

    @cache
    def captured(program: str, size: str, ranks: int, iterations: int | None = None) -> Traffic:
        trace = tmp_path_factory.mktemp("traces") / f"{program}-{size}-{ranks}.ht"
        if program == "mm":
            capture_builtin(program, None, ranks, {"order": int(size)}, trace)
        else:
            parameters = {} if iterations is None else {"iterations": iterations}
            capture_builtin(program, size, ranks, parameters, trace)
        return Traffic(trace, trace_summary(trace))

    return captured
