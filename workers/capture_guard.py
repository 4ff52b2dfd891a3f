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
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_LOOK_SECONDS = 0.05
_DISK_LOOK_SECONDS = 0.25
_SHARE = 0.1  # of its time that looking may take
_PROGRESS_LOOK_SECONDS = 1.0
_PROGRESS_HEAD = 64
_MOST_PROGRESS = 8 << 20
_LEAST_BUSY = 0.01
_NEARLY_BYTES = 256 << 20
_ENTRY_BYTES = 1024  # what a file costs beyond its blocks
_MOST_OPEN = 4096  # files of a process; a run under SMPI has few, whatever its ranks
_SOCKET = "socket"
_HELD_BYTES = {_SOCKET: 416 << 10, "pipe": 64 << 10}  # of the kernel, at most, for each of them
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Bounds:
    """What the command may use with all that it starts; of each process address space and files."""

    wall_seconds: float
    cpu_seconds: float
    stall_seconds: float
    idle_seconds: float
    memory_bytes: int
    processes: int
    file_bytes: int
    disk_bytes: int
    entries: int  # files and directories: disks run out of inodes before they run out of bytes
    reserve_bytes: int  # what is to remain free on the disk
    reserve_entries: int  # and files and directories that can still be made there
    log_bytes: int
    log: str  # the file that takes what is printed
    watched: list[str]  # the directories that count as disk
    in_memory: list[str]  # file systems of memory that a sandbox has of its own
    progress: str  # the file in which a run says how far it is; empty for other commands
    passed: list[int]  # descriptors that the command inherits


@dataclass
class _Use:
    processes: int = 0
    cpu_seconds: float = 0.0
    memory_bytes: int = 0
    entries: int = 0  # in memory
    runs: bool = False  # a process does something just now


def main() -> None:
    """Run the command to its end, to a limit, or to the end of standard input."""
    bounds = Bounds(**json.loads(sys.argv[1]))
    adopt_descendants()
    reading, writing = os.pipe()
    command = subprocess.Popen(
        sys.argv[2:],
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=writing,
        pass_fds=bounds.passed,
        preexec_fn=lambda: _limit(bounds),
    )
    for descriptor in (writing, *bounds.passed):
        os.close(descriptor)
    printer = threading.Thread(target=_keep, args=(reading, bounds))
    printer.start()
    disk = _Disk(bounds)
    disk.start()
    answer = _watch(command, bounds, disk)
    end_descendants()
    disk.stop()
    printer.join()
    if answer is not None:
        limit = disk.excess()
        print(json.dumps({"limit": limit} if limit else answer), flush=True)


def adopt_descendants() -> None:
    """Become the parent of whatever descendants leave behind."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _limit(bounds: Bounds) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (bounds.memory_bytes, bounds.memory_bytes))
    resource.setrlimit(resource.RLIMIT_FSIZE, (bounds.file_bytes, bounds.file_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    most = _MOST_OPEN if most == resource.RLIM_INFINITY else min(most, _MOST_OPEN)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
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
    dog = _Watchdog(bounds)
    while True:
        ready, _, _ = select.select([ended, sys.stdin], [], [], pause)
        if ended in ready:
            status = command.wait()
            end_descendants()  # or what the last ones used is not yet known
            # The system may have ended a process for its CPU time before this one came to look.
            over = status != 0 and _use().cpu_seconds > bounds.cpu_seconds
            # A process that is refused more memory says so in its own way, or not at all.
            near = min(_NEARLY_BYTES, bounds.memory_bytes // 4)
            full = status != 0 and _most_resident_bytes() > bounds.memory_bytes - near
            return {"limit": "cpu" if over else "memory"} if over or full else {"status": status}
        if ready:
            return None
        begin = time.monotonic()
        if begin >= deadline:
            return {"limit": "wall"}
        use = _use(bounds.in_memory)
        limit = _exceeded(use, bounds) or disk.limit or dog.limit(use, begin)
        if limit is not None:
            return {"limit": limit}
        pause = max(_LOOK_SECONDS, (time.monotonic() - begin) / _SHARE)


class _Watchdog:
    """Notices that a run does not get on, neither in simulated time nor in its calls of MPI."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._seen = b""
        self._cpu_seconds = 0.0
        self._looked = self._moved = self._busy = time.monotonic()

    def limit(self, use: _Use, now: float) -> str | None:
        """Which limit it has met at this moment, if one."""
        if not self._bounds.progress or now - self._looked < _PROGRESS_LOOK_SECONDS:
            return "idle" if self._is_idle(use, now) else None
        spent, self._cpu_seconds = use.cpu_seconds - self._cpu_seconds, use.cpu_seconds
        said = self._read()
        if said != self._seen:
            self._moved = now
        if said != self._seen or spent > _LEAST_BUSY * (now - self._looked):
            self._busy = now
        self._seen, self._looked = said, now
        return "stall" if now - self._moved > self._bounds.stall_seconds else None

    def _is_idle(self, use: _Use, now: float) -> bool:
        if use.runs or not self._bounds.progress:
            self._busy = now  # where it does not get the processor it is not to blame
        return now - self._busy > self._bounds.idle_seconds

    def _read(self) -> bytes:
        try:
            descriptor = os.open(self._bounds.progress, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return b""
        with os.fdopen(descriptor, "rb") as file:
            # How often ranks polled in vain is in the head of the file.
            return file.read(_MOST_PROGRESS)[_PROGRESS_HEAD:]


def _exceeded(use: _Use, bounds: Bounds) -> str | None:
    if use.processes > bounds.processes:
        return "processes"
    if use.memory_bytes > bounds.memory_bytes:
        return "memory"
    if use.entries > bounds.entries:
        return "entries"
    if use.cpu_seconds > bounds.cpu_seconds:
        return "cpu"
    return None


def _use(in_memory: Sequence[str] = ()) -> _Use:
    """What all descendants use now, and the CPU time of those that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    use = _Use(cpu_seconds=spent.ru_utime + spent.ru_stime)
    held: dict[str, int] = {}
    for pid in _descendants():
        try:
            times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            resident = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        except (OSError, IndexError, ValueError):  # it ended just now
            continue
        use.processes += int(times[17])  # its threads
        use.runs |= times[0] in "RD"
        use.cpu_seconds += sum(map(int, times[11:15])) / _TICKS
        use.memory_bytes += resident * _PAGE
        held.update(_held(pid))
    use.entries, sockets = _in_sandbox(in_memory)
    # Some no process has: those that were closed while what they sent waits to be read.
    unseen = sockets - sum(name.startswith(_SOCKET) for name in held)
    use.memory_bytes += sum(held.values()) + max(0, unseen) * _HELD_BYTES[_SOCKET]
    return use


def _in_sandbox(in_memory: Sequence[str]) -> tuple[int, int]:
    """Files and directories in the memory of a sandbox, and its sockets, as the kernel has them.

    Memory that they take is that of no process.
    """
    for pid in _descendants() if in_memory else ():
        inside = [Path(f"/proc/{pid}/root{place}") for place in in_memory]
        with contextlib.suppress(OSError, ValueError):  # it ended just now, or enters only now
            outside = {about.st_dev for about in map(_status, map(Path, in_memory)) if about}
            if outside.isdisjoint(place.stat().st_dev for place in inside):
                disks = [os.statvfs(place) for place in inside]
                entries = sum(disk.f_files - disk.f_ffree for disk in disks)
                used, *_ = Path(f"/proc/{pid}/net/sockstat").read_text().splitlines()
                return entries, int(used.split()[-1])
    return 0, 0


def _held(pid: int) -> dict[str, int]:
    """Memory of the kernel that a process may hold by its sockets and pipes, of each of them."""
    found: dict[str, int] = {}
    with contextlib.suppress(OSError):  # it ended just now
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                name = str(Path(entry.path).readlink())
                size = _HELD_BYTES.get(name.partition(":")[0])
                if size is not None:
                    found[name] = size
    return found


def _most_resident_bytes() -> int:
    """Of any descendant that has ended, at any time."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10


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


def end_descendants() -> None:
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


class _TooManyEntries(Exception):
    """There are more files and directories than a command may make."""


class _Disk(threading.Thread):
    """Adds up, again and again, what lies in the watched directories and what has lost its name."""

    def __init__(self, bounds: Bounds) -> None:
        super().__init__(daemon=True)
        self._bounds = bounds
        self._ending = threading.Event()
        self._room = _room(bounds.watched[0])
        self._written = _written()
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
        """Which limit the files exceed now, if one."""
        try:
            used = self._named() + _nameless_bytes()
        except RecursionError:
            return "depth"
        except _TooManyEntries:
            return "entries"
        except OSError:  # folders vanish while they are walked
            return None
        room = _room(self._bounds.watched[0])
        if os.geteuid() != 0:
            # Only root sees which files are mapped. What they take the disk has lost, and somebody
            # here has written it; so has who writes one file again while others fill the disk.
            used = max(used, min(self._room - room, _written() - self._written) - used)
        if used > self._bounds.disk_bytes:
            return "disk"
        full = room < self._bounds.reserve_bytes
        return "full" if full or self._few_entries() else None

    def _few_entries(self) -> bool:
        disk = os.statvfs(self._bounds.watched[0])
        return disk.f_files > 0 and disk.f_favail < self._bounds.reserve_entries

    def _named(self) -> int:
        used = entries = 0
        for directory in self._bounds.watched:
            # By descriptors, so that no link that is put in the way leads elsewhere.
            for _, folders, files, descriptor in os.fwalk(directory):
                entries += len(folders) + len(files)
                for name in (*folders, *files):
                    used += _ENTRY_BYTES
                    with contextlib.suppress(FileNotFoundError):
                        about = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                        used += 512 * about.st_blocks
                if entries > self._bounds.entries:
                    raise _TooManyEntries
                if used > self._bounds.disk_bytes:
                    return used
        return used


def _room(directory: str) -> int:
    """Bytes that are free where a directory lies."""
    disk = os.statvfs(directory)
    return disk.f_bavail * disk.f_frsize


def _written() -> int:
    """Bytes that all descendants, dead ones too, have written to disks so far."""
    total = 0
    for pid in ("self", *_descendants()):  # what the dead wrote is added to who waited for them
        with contextlib.suppress(OSError, ValueError):  # it ended just now
            lines = Path(f"/proc/{pid}/io").read_text().splitlines()
            counts = dict(line.split(": ") for line in lines)
            total += int(counts["write_bytes"]) - int(counts["cancelled_write_bytes"])
    return total


def _nameless_bytes() -> int:
    """What files take that no directory holds any more and that a descendant has open or mapped."""
    found: dict[tuple[int, int], int] = {}
    for pid in _descendants():
        with contextlib.suppress(OSError):  # it ended just now
            for path in (*Path(f"/proc/{pid}/fd").iterdir(), *_deleted_maps(pid)):
                about = _status(path)
                if about is not None and about.st_nlink == 0 and stat.S_ISREG(about.st_mode):
                    found[about.st_dev, about.st_ino] = 512 * about.st_blocks
    return sum(found.values())


def _status(path: Path) -> os.stat_result | None:
    """What the system says of a file; None where it went just now."""
    try:
        return path.stat()
    except OSError:
        return None


def _deleted_maps(pid: int) -> Iterator[Path]:
    """Mapped files without a name, as paths that only root can follow."""
    with Path(f"/proc/{pid}/maps").open(errors="replace") as maps:
        for line in maps:
            if line.endswith(" (deleted)\n"):
                first, last = line.split(None, 1)[0].split("-")
                # Addresses have leading zeros in the one place and not in the other.
                yield Path(f"/proc/{pid}/map_files/{int(first, 16):x}-{int(last, 16):x}")


if __name__ == "__main__":
    main()
