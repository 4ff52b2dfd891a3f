from __future__ import annotations

from typing import Any

import pytest

from cli.differences import apart, flat, shown


def test_only_what_differs_is_told_by_its_path() -> None:
    documents: list[dict[str, Any]] = [
        {"seed": 1, "budget": {"trials": 40}, "limits": {}},
        {"seed": 1, "budget": {"trials": 80, "patience": 9}, "limits": {}},
        {"seed": 1, "budget": {"trials": 40}, "limits": {}},
    ]

    assert apart(documents) == {
        "budget.trials": [40, 80, 40],
        "budget.patience": [None, 9, None],
    }
    assert apart(documents[::2]) == {}
    assert apart([]) == {}


def test_lists_and_empty_objects_are_values() -> None:
    assert flat({"a": {"b": [1, {"c": 2}]}, "d": {}}) == {"a.b": [1, {"c": 2}], "d": {}}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "-"),
        (True, "true"),
        ("all", "all"),
        ([{"family": "random", "instances": 4}, "torus-2d"], "random (instances 4), torus-2d"),
        ([{"family": "ring"}], "ring"),
        (list(range(50)), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,..."),
    ],
)
def test_values_fit_beside_each_other(value: Any, words: str) -> None:
    assert shown(value) == words
