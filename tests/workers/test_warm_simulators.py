from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workers.conftest import write_program
from workers.back_end import BackEnd
from workers.simulator_client import Simulator, SimulatorError
from workers.warm_simulators import WarmSimulators


@pytest.fixture
def traces(tmp_path: Path) -> list[Path]:
    """Three traces."""
    return [write_program(tmp_path / f"{n}.ht", iterations=n) for n in (1, 2, 3)]


@pytest.fixture
def warm() -> Iterator[WarmSimulators]:
    """Two simulators at most are kept, for long."""
    opened = WarmSimulators(2)
    yield opened
    opened.close()


def lend_once(warm: WarmSimulators, trace: Path) -> BackEnd:
    with warm.lend((trace,)) as simulator:
        return simulator


def is_closed(simulator: BackEnd) -> bool:
    try:
        simulator.evaluate({})
    except SimulatorError:
        return True
    return False


def test_a_trace_is_loaded_once(warm: WarmSimulators, traces: list[Path]) -> None:
    assert lend_once(warm, traces[0]) is lend_once(warm, traces[0])


def test_simulators_give_way_to_the_rest_of_the_service(
    warm: WarmSimulators, traces: list[Path]
) -> None:
    with warm.lend((traces[0],)) as simulator:
        assert isinstance(simulator, Simulator)
        pid = simulator._running().pid
        assert os.getpriority(os.PRIO_PROCESS, pid) > os.getpriority(os.PRIO_PROCESS, 0)
        assert os.getsid(pid) == os.getsid(0), "kernels share time out between sessions first"
        assert os.getpgid(pid) != os.getpgid(0), "Ctrl-C is not for it"


def test_no_simulator_is_lent_twice_at_a_time(warm: WarmSimulators, traces: list[Path]) -> None:
    with warm.lend((traces[0],)) as one, warm.lend((traces[0],)) as other:
        assert one is not other


def test_what_was_used_longest_ago_is_closed_first(
    warm: WarmSimulators, traces: list[Path]
) -> None:
    first, second = lend_once(warm, traces[0]), lend_once(warm, traces[1])
    lend_once(warm, traces[0])
    third = lend_once(warm, traces[2])

    assert [is_closed(simulator) for simulator in (first, second, third)] == [False, True, False]


def test_a_simulator_that_raised_is_not_lent_again(
    warm: WarmSimulators, traces: list[Path]
) -> None:
    with pytest.raises(RuntimeError), warm.lend((traces[0],)) as broken:
        raise RuntimeError("it went wrong")

    assert is_closed(broken)
    assert lend_once(warm, traces[0]) is not broken


def test_those_idle_for_long_are_closed(traces: list[Path]) -> None:
    warm = WarmSimulators(2, idle_seconds=0.05)
    simulators = [lend_once(warm, trace) for trace in traces[:2]]

    while not all(is_closed(simulator) for simulator in simulators):
        threading.Event().wait(0.01)


def test_closing_closes_what_is_idle(warm: WarmSimulators, traces: list[Path]) -> None:
    simulator = lend_once(warm, traces[0])

    warm.close()

    assert is_closed(simulator)
