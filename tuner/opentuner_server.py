"""OpenTuner imported once, a fork for each search: `python -m tuner.opentuner_server`.

Standard input is a socket, over which each search sends two open files: the socket of its
conversation and where its process is to complain. Its process says first which one it is, as
{"pid": P}, then speaks as `tuner.opentuner_conversation` does. Once it has ended, this one says
{"status": S} in its place. A process whose socket is closed is killed, and all of them are when the
standard input ends, so that none outlives who started it.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import select
import signal
import socket
import sys
import traceback
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

__all__ = ["main"]


@dataclass
class _Search:
    """A process that was forked off, and its conversation."""

    process: int
    pidfd: int
    connection: socket.socket

    def kill(self) -> None:
        """Have it end, whatever it is at."""
        signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def reap(self) -> None:
        """Wait for its end, and tell who is there how it did."""
        _, status = os.waitpid(self.process, 0)
        told = json.dumps({"status": os.waitstatus_to_exitcode(status)})
        with suppress(OSError):  # nobody is there, or nobody listens
            # What it was about to say may have been cut.
            self.connection.send(f"\n{told}\n".encode(), socket.MSG_DONTWAIT)
        self.connection.close()
        os.close(self.pidfd)


class _Server:
    """What the searches are forked off.

    Args:
        control: Where each search sends its open files.
    """

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._searches: dict[int, _Search] = {}  # by each of their two open files
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)

    def serve(self) -> None:
        """Fork and reap until `control` ends."""
        while True:
            for file, _ in self._poll.poll():
                if file != self._control.fileno():
                    self._look_after(file)
                elif not self._accept():
                    return

    def end(self) -> None:
        """Kill all searches."""
        for search in self._searches.values():
            search.kill()

    def _accept(self) -> bool:
        """Begin the search that is asked for; whether one is."""
        _, files, _, _ = socket.recv_fds(self._control, 1, 2)
        if not files:
            return False
        connection, complaints = files
        search = self._fork(socket.socket(fileno=connection), complaints)
        os.close(complaints)
        self._searches |= {search.pidfd: search, connection: search}
        self._poll.register(search.pidfd, select.POLLIN)
        self._poll.register(connection, 0)  # whether it is closed, which is always told
        return True

    def _fork(self, connection: socket.socket, complaints: int) -> _Search:
        from tuner.opentuner_conversation import serve

        process = os.fork()
        if process == 0:
            status = 1
            try:
                os.dup2(complaints, sys.stderr.fileno())
                self._control.close()
                for other in self._searches.values():
                    other.connection.close()
                with connection.makefile("r") as requests, connection.makefile("w") as answers:
                    answers.write(json.dumps({"pid": os.getpid()}) + "\n")
                    answers.flush()
                    serve(requests, answers)
                status = 0
            except BaseException:
                traceback.print_exc()  # which nobody else does before the process ends
            finally:
                os._exit(status)
        return _Search(process, os.pidfd_open(process), connection)

    def _look_after(self, file: int) -> None:
        """A search whose process has ended or whose conversation is closed has come to its end."""
        search = self._searches.get(file)
        if search is None:
            return  # it was both
        if file != search.pidfd:
            search.kill()
        for one in (search.pidfd, search.connection.fileno()):
            self._poll.unregister(one)
            del self._searches[one]
        search.reap()


def main() -> None:
    """Serve until standard input ends."""
    sys.stdout = sys.stderr  # whatever is printed there
    logging.disable()
    warnings.simplefilter("ignore")
    # Forks have these: OpenTuner, and the libraries of the technique that most searches take.
    import tuner.opentuner_conversation
    import tuner.surrogate_technique  # noqa: F401

    gc.freeze()
    gc.enable()
    control = socket.socket(fileno=os.dup(sys.stdin.fileno()))
    # Forks have no end of it: who sends to a server that is gone is told so.
    with Path(os.devnull).open() as nothing:
        os.dup2(nothing.fileno(), sys.stdin.fileno())
    server = _Server(control)
    server.serve()
    server.end()


if __name__ == "__main__":
    # What OpenTuner imports stays: nobody is to look for garbage among it, now or at the end.
    gc.disable()
    main()
