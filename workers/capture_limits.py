"""What captures of users' programs may use. Loads nothing, for settings that all commands read."""

from __future__ import annotations

from dataclasses import dataclass, field

from searchspace.units import format_size

__all__ = ["CapturePolicy", "Limits"]


@dataclass(frozen=True)
class Limits:
    """What each command of a capture may use, with all processes that it starts.

    Attributes:
        wall_seconds: Real time, s.
        cpu_seconds: CPU time, s.
        stall_seconds: Real time that a run under SMPI may take between two calls of MPI, s.
        idle_seconds: Real time for which such a run may do nothing at all, s.
        memory_bytes: Resident memory of all processes, and address space of each.
        processes: Processes and threads at once.
        file_bytes: Size of a file; no rank of a trace can hold more.
        disk_bytes: All files of the capture, scratch files and those without a name included.
        entries: Files and directories of the capture, scratch files included; those in memory
            count by themselves.
        reserve_bytes: What is to remain free on the disk of the host.
        reserve_entries: Files and directories that are to remain possible there.
        log_bytes: What is kept of what it prints: three quarters from the beginning.
    """

    wall_seconds: float = 3600.0
    cpu_seconds: float = 3600.0
    stall_seconds: float = 600.0
    idle_seconds: float = 30.0
    memory_bytes: int = 16 << 30
    processes: int = 512
    file_bytes: int = 2 << 30
    disk_bytes: int = 8 << 30
    entries: int = 500_000
    reserve_bytes: int = 256 << 20
    reserve_entries: int = 10_000
    log_bytes: int = 1 << 20

    def explain(self, limit: str) -> str:
        """What a command did that met a limit, in words that follow a subject."""
        return {
            "wall": f"did not end within {self.wall_seconds:g} seconds",
            "cpu": f"used more than {self.cpu_seconds:g} seconds of CPU time",
            "stall": f"made no call of MPI for {self.stall_seconds:g} seconds",
            "idle": f"did nothing for {self.idle_seconds:g} seconds, so that it waits for "
            "something that is not MPI",
            "memory": f"used more than {format_size(self.memory_bytes)} of memory",
            "processes": f"ran more than {self.processes} processes and threads at once",
            "disk": f"wrote more than {format_size(self.disk_bytes)} to disk",
            "entries": f"made more than {self.entries} files and directories",
            "depth": "nested directories too deeply",
        }[limit]


@dataclass(frozen=True)
class CapturePolicy:
    """What an administrator allows captures of users' programs.

    Attributes:
        limits: What each command may use.
        sandbox: Whether bubblewrap shuts them in. False is for services that only trusted people
            use, on machines where bubblewrap cannot run.
    """

    limits: Limits = field(default_factory=Limits)
    sandbox: bool = True
