"""Search processes: forks of one server, each as if it were the first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from searchspace.space import EnumParameter, SearchSpace
from tests.processes import is_alive
from tests.tuner.driving import wait_until
from tuner.opentuner_session import TunerSession
from tuner.search_process import SearchProcess, end_server, start_server

ROOT = Path(__file__).parents[2]
SPACE = SearchSpace([EnumParameter(name, tuple(range(9))) for name in "abc"])


def proposals(session: TunerSession, number: int = 12) -> list[dict[str, Any]]:
    """What is proposed first, where each value is told in its turn."""
    found = []
    for _ in range(number):
        proposal = session.ask()
        assert proposal is not None
        found.append(dict(proposal.values))
        session.tell(proposal.id, float(sum(proposal.values.values())), "completed")
    return found


def parent_of(process: int) -> int:
    """The number of the process that started another."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def children() -> set[int]:
    """The numbers of the processes that this thread has started."""
    listed = Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text()
    return {int(number) for number in listed.split()}


def test_searches_are_forks_of_one_server_and_alike() -> None:
    with TunerSession(SPACE, 5) as first, TunerSession(SPACE, 5) as beside:
        once, twice = proposals(first), proposals(beside)
        servers = {parent_of(session._process.pid) for session in (first, beside)}
    with TunerSession(SPACE, 5) as later:
        assert proposals(later) == once == twice
        assert servers == {parent_of(later._process.pid)}
    end_server()
    with TunerSession(SPACE, 5) as anew:
        assert proposals(anew) == once
        assert parent_of(anew._process.pid) not in servers


def test_a_search_loads_no_library_that_it_can_do_without() -> None:
    """Each takes a tenth of a second or more, which every job would pay."""
    program = (
        "import sys, tuner.opentuner_conversation, tuner.surrogate_technique\n"
        "print([name for name in ('matplotlib', 'pandas', 'scipy.stats', 'sklearn')"
        " if name in sys.modules])"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_server_that_was_started_ahead_is_that_of_the_first_search() -> None:
    end_server()
    before = children()
    start_server()
    start_server()
    (server,) = children() - before
    with TunerSession(SPACE, 5) as session:
        assert proposals(session)
        assert parent_of(session._process.pid) == server


def test_a_search_that_is_closed_is_killed_whatever_it_is_at() -> None:
    process = SearchProcess()
    number = process.pid
    os.kill(number, signal.SIGSTOP)  # it hears nothing
    process.close()
    wait_until(lambda: not is_alive(number))


def test_a_server_that_was_killed_is_followed_by_another_and_its_searches_go_on() -> None:
    with TunerSession(SPACE, 1) as session:
        left = session._process.pid
        server = parent_of(left)
        os.kill(server, signal.SIGKILL)
        os.waitid(os.P_PID, server, os.WEXITED | os.WNOWAIT)
        with TunerSession(SPACE, 1) as another:
            assert proposals(another) == proposals(session)
            assert parent_of(another._process.pid) != server
    wait_until(lambda: not is_alive(left))


def test_a_process_that_does_not_begin_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    end_server()
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    monkeypatch.setattr("tuner.search_process._ROOT", Path("/nowhere"))
    try:
        process = SearchProcess()
        with pytest.raises(EOFError):
            process.receive()
        assert "No module named 'tuner'" in process.last_words()
        process.close()
    finally:
        end_server()


def test_a_fork_of_this_process_has_a_server_of_its_own() -> None:
    script = (
        "import os\n"
        "from tests.tuner.test_search_process import SPACE, TunerSession, parent_of, proposals\n"
        "with TunerSession(SPACE, 1) as session:\n"
        "    once = proposals(session)\n"
        "    server = parent_of(session._process.pid)\n"
        "    child = os.fork()\n"
        "    with TunerSession(SPACE, 1) as forked:\n"
        "        assert proposals(forked) == once\n"
        "        assert (parent_of(forked._process.pid) == server) is bool(child)\n"
        "    if child:\n"
        "        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0\n"
        "    else:\n"
        "        os._exit(0)\n"
    )
    subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
