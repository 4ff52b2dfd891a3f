"""Where the service over a data directory answers: `hamtune up` writes it, commands read it."""

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

__all__ = ["SERVER_FILE", "announce", "is_local", "live_server"]

SERVER_FILE = "server.json"
"""Where `hamtune up` says, in its data directory, under which URL it answers."""

_SECONDS = 5.0


def announce(data: Path, url: str, instance: str) -> None:
    """Say in a data directory where the service over it answers; the file is there whole or not.

    Args:
        data: The directory.
        url: Of the service.
        instance: What the service calls itself at `/healthz`.

    Raises:
        OSError: The directory cannot be written.
    """
    said = {"url": url, "pid": os.getpid(), "host": socket.gethostname(), "instance": instance}
    draft = data / SERVER_FILE.replace(".json", ".new")
    draft.write_text(json.dumps(said) + "\n", encoding="utf-8")
    draft.replace(data / SERVER_FILE)


def live_server(data: Path) -> str | None:
    """URL of the service that runs over this data directory; None if it does not answer.

    A service that was killed leaves its file behind, and anybody's program may have its port since
    then. So it is only taken for ours if it names the instance of the file. One of an earlier
    version names none, as its file does.
    """
    try:
        said = json.loads((data / SERVER_FILE).read_text(encoding="utf-8"))
        url = str(said["url"])
        if not _may_run(said, url):
            return None
        answer = httpx.get(f"{url}/healthz", timeout=_SECONDS, trust_env=not is_local(url))
        health = answer.raise_for_status().json()
        ours = health.get("instance") == said.get("instance") and "version" in health
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    except (httpx.HTTPError, httpx.InvalidURL):
        return None
    return url if ours else None


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


def _may_run(said: Mapping[str, Any], url: str) -> bool:
    """Whether what a file says can be true here, before anything is sent there."""
    here = socket.gethostname()
    if said.get("host", here) != here:  # of a directory that hosts share: its loopback is another
        return not is_local(url)
    return isinstance(said["pid"], int) and Path(f"/proc/{said['pid']}").exists()
