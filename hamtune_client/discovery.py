"""Where the service is, if nobody says so."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

__all__ = ["DEFAULT_URL", "is_local", "service_url"]

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
    try:
        data = Path(os.environ.get("HAMTUNE_DATA") or _DATA).expanduser()
    except RuntimeError:  # there is no home directory
        return DEFAULT_URL
    return _announced(data / _ANNOUNCED) or DEFAULT_URL


def is_local(url: str) -> bool:
    """Whether a URL names this machine itself, which no proxy of the environment can reach."""
    try:
        host = (urlsplit(url).hostname or "").partition("%")[0]
        if host == "localhost" or host.endswith(".localhost"):
            return True
        address = ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _announced(path: Path) -> str | None:
    """The URL that a running service wrote there; None where none does, or it is gone.

    A service that was killed leaves the file behind, and anybody's program may have its port since
    then: what answers has to name the instance of the file. One of an earlier version names none,
    as its file does.
    """
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        url = str(said["url"])
        if not _may_run(said, url):
            return None
        answer = httpx.get(f"{url}/healthz", timeout=_PATIENCE, trust_env=not is_local(url))
        health = answer.raise_for_status().json()
        ours = health.get("instance") == said.get("instance") and "version" in health
    except httpx.ReadTimeout:
        return url if _of_this_host(said) else None  # its process is there, and busy
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    except (httpx.HTTPError, httpx.InvalidURL):
        return None
    return url if ours else None


def _may_run(said: Mapping[str, Any], url: str) -> bool:
    """Whether what a file says can be true here, before anything is sent there."""
    if not _of_this_host(said):  # hosts share the directory, and its loopback is another
        return not is_local(url)
    return isinstance(said["pid"], int) and Path(f"/proc/{said['pid']}").exists()


def _of_this_host(said: Mapping[str, Any]) -> bool:
    """Whether a service of this host wrote a file; those of before did not say."""
    here = socket.gethostname()
    return bool(said.get("host", here) == here)
