"""The `hamtune` command of an installed package."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["main"]

_ROOMS = Path(__file__).resolve().parent / "rooms"


def main() -> int:
    """Run the command line, with the rooms where it and the processes that it starts find them."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(_ROOMS), *([before] if before else [])])
    sys.path.insert(0, str(_ROOMS))
    from cli.__main__ import main as command

    return command()
