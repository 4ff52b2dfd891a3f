"""The environment that Hamtune was called in, for programs of the user."""

from __future__ import annotations

import os

__all__ = ["callers_environment"]

_REPLACED = ("PYTHONPATH", "PYTHONHOME")


def callers_environment() -> dict[str, str]:
    """This process's environment, with Python's variables as they were before the launcher.

    `hamtune` lets no module of another Python come before its own, and keeps what was there under
    `HAMTUNE_CALLERS_PYTHONPATH` and `HAMTUNE_CALLERS_PYTHONHOME`: programs of the user need that.
    """
    found = dict(os.environ)
    for name in _REPLACED:
        before = found.pop(f"HAMTUNE_CALLERS_{name}", None)
        if before:
            found[name] = before
        elif before is not None:
            found.pop(name, None)
    return found
