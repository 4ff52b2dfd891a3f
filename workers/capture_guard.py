"""Runs one command within limits and takes everything it started with it when it ends.

Started by `workers.capture_sandbox` as a script of its own in a session of its own. It adopts what
its descendants leave behind, so that also a process that left its session is found and killed: when
the command ends, when a limit is met, and when standard input closes, which happens however the
starter ends. How the command ended is written to standard output as JSON: `{"status": 0}` or
`{"limit": "memory"}`; what it prints goes to a file, the middle left out where that is too long.

Usage: capture_guard.py LIMITS COMMAND..., with LIMITS as JSON (see `Bounds`).
"""

from __future__ import annotations

import collections
import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_LOOK_SECONDS = 0.05
_DISK_LOOK_SECONDS = 0.25
_SHARE = 0.1  # of its time that looking may take
_ENTRY_BYTES = 1024  # what a file costs beyond its blocks
_RESERVE_BYTES = 256 << 20
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Bounds:
    """What the command may use with all that it starts; of each process address space and files."""

    wall_seconds: float
    cpu_seconds: float
    memory_bytes: int
    processes: int
    file_bytes: int
    disk_bytes: int
    log_bytes: int
    log: str  # the file that takes what is printed
    watched: list[str]  # the directories that count as disk


@dataclass
class _Use:
    processes: int = 0
    cpu_seconds: float = 0.0
    memory_bytes: int = 0


def main() -> None:
    """Run the command to its end, to a limit, or to the end of standard input."""
    bounds = Bounds(**json.loads(sys.argv[1]))
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    reading, writing = os.pipe()
    command = subprocess.Popen(
        sys.argv[2:],
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=writing,
        preexec_fn=lambda: _limit(bounds),
    )
    os.close(writing)
    printer = threading.Thread(target=_keep, args=(reading, bounds))
    printer.start()
    disk = _Disk(bounds)
    disk.start()
    answer = _watch(command, bounds, disk)
    _end_all()
    disk.stop()
    printer.join()
    if answer is not None:
        limit = disk.excess()
        print(json.dumps({"limit": limit} if limit else answer), flush=True)


def _limit(bounds: Bounds) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (bounds.memory_bytes, bounds.memory_bytes))
    resource.setrlimit(resource.RLIMIT_FSIZE, (bounds.file_bytes, bounds.file_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    cpu = int(bounds.cpu_seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
    with contextlib.suppress(OSError):  # where memory runs out, this goes first
        Path("/proc/self/oom_score_adj").write_text("1000")


def _watch(
    command: subprocess.Popen[bytes], bounds: Bounds, disk: _Disk
) -> dict[str, int | str] | None:
    """Wait for the command's end or a limit; None when the starter went away."""
    ended = os.pidfd_open(command.pid)
    deadline = time.monotonic() + bounds.wall_seconds
    pause = _LOOK_SECONDS
    while True:
        ready, _, _ = select.select([ended, sys.stdin], [], [], pause)
        if ended in ready:
            status = command.wait()
            # The system may have ended a process for its CPU time before this one came to look.
            over = status != 0 and _use().cpu_seconds > bounds.cpu_seconds
            return {"limit": "cpu"} if over else {"status": status}
        if ready:
            return None
        begin = time.monotonic()
        if begin >= deadline:
            return {"limit": "wall"}
        limit = _exceeded(_use(), bounds) or disk.limit
        if limit is not None:
            return {"limit": limit}
        pause = max(_LOOK_SECONDS, (time.monotonic() - begin) / _SHARE)


def _exceeded(use: _Use, bounds: Bounds) -> str | None:
    if use.processes > bounds.processes:
        return "processes"
    if use.memory_bytes > bounds.memory_bytes:
        return "memory"
    if use.cpu_seconds > bounds.cpu_seconds:
        return "cpu"
    return None


def _use() -> _Use:
    """What all descendants use now, and the CPU time of those that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    use = _Use(cpu_seconds=spent.ru_utime + spent.ru_stime)
    for pid in _descendants():
        try:
            times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            resident = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        except (OSError, IndexError):  # it ended just now
            continue
        use.processes += int(times[17])  # its threads
        use.cpu_seconds += sum(map(int, times[11:15])) / _TICKS
        use.memory_bytes += resident * _PAGE
    return use


def _descendants() -> Iterator[int]:
    waiting = collections.deque(_children(os.getpid()))
    while waiting:
        pid = waiting.popleft()
        yield pid
        waiting.extend(_children(pid))


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):  # it ended just now
        for thread in os.scandir(f"/proc/{pid}/task"):
            found += map(int, Path(thread.path, "children").read_text().split())
    return found


def _end_all() -> None:
    """Kill every descendant until none is left; those that fork meanwhile are found again."""
    while True:
        pids = list(_descendants())
        for sign in (signal.SIGSTOP, signal.SIGKILL):
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, sign)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.005)


def _keep(source: int, bounds: Bounds) -> None:
    """Copy what is printed to the log: its beginning as it comes, its end when that is there."""
    with Path(bounds.log).open("ab", buffering=0) as log:
        room = max(0, bounds.log_bytes - log.tell())
        head, tail_size = room - room // 4, room // 4
        tail: collections.deque[bytes] = collections.deque()
        kept = dropped = 0
        while chunk := os.read(source, 1 << 16):
            with contextlib.suppress(OSError):  # a full disk must not stop the reading
                log.write(chunk[:head])
            rest = chunk[head:]
            head -= len(chunk) - len(rest)
            if rest:
                tail.append(rest)
                kept += len(rest)
            while tail and kept - len(tail[0]) >= tail_size:
                dropped += len(tail[0])
                kept -= len(tail.popleft())
        rest = b"".join(tail)
        cut = max(0, len(rest) - tail_size)
        if dropped + cut:
            log.write(b"\n[%d bytes left out]\n" % (dropped + cut))
        log.write(rest[cut:])
    os.close(source)


class _Disk(threading.Thread):
    """Adds up, again and again, what lies in the watched directories."""

    def __init__(self, bounds: Bounds) -> None:
        super().__init__(daemon=True)
        self._bounds = bounds
        self._ending = threading.Event()
        self.limit: str | None = None

    def run(self) -> None:
        pause = _DISK_LOOK_SECONDS
        while not self._ending.wait(pause):
            begin = time.monotonic()
            self.limit = self.limit or self.excess()
            pause = max(_DISK_LOOK_SECONDS, (time.monotonic() - begin) / _SHARE)

    def stop(self) -> None:
        """Look no more."""
        self._ending.set()
        self.join()

    def excess(self) -> str | None:
        """Which limit the directories exceed now, if one."""
        used = 0
        try:
            for directory in self._bounds.watched:
                # By descriptors, so that no link that is put in the way leads elsewhere.
                for _, folders, files, descriptor in os.fwalk(directory):
                    for name in (*folders, *files):
                        used += _ENTRY_BYTES
                        with contextlib.suppress(FileNotFoundError):
                            stat = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                            used += 512 * stat.st_blocks
                    if used > self._bounds.disk_bytes:
                        return "disk"
            # Files that are open and have no name any more are in no directory.
            room = os.statvfs(self._bounds.watched[0])
        except RecursionError:
            return "depth"
        except OSError:  # folders vanish while they are walked
            return None
        return "full" if room.f_bavail * room.f_frsize < _RESERVE_BYTES else None


if __name__ == "__main__":
    main()
