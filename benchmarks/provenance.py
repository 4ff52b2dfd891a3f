"""When, where and with what figures were measured, for the files that keep them."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

__all__ = ["machine", "measured_now", "releases"]


def measured_now() -> dict[str, str]:
    """The day, and this machine."""
    return {"date": datetime.now(UTC).date().isoformat(), **machine()}


def machine() -> dict[str, str]:
    """The processor and its cores."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = [line for line in lines if line.startswith("model name")]
    return {
        "processor": model[0].partition(": ")[2] if model else "unknown",
        "cores": str(os.cpu_count()),
    }


def releases(*packages: str) -> dict[str, str]:
    """The releases of installed Python packages."""
    return {name: version(name) for name in packages}
