"""Emulated clusters by name: brought up, found, used, and taken down."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Literal

from searchspace.errors import HamtuneError, InvalidInput
from searchspace.machine import Machine, parse_machine
from testbed.agent import SOCKET as RUN_VARIABLE
from testbed.backlog import put_back, raise_limit
from testbed.builder import write_atomically
from testbed.counters import Counts, combined
from testbed.descriptors import needed_descriptors
from testbed.files import (
    ADDRESSES,
    AGENT,
    BUILD_LOG,
    DESCRIPTION,
    ERROR,
    NODES,
    SOCKET,
    WISHES,
    directory_of,
    is_testbed,
    make_root,
    root,
    taken_lock,
    waiting_library,
)
from testbed.holder import READY
from testbed.messages import connect, receive, send
from testbed.plan import Plan, plan

__all__ = [
    "CannotBringUp",
    "Running",
    "Testbed",
    "bring_up",
    "find",
    "known_names",
    "list_testbeds",
    "take_down",
]

Scale = float | Literal["auto"]
DEFAULT_CONGESTION_CONTROL = "reno"
_SOURCES = Path(__file__).parent.parent
_LOG = "holder.log"
_CREDENTIALS = struct.Struct("=3i")
_LOG_LINES = 5
_END_SECONDS = 10.0
"""For which whoever ends a program waits until its processes have ended."""


class CannotBringUp(HamtuneError):
    """A testbed that could not be brought up, and why."""


class Testbed:
    """An emulated cluster that is up.

    Attributes:
        name: Its name.
        directory: Its files.
        description: What is up: machine, scale, rates, notes, ...
    """

    __test__ = False  # no test of pytest's

    def __init__(self, name: str, directory: Path, description: Mapping[str, Any]) -> None:
        self.name = name
        self.directory = directory
        self.description = description

    @cached_property
    def machine(self) -> Machine:
        """The machine that it was asked to be."""
        return parse_machine(self.description["machine"])

    @cached_property
    def scaled_machine(self) -> Machine:
        """The machine that it is: with the rates that its cables have. Simulate this one."""
        return parse_machine(self.description["scaled_machine"])

    @cached_property
    def plan(self) -> Plan:
        """Its cables, addresses and ways."""
        return plan(self.machine, self.description["scale"])

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names of its hosts."""
        return self.machine.host_names

    @property
    def agent(self) -> Path:
        """What launchers take for a remote shell."""
        return self.directory / AGENT

    def waiting(self, library: str) -> Path | None:
        """What lets waiting ranks of an MPI library sleep, to preload; None if it was not built."""
        path = self.directory / waiting_library(library)
        return path if path.exists() else None

    def counts(self) -> Counts:
        """What the kernel has counted so far.

        Raises:
            HamtuneError: It is not up any more.
        """
        with self._asked({"do": "counts"}) as holder:
            nodes, _ = _answer(holder, self.name)
        return combined(nodes, self.plan.network.edges)

    def start(
        self,
        host: str,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        directory: Path,
        files: Sequence[int | IO[Any]] = (0, 1, 2),
    ) -> Running:
        """Start a program on a host.

        Args:
            host: Its name.
            command: The program and its arguments.
            environment: The whole environment.
            directory: Where it works.
            files: Its standard input, output and error.

        Raises:
            HamtuneError: The testbed is not up any more.
        """
        path = self.directory / f"run-{uuid.uuid4().hex[:8]}.sock"
        request = {
            "do": "run",
            "host": host,
            "command": list(command),
            "environment": {**environment, RUN_VARIABLE: str(path)},
            "directory": str(directory),
            "socket": str(path),
        }
        numbers = [file if isinstance(file, int) else file.fileno() for file in files]
        return Running(self.name, self._asked(request, numbers), path)

    def _asked(self, request: Mapping[str, Any], files: Sequence[int] = ()) -> socket.socket:
        try:
            holder = connect(self.directory / SOCKET)
            send(holder, request, files)
        except OSError:
            raise HamtuneError(f"testbed {self.name} is not up any more") from None
        return holder


@dataclass
class Running:
    """A program that runs on a testbed; it ends when this is closed, or its process."""

    _testbed: str
    _holder: socket.socket
    _path: Path
    cpu_seconds: float = 0.0

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def wait(self, seconds: float | None = None) -> int:
        """Wait for the end of it; where that takes too long, it may be waited for again.

        Returns:
            Its exit status, 128 and more for signals, as shells have it.

        Raises:
            TimeoutError: It did not end in time.
            HamtuneError: The testbed was taken down meanwhile.
        """
        # Nothing of an answer may be read, and lost, by a wait that ends before the whole is there.
        polled = select.poll()
        polled.register(self._holder, select.POLLIN)
        if not polled.poll(None if seconds is None else 1000.0 * seconds):
            raise TimeoutError
        answer, _ = _answer(self._holder, self._testbed)
        if "error" in answer:
            raise HamtuneError(f"testbed {self._testbed}: {answer['error']}")
        self.cpu_seconds = answer.get("cpu_seconds", 0.0)
        return int(answer["status"])

    def close(self) -> None:
        """End it, with all its processes on all hosts, and wait until they have."""
        with contextlib.suppress(EOFError, OSError), self._holder:
            self._holder.shutdown(socket.SHUT_WR)
            self._holder.settimeout(_END_SECONDS)
            receive(self._holder)
        self._path.unlink(missing_ok=True)


def bring_up(
    machine: Machine,
    name: str,
    *,
    scale: Scale = "auto",
    congestion_control: str = DEFAULT_CONGESTION_CONTROL,
) -> tuple[Testbed, bool]:
    """Bring up a machine as an emulated cluster.

    Args:
        machine: With a network.
        name: Of the cluster.
        scale: What all rates are divided by; `auto` finds what this host carries.
        congestion_control: Of TCP, by the kernel's name. `reno` and `bbr` fill both directions of
            a cable, `cubic` does not.

    Returns:
        The cluster, and whether it was brought up now: False where it was up already.

    Raises:
        InvalidInput: The machine cannot be emulated, another one is up under that name, or what
            is there under it is no testbed.
        CannotBringUp: The kernel does not allow it.
    """
    directory = directory_of(name)
    whole = plan(machine, 1.0 if scale == "auto" else scale)
    wishes = {
        "name": name,
        "machine": machine.canonical(),
        "scale": scale,
        "congestion_control": congestion_control,
    }
    _check_congestion_control(congestion_control)
    _check_descriptors(whole)
    with _locked(name):
        standing = _standing(name)
        if standing is not None:
            if json.loads((directory / WISHES).read_text()) != wishes:
                raise InvalidInput(
                    f"testbed {name} is up with another machine or other settings; take it down "
                    f"first ('hamtune testbed down {name}') or choose another --name",
                    field="name",
                )
            return standing, False
        _make_directory(directory)
        try:
            _write_wishes(directory, wishes, whole)
            missed = raise_limit(root())
            _start_holder(directory)
            if missed is not None:
                _note(directory, missed)
        except BaseException:
            _remove(directory)
            put_back(root(), known_names)
            raise
        return _read(name), True


def take_down(name: str) -> bool:
    """Take a cluster down, with all that runs on it and all that is left of it.

    What is there under its name and is no testbed is left alone.

    Returns:
        Whether there was anything.

    Raises:
        InvalidInput: That is no name.
        CannotBringUp: The directory of the testbeds cannot be used.
    """
    directory = directory_of(name)
    existed = is_testbed(directory)
    if existed:
        with _locked(name):
            existed = is_testbed(directory)
            if existed:
                _remove(directory)
    put_back(root(), known_names)
    return existed


def find(name: str) -> Testbed:
    """The cluster of a name.

    Raises:
        InvalidInput: None is up under that name.
    """
    found = _standing(name)
    if found is None:
        others = ", ".join(testbed.name for testbed in list_testbeds()) or "none"
        raise InvalidInput(f"no testbed {name!r} is up; up: {others}", field="name")
    return found


def list_testbeds() -> list[Testbed]:
    """All clusters of this user that are up, by name."""
    return [testbed for testbed in map(_standing, known_names()) if testbed is not None]


def known_names() -> list[str]:
    """The names of all clusters of this user of which there is something, up or not."""
    with contextlib.suppress(FileNotFoundError):
        return sorted(entry.name for entry in root().iterdir() if is_testbed(entry))
    return []


def _standing(name: str) -> Testbed | None:
    directory = directory_of(name)
    if not is_testbed(directory):
        return None
    with contextlib.suppress(OSError):
        connect(directory / SOCKET).close()
        if (directory / DESCRIPTION).exists():
            return _read(name)
    return None


def _read(name: str) -> Testbed:
    directory = directory_of(name)
    return Testbed(name, directory, json.loads((directory / DESCRIPTION).read_text()))


@contextlib.contextmanager
def _locked(name: str) -> Iterator[None]:
    """Nobody else brings up or takes down a cluster of that name meanwhile."""
    try:
        make_root()
        lock = taken_lock(root() / f".{name}.lock")
    except OSError as error:
        raise CannotBringUp(
            f"{root()} cannot be used: {error.strerror}; set HAMTUNE_TESTBEDS to another directory"
        ) from None
    with lock:
        yield


def _check_congestion_control(name: str) -> None:
    available = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    if name not in available:
        raise InvalidInput(
            f"the kernel has no congestion control {name!r}; it has {', '.join(available)}",
            field="congestion_control",
        )


def _check_descriptors(whole: Plan) -> None:
    nodes = len(whole.names)
    needed = needed_descriptors(nodes)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and needed > most:
        raise CannotBringUp(
            f"a testbed of {nodes} hosts and switches needs {needed} open files, and this process "
            f"may have {most}; raise the hard limit (ulimit -Hn {needed}) or take a smaller machine"
        )


def _make_directory(directory: Path) -> None:
    """Make the directory of a cluster, in the place of what is left of one that is not up."""
    if is_testbed(directory):
        _remove(directory)
    # Who is killed right after making it leaves an empty one. What is not empty stays.
    with contextlib.suppress(OSError):
        directory.rmdir()
    try:
        directory.mkdir(mode=0o700)
    except FileExistsError:
        raise InvalidInput(
            f"{directory} is there and is no testbed; choose another --name, or set "
            "HAMTUNE_TESTBEDS to a directory for testbeds alone",
            field="name",
        ) from None


def _write_wishes(directory: Path, wishes: Mapping[str, Any], whole: Plan) -> None:
    # This file comes first, for by it the directory is known as a testbed's.
    (directory / WISHES).write_text(json.dumps(wishes))
    (directory / NODES).write_text(json.dumps(whole.names))
    lines = ["127.0.0.1 localhost"]
    lines += [f"{whole.address(node)} {name}" for node, name in enumerate(whole.names)]
    (directory / ADDRESSES).write_text("\n".join(lines) + "\n")


def _note(directory: Path, sentence: str) -> None:
    path = directory / DESCRIPTION
    description = json.loads(path.read_text())
    description["notes"].append(sentence)
    write_atomically(path, description)


def _start_holder(directory: Path) -> None:
    path = os.pathsep.join(filter(None, (str(_SOURCES), os.environ.get("PYTHONPATH"))))
    with (directory / _LOG).open("wb") as log:
        holder = subprocess.Popen(
            [sys.executable, "-m", "testbed.holder", str(directory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,
        )
    with holder:
        assert holder.stdout is not None
        said = holder.stdout.read(len(READY))
    if said != READY:
        raise CannotBringUp(_why(directory))


def _why(directory: Path) -> str:
    for name in (ERROR, BUILD_LOG, _LOG):
        with contextlib.suppress(FileNotFoundError):
            lines = (directory / name).read_text(errors="replace").strip().splitlines()
            if lines:
                return "the testbed does not come up: " + "\n".join(lines[-_LOG_LINES:])
    return "the testbed does not come up, and nothing said why"


def _remove(directory: Path) -> None:
    """End the holder, with which all of the cluster ends, and delete its files."""
    with contextlib.suppress(OSError), connect(directory / SOCKET) as holder:
        credentials = holder.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        process = os.pidfd_open(_CREDENTIALS.unpack(credentials)[0])
        try:
            signal.pidfd_send_signal(process, signal.SIGKILL)
            select.select([process], [], [])
        finally:
            os.close(process)
    with contextlib.suppress(OSError):
        _delete(directory)


def _delete(directory: Path) -> None:
    """Delete a cluster's files; last what tells that they are, so that `down` works once more."""
    for entry in [entry for entry in directory.iterdir() if entry.name != WISHES]:
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink(missing_ok=True)
    (directory / WISHES).unlink(missing_ok=True)
    directory.rmdir()


def _answer(holder: socket.socket, name: str) -> tuple[Any, list[int]]:
    try:
        return receive(holder)
    except TimeoutError:
        raise
    except (EOFError, OSError):
        raise HamtuneError(f"testbed {name} was taken down meanwhile") from None
