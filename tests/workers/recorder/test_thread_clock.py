"""The clock of the thread that the recorder reads without asking the kernel."""

import ctypes
import subprocess
import time
from pathlib import Path

import pytest

from workers.recorder_build import write_sources

APART = 0.015  # s: the clocks are compared every 10 ms; a hypervisor may take time meanwhile


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    sources = tmp_path_factory.mktemp("recorder")
    write_sources(sources)
    command = ["mpicc.openmpi", "-std=gnu11", "-D_GNU_SOURCE", "-fPIC", "-shared", "-I."]
    subprocess.run([*command, "thread_clock.c", "-o", "clock.so"], cwd=sources, check=True)
    library = ctypes.CDLL(str(Path(sources) / "clock.so"))
    library.hamtune_thread_seconds.restype = ctypes.c_double
    return library


def assert_agrees(clock: ctypes.CDLL) -> None:
    before = time.thread_time()
    seen = clock.hamtune_thread_seconds()
    after = time.thread_time()
    assert before - 1e-3 <= seen <= after + APART


def test_it_counts_what_the_thread_computes_and_not_what_it_waits(clock: ctypes.CDLL) -> None:
    clock.hamtune_start_clock()
    for _ in range(8):
        for _ in range(50):
            assert_agrees(clock)
            sum(range(2_000))
        time.sleep(0.05)
        assert_agrees(clock)
    clock.hamtune_stop_clock()
    assert_agrees(clock)


def test_it_counts_without_the_help_of_the_kernel(clock: ctypes.CDLL) -> None:
    for _ in range(50):
        assert_agrees(clock)
