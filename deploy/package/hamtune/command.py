"""The `hamtune` command of an installed package."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

__all__ = ["main"]

_ROOMS = Path(__file__).resolve().parent / "rooms"


def main() -> int:
    """Run the command line, with the rooms where it and the processes that it starts find them."""
    # For programs of the user: measuring/callers_environment.py.
    for name in ("PYTHONPATH", "PYTHONHOME"):
        os.environ[f"HAMTUNE_CALLERS_{name}"] = os.environ.pop(name, "")
    os.environ["PYTHONPATH"] = str(_ROOMS)
    sys.path.insert(0, str(_ROOMS))
    _find_simgrid()
    from cli.__main__ import main as command

    return command()


def _find_simgrid() -> None:
    """Have the compilers of the SimGrid found that the package was built with, if it is there."""
    prefix = (_ROOMS / "build/workers/simulator/simgrid-prefix").read_text().strip()
    own = Path(prefix) / "bin"
    found = shutil.which("smpicc")
    if (own / "smpicc").exists() and (found is None or not Path(found).samefile(own / "smpicc")):
        path = os.environ.get("PATH", os.defpath)
        os.environ["PATH"] = os.pathsep.join([str(own), path])
