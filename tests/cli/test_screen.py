from __future__ import annotations

from rich.console import Console

from cli.screen import trial_table


def test_a_censored_trial_shows_its_bound() -> None:
    trial = {
        "number": 3,
        "kind": "search",
        "fidelity": "full",
        "state": "censored",
        "value": 0.08,
        "cached": True,
        "cpu_seconds": 0.5,
        "label": None,
        "configuration": {"topology": "mesh-2d"},
    }
    console = Console(width=100)

    with console.capture() as captured:
        console.print(trial_table([trial]))

    row = captured.get().splitlines()[1]
    assert row.split() == ["3", "censored", "(cached)", ">", "80", "ms", "0.50", "topology=mesh-2d"]
