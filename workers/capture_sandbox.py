"""Commands of a capture, shut in: read-only system, no network, limits, no survivors."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from searchspace.errors import HamtuneError
from searchspace.formats.trace import MAX_TOTAL_BYTES

__all__ = ["CaptureFailed", "Limits", "Sandbox", "confinement_problem"]

_LOG_LINES = 25
_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
_SETTINGS = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
)


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


@dataclass(frozen=True)
class Limits:
    """What each command of a capture may use.

    Attributes:
        wall_seconds: Real time, s.
        memory_bytes: Address space, bytes.
    """

    wall_seconds: float = 3600.0
    memory_bytes: int = 16 << 30


@dataclass(frozen=True)
class Sandbox:
    """Runs commands in a directory that they may write, and only there.

    Attributes:
        workspace: The working and temporary directory of the commands.
        readable: Directories and files outside the system that they may read.
        limits: For each command.
        confined: Whether bubblewrap shuts the commands in. Limits hold either way; so does the end
            of all processes, but for those that leave their session when not confined.
    """

    workspace: Path
    readable: tuple[Path, ...]
    limits: Limits
    confined: bool = True

    def run(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> int:
        """Run a command; what it prints is appended to the log.

        Returns:
            Its exit status; negative is the signal that killed it.

        Raises:
            CaptureFailed: It did not end in time, or bubblewrap cannot run here.
        """
        if self.confined:
            reason = confinement_problem()
            if reason:
                raise CaptureFailed(
                    f"bubblewrap cannot shut programs in here ({reason}); "
                    "a program that you trust can be captured with --no-sandbox"
                )
            command = [*self._confinement(), *command]
        (self.workspace / "tmp").mkdir(exist_ok=True)
        with self._log_path.open("ab") as log:
            guard = subprocess.Popen(
                [*self._guard(), *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=self.workspace,
                env=self._environment(environment or {}),
                start_new_session=True,
            )
            try:
                status = self._wait(guard)
            finally:
                assert guard.stdin is not None
                guard.stdin.close()
                guard.wait()
        return status

    def log(self) -> str:
        """The last lines that the commands printed, without paths of the workspace."""
        text = self._log_path.read_bytes()[-65536:].decode(errors="replace")
        text = text.replace(f"{self.workspace}/", "").replace(str(self.workspace), ".")
        return "\n".join(text.splitlines()[-_LOG_LINES:])

    def printed(self, text: str) -> bool:
        """Whether the commands printed this text."""
        with self._log_path.open(errors="replace") as log:
            return any(text in line for line in log)

    @property
    def _log_path(self) -> Path:
        return self.workspace / "log"

    def _wait(self, guard: subprocess.Popen[bytes]) -> int:
        try:
            guard.wait(timeout=self.limits.wall_seconds)
        except subprocess.TimeoutExpired:
            message = f"it did not end within {self.limits.wall_seconds:g} seconds"
            raise CaptureFailed(message, self.log()) from None
        assert guard.stdout is not None
        answer = guard.stdout.read()
        if not answer:
            raise CaptureFailed("it was killed from outside", self.log())
        return int(answer)

    def _guard(self) -> list[str]:
        script = Path(__file__).with_name("capture_guard.py")
        limits = [str(self.limits.memory_bytes), str(MAX_TOTAL_BYTES)]
        return [sys.executable, "-I", str(script), *limits]

    def _environment(self, more: Mapping[str, str]) -> dict[str, str]:
        kept = {
            name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ
        }
        return {
            **kept,
            "HOME": str(self.workspace),
            "TMPDIR": str(self.workspace / "tmp"),
            "LANG": "C.UTF-8",
            **more,
        }

    def _confinement(self) -> list[str]:
        arguments = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session"]
        arguments += ["--cap-drop", "ALL", "--ro-bind", "/usr", "/usr"]
        for directory in map(Path, _SYSTEM):
            if directory.is_symlink():
                arguments += ["--symlink", str(directory.readlink()), str(directory)]
            elif directory.exists():
                arguments += ["--ro-bind", str(directory), str(directory)]
        for setting in (*_SETTINGS, *_simgrid_outside_usr()):
            arguments += ["--ro-bind-try", setting, setting]
        arguments += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # noqa: S108
        for path in self.readable:
            arguments += ["--ro-bind", str(path), str(path)]
        workspace = str(self.workspace)
        return [*arguments, "--bind", workspace, workspace, "--chdir", workspace]


def _simgrid_outside_usr() -> list[str]:
    smpirun = shutil.which("smpirun")
    prefix = Path(smpirun).resolve().parent.parent if smpirun else Path("/usr")
    return [] if prefix.is_relative_to("/usr") or prefix == Path("/") else [str(prefix)]


@cache
def confinement_problem() -> str | None:
    """Why bubblewrap cannot shut programs in on this machine; None when it can."""
    if shutil.which("bwrap") is None:
        return "bwrap is not installed"
    trial = subprocess.run(
        ["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "true"],
        capture_output=True,
        text=True,
        check=False,
    )
    return None if trial.returncode == 0 else (trial.stderr.strip() or "it failed")
