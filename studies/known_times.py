"""Simulated times that are known already, so that a study that was interrupted goes on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from searchspace.configuration import sha256_of
from workers.simulator_client import simulator_version

__all__ = ["KnownTimes"]


class KnownTimes:
    """Simulated seconds by trace and request, in a file that grows by a line for each.

    A line cut short when a study was killed is passed over, and so is simulated again.

    Args:
        path: The file; made when the first time is added.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._times: dict[str, float] = {}
        lines = path.read_text().splitlines() if path.exists() else []
        for line in lines:
            try:
                key, seconds = json.loads(line)
            except ValueError:
                continue
            self._times[key] = seconds

    @staticmethod
    def key(trace_sha256: str, request: Mapping[str, Any]) -> str:
        """Names a simulation: another trace, platform, option or simulator has another key."""
        return sha256_of(
            {"trace": trace_sha256, "request": dict(request), "simulator": simulator_version()}
        )

    def get(self, key: str) -> float | None:
        """The simulated seconds, if they are known."""
        return self._times.get(key)

    def add(self, key: str, seconds: float) -> None:
        """Remembers simulated seconds."""
        self._times[key] = seconds
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a") as file:
            file.write(json.dumps([key, seconds]) + "\n")
