"""Proves the two commands of the README in a fresh clone, from nothing and with an empty home.

    .venv/bin/python -m deploy.clone [STEP ...] [--load 12] [--output FILE.json]

Steps, those that are named, or both:

- demo: `make demo`, timed; start it while the machine is idle
- test: what `make test` installs, and then `make test` beside endless loops, as many as keep the
  load of the last minute at `--load` or above; it begins when the load is there

Each step clones the last commit anew. The machine keeps the packages of Debian that it has. What a
step finds replaces what the file has of it; the exit status tells whether all of it holds.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LOAD = 12.0
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_OWN = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "PYTHONPATH", "VIRTUAL_ENV", "MAKEFLAGS", "MFLAGS")
_EVERY = 20  # s between two looks at the load
_ROOM = 1.5  # of load above the least, before a loop ends
_MOST_LOOPS = 4  # for each of the load that is asked for
_SUMMARY = re.compile(r"^=*\s*(\d+ (?:passed|failed|error).* in [\d.]+s.*?)\s*=*$")


def main() -> int:
    """Take the steps."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("steps", nargs="*", metavar="STEP", help=f"of {', '.join(_STEPS)}")
    parser.add_argument("--load", type=float, default=LOAD)
    parser.add_argument("--output", type=Path, help="where what was found goes")
    arguments = parser.parse_args()
    if unknown := set(arguments.steps) - set(_STEPS):
        parser.error(f"no step {', '.join(sorted(unknown))}; there are {', '.join(_STEPS)}")
    output: Path | None = arguments.output
    found: dict[str, Any] = json.loads(output.read_text()) if output and output.exists() else {}
    steps = arguments.steps or list(_STEPS)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("clone: terminated"))  # loops end with it
    for step in steps:
        date = datetime.datetime.now(datetime.UTC).date().isoformat()
        with tempfile.TemporaryDirectory(prefix="hamtune-clone-") as folder:
            clone = Path(folder, "hamtune")
            subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
            Path(folder, "home").mkdir()
            found[step] = {"date": date, **_STEPS[step](clone, arguments.load)}
        print(json.dumps(found[step], indent=1), flush=True)
        if output:
            output.parent.mkdir(parents=True, exist_ok=True)
            output.write_text(json.dumps(found, indent=1) + "\n")
    return 0 if all(found[step]["holds"] for step in steps) else 1


def demo(clone: Path, _load: float) -> dict[str, Any]:
    """`make demo`, timed."""
    before, began = os.getloadavg()[0], time.monotonic()
    code, _ = run(["make", "demo"], clone)
    seconds = round(time.monotonic() - began)
    return {"holds": code == 0, "seconds_from_nothing": seconds, "load_before": round(before, 1)}


def test(clone: Path, load: float) -> dict[str, Any]:
    """`make test` at a load, in a clone that is set up already: what compilers do is no test."""
    code, _ = run(["./setup.sh", "--test"], clone)
    if code:
        return {"holds": False, "outcome": f"setup.sh: exit status {code}"}
    with _Loops(load) as loops:
        code, printed = run(["make", "test"], clone)
    summaries = [found[1] for line in printed if (found := _SUMMARY.match(line.strip()))]
    return {
        "holds": code == 0 and statistics.median(loops.loads) >= load,
        "outcome": summaries[-1] if summaries else f"make: exit status {code}",
        "load_asked": load,
        "load_median": statistics.median(loops.loads),
        "load_least": min(loops.loads),
        "load_most": max(loops.loads),
        "loads": loops.loads,
    }


def run(command: list[str], clone: Path) -> tuple[int, list[str]]:
    """Run a command in a clone; what it prints is seen, and returned with its exit status."""
    surroundings = {name: value for name, value in os.environ.items() if name not in _OWN}
    surroundings |= {"HOME": str(clone.parent / "home"), "PATH": _PATH}
    with subprocess.Popen(
        command,
        cwd=clone,
        env=surroundings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        lines = []
        for line in process.stdout or ():
            print(line, end="", flush=True)
            lines.append(line)
    return process.returncode, lines


class _Loops:
    """Endless loops beside a command, more of them while the load is less than what is asked."""

    def __init__(self, load: float) -> None:
        self.loads: list[float] = []
        self._load = load
        self._running: list[subprocess.Popen[bytes]] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep, daemon=True)

    def __enter__(self) -> _Loops:
        try:
            self._adjust(int(self._load))
            while os.getloadavg()[0] < self._load:
                time.sleep(_EVERY)
                self._look()
        except BaseException:
            self._adjust(0)
            raise
        self.loads.clear()
        self._look()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()
        self._adjust(0)

    def _keep(self) -> None:
        while not self._over.wait(_EVERY):
            self._look()

    def _look(self) -> None:
        load = os.getloadavg()[0]
        self.loads.append(round(load, 2))
        wanted = len(self._running) + (load < self._load) - (load > self._load + _ROOM)
        self._adjust(min(wanted, int(_MOST_LOOPS * self._load)))

    def _adjust(self, count: int) -> None:
        while len(self._running) < count:
            self._running.append(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
        while len(self._running) > count:
            loop = self._running.pop()
            loop.kill()
            loop.wait()


_STEPS: dict[str, Callable[[Path, float], dict[str, Any]]] = {"demo": demo, "test": test}

if __name__ == "__main__":
    sys.exit(main())
