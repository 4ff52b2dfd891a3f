"""Commands of a capture, shut in: read-only system, no network, limits, no survivors."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from searchspace.disk_room import NoRoom, free_entries
from searchspace.errors import HamtuneError
from searchspace.units import format_size
from workers.capture_limits import Limits

__all__ = [
    "CaptureFailed",
    "DiskShort",
    "Interrupted",
    "LimitMet",
    "Sandbox",
    "Watching",
    "confinement_problem",
    "describe_status",
    "last_lines",
    "temporary_files_problem",
]

_LOG_LINES = 25
_SIGNALLED = 128  # a shell's status of what a signal ended, less the signal
_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
_SETTINGS = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
)
_KERNEL = tuple(f"/proc/{name}" for name in ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi"))
_POLL_SECONDS = 0.1
_FIRST_USER = 1 << 30
_SCRATCH_BYTES = 1 << 30
_IN_MEMORY = ("/dev/shm", "/tmp")  # noqa: S108
_ISOLATION = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts")

_FILTER = (
    Path(__file__).resolve().parent.parent / "build/workers/system_calls/hamtune-program-filter"
)

_users = itertools.count()


class CaptureFailed(HamtuneError):
    """A program could not be compiled or run to its end.

    Args:
        message: What failed, one line.
        log: The end of what it printed.
    """

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(f"{message}\n{log}" if log else message)
        self.message = message
        self.log = log


class DiskShort(NoRoom):
    """This host has less room on its disk than has to remain there.

    Args:
        place: Where there is too little.
        limits: What has to remain.
        before: Whether it was so before the command began, which is then not to blame.
    """

    def __init__(self, place: Path, limits: Limits, *, before: bool) -> None:
        came = "has" if before else "came to have"
        lacking = f"less than {format_size(limits.reserve_bytes)} free"
        if free_entries(os.statvfs(place)) < limits.reserve_entries:
            lacking = f"room for less than {limits.reserve_entries} files"
        super().__init__(f"the disk of this host {came} {lacking} in {place}", before=before)


class LimitMet(CaptureFailed):
    """A command met one of its limits."""


class Interrupted(HamtuneError):
    """A capture was stopped from outside; nothing is known of the program."""

    def __init__(self) -> None:
        super().__init__("the capture was interrupted")


def describe_status(status: int) -> str:
    """An exit status as `Sandbox.run` gives it, with the signal that it stands for."""
    number = -status if status < 0 else status - _SIGNALLED
    words = signal.strsignal(number) if number in set(signal.Signals) else None
    shown = f"signal {number}" if status < 0 else f"status {status}"
    return f"{shown} ({words})" if words else shown


def last_lines(log: str) -> str:
    """What of a log an error shows."""
    return "\n".join(log.splitlines()[-_LOG_LINES:])


@dataclass(frozen=True)
class Sandbox:
    """Runs commands in a directory that they may write, and only there.

    Attributes:
        directory: Holds `work`, where the commands run and write, `control`, which they may read,
            and the logs, which they do not see. What they leave in `work` is not to be trusted:
            links there may lead anywhere.
        readable: Further directories and files outside the system that they may read.
        limits: For each command.
        confined: Whether bubblewrap shuts the commands in. Limits hold either way, and so does the
            end of all processes.
        stranger: Whether the commands run as a user of their own where we are root; what they read
            must then be readable for all.
        stop: When set, the command under way is killed.
    """

    directory: Path
    readable: tuple[Path, ...] = ()
    limits: Limits = dataclasses.field(default_factory=Limits)
    confined: bool = True
    stranger: bool = False
    stop: threading.Event = dataclasses.field(default_factory=threading.Event)

    @classmethod
    @contextmanager
    def temporary(
        cls,
        readable: Sequence[Path] = (),
        limits: Limits | None = None,
        *,
        confined: bool = True,
        stranger: bool = False,
        stop: threading.Event | None = None,
    ) -> Iterator[Sandbox]:
        """A sandbox in a directory of its own, which goes with it.

        Raises:
            CaptureFailed: It is to be confined, and bubblewrap cannot run here; or no program may
                be run from where temporary files go.
        """
        if confined:
            reason = confinement_problem()
            if reason:
                raise CaptureFailed(
                    f"bubblewrap cannot shut programs in here ({reason}); a program that you trust "
                    "can be captured with --no-sandbox, or HAMTUNE_CAPTURE_SANDBOX=off for a "
                    "service that only trusted people use"
                )
        reason = temporary_files_problem()
        if reason:
            raise CaptureFailed(reason)
        directory = Path(tempfile.mkdtemp(prefix="hamtune-capture-"))
        try:
            for name in ("work", "control", "logs"):
                (directory / name).mkdir()
                # Commands of a stranger read what is here, whatever the umask.
                (directory / name).chmod(0o755)
            yield cls(
                directory,
                tuple(readable),
                limits or Limits(),
                confined,
                confined and stranger and _can_be_stranger(),
                stop or threading.Event(),
            )
        finally:
            # Programs leave folders that nobody may enter, or nested beyond Python's recursion.
            for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
                subprocess.run([*command, "--", str(directory)], capture_output=True, check=False)

    @property
    def workspace(self) -> Path:
        """The working directory of the commands."""
        return self.directory / "work"

    @property
    def control(self) -> Path:
        """Files for the commands that they cannot change."""
        return self.directory / "control"

    def run(
        self,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        *,
        log: str = "run",
        writable: Path | None = None,
        progress: Path | None = None,
    ) -> int:
        """Run a command; what it prints is appended to a log.

        Args:
            command: Program and arguments.
            environment: Variables on top of the few that every command gets.
            log: The log's name.
            writable: A further directory that it may write.
            progress: The file in which a run under SMPI says how far it is.

        Returns:
            Its exit status; negative is the signal that killed it.

        Raises:
            LimitMet: It met a limit.
            CaptureFailed: It was killed from outside.
            DiskShort: This host has hardly any room on its disk.
            Interrupted: It was stopped.
        """
        disk = os.statvfs(self.directory)
        short = disk.f_bavail * disk.f_frsize < self.limits.reserve_bytes
        if short or free_entries(disk) < self.limits.reserve_entries:
            raise self._disk_short(before=True)
        places = [self.workspace, self._scratch, *([writable] if writable else [])]
        for place in places:
            place.mkdir(exist_ok=True)
        inside = list(command)
        if self.confined:
            inside = ["prlimit", f"--nproc={self.limits.processes}", "--", *command]
            if self.stranger:
                user = _FIRST_USER + os.getpid() * 64 + next(_users) % 64
                for place in places:
                    subprocess.run(["chown", "-R", "-h", f"{user}:{user}", place], check=True)
                inside = [*_become(user), *inside]
        with _open_filter() if self.confined else nullcontext() as calls:
            passed = [] if calls is None else [calls]
            if calls is not None:
                command = [*self._confinement(places), "--seccomp", str(calls), *inside]
            guard = subprocess.Popen(
                [*self._guard(log, places, progress, passed), *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd="/" if self.confined else self.workspace,
                env=self._environment(environment or {}),
                start_new_session=True,
                pass_fds=passed,
            )
        answer = self._answer(guard)
        if not answer:
            raise CaptureFailed(f"the {log} was killed from outside", self.log(log))
        ended = json.loads(answer)
        if ended.get("limit") == "full":
            raise self._disk_short(before=False)
        if "limit" in ended:
            raise LimitMet(f"the {log} {self.limits.explain(ended['limit'])}", self.log(log))
        return int(ended["status"])

    def _answer(self, guard: subprocess.Popen[bytes]) -> bytes:
        """What the guard said in the end; it is gone then."""
        try:
            return self._wait(guard)
        finally:
            assert guard.stdin is not None
            guard.stdin.close()
            guard.wait()
            assert guard.stdout is not None
            guard.stdout.close()

    def check_wanted(self) -> None:
        """Where we work on what commands left: end as they would.

        Raises:
            Interrupted: The sandbox was stopped.
        """
        if self.stop.is_set():
            raise Interrupted

    def note(self, log: str, text: str) -> None:
        """Add a line of our own to a log."""
        with self._log_path(log).open("a") as file:
            file.write(f"{text}\n")

    def log(self, name: str = "run") -> str:
        """The last lines that the commands of a log printed."""
        return last_lines(self.full_log(name))

    def full_log(self, name: str = "run") -> str:
        """All that the commands of a log printed, without paths of the workspace."""
        path = self._log_path(name)
        if not path.exists():
            return ""
        text = path.read_bytes().decode(errors="replace").replace("\0", "\ufffd")
        for place in (self.workspace, self.directory):
            text = text.replace(f"{place}/", "").replace(str(place), ".")
        return text

    def printed(self, text: str, log: str = "run") -> bool:
        """Whether the commands of a log printed this text."""
        return text in self.full_log(log)

    @property
    def _scratch(self) -> Path:
        return self.directory / "scratch"

    def _log_path(self, name: str) -> Path:
        return self.directory / "logs" / f"{name}.log"

    def _disk_short(self, *, before: bool) -> DiskShort:
        return DiskShort(self.directory.parent, self.limits, before=before)

    def _wait(self, guard: subprocess.Popen[bytes]) -> bytes:
        assert guard.stdout is not None
        while True:
            try:
                guard.wait(timeout=_POLL_SECONDS)
                return guard.stdout.read()
            except subprocess.TimeoutExpired:
                if self.stop.is_set():
                    raise Interrupted from None

    def _guard(
        self, log: str, watched: Sequence[Path], progress: Path | None, passed: Sequence[int]
    ) -> list[str]:
        script = Path(__file__).with_name("capture_guard.py")
        bounds = dataclasses.asdict(self.limits)
        bounds |= {"log": str(self._log_path(log)), "watched": [str(path) for path in watched]}
        bounds |= {"progress": str(progress or ""), "passed": list(passed)}
        bounds["in_memory"] = _IN_MEMORY if self.confined else ()
        return [sys.executable, "-I", str(script), json.dumps(bounds)]

    def _environment(self, more: Mapping[str, str]) -> dict[str, str]:
        kept = {
            name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ
        }
        return {
            **kept,
            "HOME": str(self.workspace),
            # On disk: SMPI puts a copy of the program here for every rank.
            "TMPDIR": str(self._scratch),
            "LANG": "C.UTF-8",
            **more,
        }

    def _confinement(self, writable: Sequence[Path]) -> list[str]:
        scratch = ["--size", str(min(_SCRATCH_BYTES, self.limits.disk_bytes)), "--tmpfs"]
        arguments = ["bwrap", *_isolation(self.stranger), "--ro-bind", "/usr", "/usr"]
        for directory in map(Path, _SYSTEM):
            if directory.is_symlink():
                arguments += ["--symlink", str(directory.readlink()), str(directory)]
            elif directory.exists():
                arguments += ["--ro-bind", str(directory), str(directory)]
        # Parents that bubblewrap makes for mount points would be closed to a stranger.
        arguments += ["--perms", "755", "--dir", "/etc"]
        for setting in (*_SETTINGS, *_simgrid_outside_usr()):
            arguments += ["--ro-bind-try", setting, setting]
        arguments += ["--proc", "/proc"]
        # The settings of the kernel obey root by its number, in whatever namespace it is.
        for kernel in _KERNEL:
            arguments += ["--ro-bind-try", kernel, kernel]
        arguments += ["--dev", "/dev"]
        for place in _IN_MEMORY:
            arguments += ["--perms", "1777", *scratch, place]
        for parent in (*reversed(self.directory.parents), self.directory):
            if parent not in (Path("/"), Path("/tmp")):  # noqa: S108
                arguments += ["--perms", "755", "--dir", str(parent)]
        for path in (self.control, *self.readable):
            arguments += ["--ro-bind", str(path), str(path)]
        for path in writable:
            arguments += ["--bind", str(path), str(path)]
        # What bubblewrap makes for the mount points is memory without a limit.
        arguments += ["--remount-ro", "/dev", "--remount-ro", "/"]
        return [*arguments, "--chdir", str(self.workspace)]


Watching = Callable[[Sandbox], AbstractContextManager[None]]
"""Opened over a sandbox while commands run in it, for their logs and how far they are."""


def _isolation(stranger: bool) -> list[str]:
    # A user namespace holds one user; to become another one, root must remain root until then.
    shut = [*_ISOLATION, "--unshare-cgroup-try"] if stranger else ["--unshare-all"]
    drop = [] if stranger else ["--cap-drop", "ALL"]
    return [*shut, "--hostname", "capture", "--die-with-parent", "--new-session", *drop]


def _become(user: int) -> list[str]:
    become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    return [*become, "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]


def _simgrid_outside_usr() -> list[str]:
    smpirun = shutil.which("smpirun")
    prefix = Path(smpirun).resolve().parent.parent if smpirun else Path("/usr")
    return [] if prefix.is_relative_to("/usr") or prefix == Path("/") else [str(prefix)]


def temporary_files_problem() -> str | None:
    """Why programs cannot be captured where temporary files go; None when they can.

    Programs are built there, and SMPI loads a copy of them for each rank.
    """
    directory = tempfile.gettempdir()
    if os.statvfs(directory).f_flag & os.ST_NOEXEC:
        return (
            f"no program may be run from {directory}, which is mounted with noexec; set TMPDIR to "
            "a directory that is not, or mount it with exec"
        )
    return None


@cache
def confinement_problem() -> str | None:
    """Why bubblewrap cannot shut programs in on this machine; None when it can."""
    if shutil.which("bwrap") is None:
        return "bwrap is not installed"
    if not _FILTER.exists():
        return "the filter of system calls is not built; run ./setup.sh"
    return _try(_trial(stranger=False), ["true"])


@cache
def _can_be_stranger() -> bool:
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        return False
    return _try(_trial(stranger=True), [*_become(_FIRST_USER), "true"]) is None


def _trial(*, stranger: bool) -> list[str]:
    """What mounts all kinds that `Sandbox` does: a masked /proc lets the others through."""
    mounts = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # noqa: S108
    return ["bwrap", *_isolation(stranger), *mounts]


@contextmanager
def _open_filter() -> Iterator[int]:
    """A descriptor from which bubblewrap reads which system calls are allowed."""
    with os.fdopen(os.memfd_create("system-calls"), "wb") as file:
        file.write(_program_filter())
        file.flush()
        file.seek(0)
        yield file.fileno()


@cache
def _program_filter() -> bytes:
    return subprocess.run([_FILTER], capture_output=True, check=True).stdout


def _try(confinement: list[str], command: list[str]) -> str | None:
    with _open_filter() as calls:
        done = subprocess.run(
            [*confinement, "--seccomp", str(calls), *command],
            capture_output=True,
            text=True,
            check=False,
            pass_fds=[calls],
        )
    return None if done.returncode == 0 else (done.stderr.strip() or "it failed")
