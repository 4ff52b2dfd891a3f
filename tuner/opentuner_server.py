"""OpenTuner imported once, a fork for each search: `python -m tuner.opentuner_server`.

Standard input is a socket, over which each search sends two open files: the socket of its
conversation and where its process is to complain. Its process says first which one it is, as
{"pid": P}, then speaks as `tuner.opentuner_process` does. Once it has ended, this one says
{"status": S} in its place. A process whose socket is closed is killed, and all of them are when the
standard input ends, so that none outlives who started it.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tuner.opentuner_process import converse, quieten

__all__ = ["main"]


@dataclass
class _Search:
    """A process that was forked off, and its conversation."""

    process: int
    pidfd: int
    connection: socket.socket


def main() -> None:
    """Serve until standard input ends."""
    quieten()
    # Forks have these: OpenTuner, and the libraries of the technique that most searches take.
    import tuner.opentuner_conversation
    import tuner.surrogate_technique  # noqa: F401

    gc.freeze()
    gc.enable()
    control = socket.socket(fileno=os.dup(sys.stdin.fileno()))
    # Forks have no end of it: who sends to a server that is gone is told so.
    with Path(os.devnull).open() as nothing:
        os.dup2(nothing.fileno(), sys.stdin.fileno())
    searches: dict[int, _Search] = {}  # by each of their two open files
    poll = select.poll()
    poll.register(control, select.POLLIN)
    while True:
        for file, _ in poll.poll():
            if file == control.fileno():
                _, files, _, _ = socket.recv_fds(control, 1, 2)
                if not files:
                    for search in searches.values():
                        signal.pidfd_send_signal(search.pidfd, signal.SIGKILL)
                    return
                search = _begin(*files, control, searches)
                searches |= {search.pidfd: search, search.connection.fileno(): search}
                poll.register(search.pidfd, select.POLLIN)
                poll.register(search.connection, 0)  # whether it is closed, which is always told
            elif file in searches:
                search = searches[file]
                if file != search.pidfd:
                    signal.pidfd_send_signal(search.pidfd, signal.SIGKILL)
                for one in (search.pidfd, search.connection.fileno()):
                    poll.unregister(one)
                    del searches[one]
                _end(search)


def _begin(
    connection: int, complaints: int, control: socket.socket, others: dict[int, _Search]
) -> _Search:
    """Fork a process for a search."""
    ours = socket.socket(fileno=connection)
    process = os.fork()
    if process == 0:
        status = 1
        try:
            os.dup2(complaints, sys.stderr.fileno())
            control.close()
            for other in others.values():
                other.connection.close()
            with ours.makefile("r") as requests, ours.makefile("w") as answers:
                answers.write(json.dumps({"pid": os.getpid()}) + "\n")
                answers.flush()
                converse(requests, answers)
            status = 0
        finally:
            os._exit(status)
    os.close(complaints)
    return _Search(process, os.pidfd_open(process), ours)


def _end(search: _Search) -> None:
    """Wait for a process that ends, and tell who is there how it did."""
    _, status = os.waitpid(search.process, 0)
    told = json.dumps({"status": os.waitstatus_to_exitcode(status)})
    with suppress(OSError):  # nobody is there, or nobody listens
        # What it was about to say may have been cut.
        search.connection.send(f"\n{told}\n".encode(), socket.MSG_DONTWAIT)
    search.connection.close()
    os.close(search.pidfd)


if __name__ == "__main__":
    # What OpenTuner imports stays: nobody is to look for garbage among it, now or at the end.
    gc.disable()
    main()
