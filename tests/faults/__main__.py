"""An hour of faults of all kinds at once: `python -m tests.faults --minutes 60 [--output F.json]`.

Twenty jobs run on a real installation. Meanwhile processes die, servers restart, and network,
clocks and messages go wrong, each kind by itself and so several at a time. In the end no trial is
lost, none is double, no job stuck, and all trials are those of a run in which nothing broke.
"""

from __future__ import annotations

import argparse
import datetime
import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from storage.records import FINAL_JOB_STATES
from tests.faults import faults
from tests.faults.cluster import Installation, installation
from tests.faults.faults import FAULTS, Fault
from tests.faults.jobs import check, job, wait_for
from workers.simulator_client import simulator_version

AT_ONCE = 3
MOST_PAUSE_SECONDS = 4.0
KINDS: tuple[tuple[Fault, ...], ...] = (
    (faults.empty_redis, faults.restart_postgresql, faults.cut_connections),
    (faults.cut_network, faults.step_clock, faults.deliver_again),
    tuple(
        fault
        for fault in FAULTS
        if fault.__name__.startswith(("kill", "restart_w", "restart_c", "stall", "fill"))
    ),
)
"""Those of one kind come one after the other: two cannot restart one process at once."""


def main() -> int:
    """Breaks things for so many minutes; 0 where nothing came of it."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="hamtune-faults-") as name:
        folder = Path(name)
        (folder / "faulty").mkdir()
        with installation(folder / "faulty") as running:
            try:
                jobs = _disturbed(running, arguments.jobs, arguments.minutes * 60.0, arguments.seed)
                _say(f"{len(running.events)} faults: {_counted(running.events)}")
                wait_for(running, jobs)
                _say(f"{len(jobs)} jobs have ended; the same without faults")
                check(running, jobs, folder)
            except BaseException:
                _tell_of(running)
                raise
    print(f"{len(jobs)} jobs, {len(running.events)} faults: nothing lost, double or different")
    if arguments.output:
        _keep(arguments, len(jobs), running.events)
    return 0


def _keep(arguments: argparse.Namespace, jobs: int, events: Sequence[str]) -> None:
    """Write what was survived; a run that lost anything has ended before."""
    document = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "simulator": simulator_version(),
        "minutes": arguments.minutes,
        "seed": arguments.seed,
        "jobs": jobs,
        "faults": dict(Counter(events).most_common()),
    }
    arguments.output.write_text(json.dumps(document, indent=1) + "\n")


def _disturbed(running: Installation, most: int, seconds: float, seed: int) -> dict[int, str]:
    """Create jobs, evenly over the time in which things break; their ids by number."""
    ended = threading.Event()
    problems: list[BaseException] = []
    idle = threading.Semaphore(0)

    def keep_breaking(kind: Sequence[Fault], rng: random.Random) -> None:
        try:
            while not ended.wait(rng.uniform(0.0, MOST_PAUSE_SECONDS)):
                (fault,) = rng.choices(kind, [FAULTS[one] for one in kind])
                running.events.append(fault.__name__)
                fault(running, rng)
                # However slow the machine is, it comes to itself for a moment: what breaks before
                # anything has started again says nothing of what was broken.
                running.get("/jobs", limit=1)
        except BaseException as problem:
            problems.append(problem)
            ended.set()
        idle.release()
        threading.Event().wait()  # the kernel ends the servers that a thread started with it

    threads = [
        threading.Thread(
            target=keep_breaking, args=(kind, random.Random(seed * 100 + number)), daemon=True
        )
        for number, kind in enumerate(KINDS)
    ]
    for thread in threads:
        thread.start()
    jobs: dict[int, str] = {}
    deadline = time.monotonic() + seconds
    try:
        while time.monotonic() < deadline and not ended.is_set():
            running.start_again()
            shown = running.get("/jobs", limit=100)["items"]
            active = [one for one in shown if one["state"] not in FINAL_JOB_STATES]
            is_due = time.monotonic() >= deadline - seconds * (1 - len(jobs) / most)
            if len(jobs) < most and len(active) < AT_ONCE and is_due:
                jobs[len(jobs) + 1] = running.submit(job(len(jobs) + 1))
                _say(f"job {len(jobs)} of {most}, after {len(running.events)} faults")
            ended.wait(1.0)
    finally:
        ended.set()
        for _ in threads:
            idle.acquire()
        running.set_clocks(0)
    if problems:
        raise problems[0]
    return jobs


def _tell_of(running: Installation) -> None:
    """What the processes have logged last, before it is gone with their directory."""
    _say(f"the last faults: {', '.join(running.events[-10:])}")
    for process in running.processes:
        ended = "has ended" if process.has_ended() else "lives"
        _say(f"{process.name} {ended}:\n{process.log.read_text(errors='replace')[-2000:]}")


def _counted(events: Sequence[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in Counter(events).most_common())


def _say(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="of faults (60)")
    parser.add_argument("--jobs", type=int, default=20, help="at most (20)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, help="a JSON file that tells what was survived")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
