from __future__ import annotations

from typing import Any

from cli.beside import figures, reasons


def trial(number: int, value: float | None, busiest: int = 0, together: int = 0) -> dict[str, Any]:
    return {
        "number": number,
        "state": "failed" if value is None else "completed",
        "kind": "search",
        "fidelity": "full",
        "value": value,
        "summary": {
            "rank_finish_times": {"quantiles": {"0.5": value}},
            "link_loads": {"quantiles": {"1": busiest}, "bytes": together},
        },
    }


def test_the_slower_one_is_explained_by_its_cables() -> None:
    fast, slow = trial(17, 0.05, 1000, 8000), trial(3, 0.1, 2000, 8000)

    assert reasons(fast, slow) == [
        "trial 3 takes 2 times as long as trial 17",
        "its busiest cable carries 2 times as much",
    ]
    assert reasons(slow, fast) == reasons(fast, slow)
    assert "messages cross more cables" in reasons(fast, trial(3, 0.1, 1000, 16000))[1]
    assert "it waits longer" in reasons(fast, trial(3, 0.1, 1000, 8000))[1]
    assert reasons(trial(17, 0.05), slow)[1] == "trial 17 sends nothing over cables"


def test_what_cannot_be_compared_is_not() -> None:
    one = trial(1, 0.1, 1, 1)

    assert reasons(one, trial(2, None)) == []
    assert reasons(one, {**one, "number": 2}) == ["both take the same time"]
    assert "shortened" in reasons(one, {**one, "fidelity": "low"})[0]
    assert "network models" in reasons(one, {**one, "kind": "comparison"})[0]
    assert len(reasons(one, {**one, "value": 0.2, "summary": None})) == 1


def test_figures_are_of_what_was_measured() -> None:
    names = [one.name for one in figures(trial(1, 0.1, 1, 1), trial(2, 0.2, 1, 1))]
    assert names[0] == "simulated time"
    assert "busiest cable, one way" in names
    bare = {**trial(1, None), "summary": None}
    assert figures(bare, bare) == []
