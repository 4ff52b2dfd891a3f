"""Where the service is, if nobody says so."""

from __future__ import annotations

import json
import os
from pathlib import Path

import httpx

__all__ = ["DEFAULT_URL", "service_url"]

DEFAULT_URL = "http://127.0.0.1:8080"
_DATA = "~/.local/share/hamtune"
_ANNOUNCED = "server.json"
_SECONDS = 1.0
"""For which an answer is waited for: whoever makes a client waits, an event loop with it."""
_CONNECT_SECONDS = 0.25
"""Within which a service of this machine takes a connection, however busy it is."""
_PATIENCE = httpx.Timeout(_SECONDS, connect=_CONNECT_SECONDS)


def service_url() -> str:
    """The service that `HAMTUNE_SERVER` names, else the one that runs over the data directory.

    The data directory is that of the command line: `HAMTUNE_DATA`, or `~/.local/share/hamtune`.
    Where no service runs over it either, port 8080 of this machine is taken.
    """
    named = os.environ.get("HAMTUNE_SERVER")
    if named:
        return named
    data = Path(os.environ.get("HAMTUNE_DATA") or _DATA).expanduser()
    return _announced(data / _ANNOUNCED) or DEFAULT_URL


def _announced(path: Path) -> str | None:
    """The URL that a running service wrote there; None where none does, or it is gone."""
    try:
        url = str(json.loads(path.read_text())["url"])
        httpx.get(f"{url}/healthz", timeout=_PATIENCE).raise_for_status()
    except httpx.ReadTimeout:
        return url  # it is there, and busy
    except (OSError, ValueError, KeyError, TypeError, httpx.HTTPError, httpx.InvalidURL):
        return None
    return url
