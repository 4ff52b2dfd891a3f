"""Evaluates a program each time it is asked, for `benchmarks.turns`, which runs it in trees.

Usage: evaluating.py PROGRAM CLASS RANKS MODEL [NAME=VALUE...], with - for no class; for each line
of input the answer is a line of JSON.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.machines import designed
from searchspace.configuration import Configuration
from searchspace.machine import parse_machine
from searchspace.platform import resolve
from workers.capture import capture_builtin
from workers.simulator_client import Simulator


def main() -> None:
    """Answer until the input ends."""
    program, class_, ranks, model = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    parameters = {name: int(value) for name, value in (word.split("=") for word in sys.argv[5:])}
    machine = parse_machine(designed(max(ranks, 16), 8, network=model))
    network = Configuration.from_json({"topology": "random", "topology_seed": 1})
    request = resolve(network, machine, ranks).simulator_request()
    with tempfile.TemporaryDirectory(prefix="hamtune-before-") as place:
        trace = Path(place) / "trace.ht"
        capture_builtin(program, None if class_ == "-" else class_, ranks, parameters, trace)
        _answer(Simulator([trace]), request)


def _answer(simulator: Simulator, request: dict[str, Any]) -> None:
    with simulator:
        for _ in sys.stdin:
            answer = simulator.evaluate(request)
            told = {name: answer[name] for name in ("status", "cpu_seconds", "simulated_time")}
            print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
