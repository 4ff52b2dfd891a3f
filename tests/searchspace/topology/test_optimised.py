"""Optimised networks as a family: reproducible, better than random, refused where impossible."""

from __future__ import annotations

from typing import Any

import pytest

from searchspace.errors import InvalidInput
from searchspace.job import build_space, load_job
from searchspace.options import Choice
from searchspace.topology import FAMILIES, generate, obstacle
from searchspace.topology.metrics import measure


def test_moves_buy_a_lower_mean_distance() -> None:
    found = generate("optimised", 32, degree=4, seed=1, iterations=20_000)
    assert set(found.degrees) == {4}
    assert measure(found).aspl < measure(generate("random", 32, degree=4, seed=1)).aspl
    assert generate("optimised", 32, degree=4, seed=1, iterations=20_000) == found


def test_the_ring_can_be_kept() -> None:
    found = generate("optimised", 16, degree=3, iterations=2_000, ring="keep")
    assert {(v, v + 1) for v in range(15)} <= set(found.edges)


@pytest.mark.parametrize(
    ("nodes", "degree", "options", "message"),
    [
        (15, 3, {}, "nodes x degree must be even"),
        (16, None, {}, "needs the machine's degree"),
        (16, 3, {"symmetry": 5}, "a symmetry of 5 does not divide 16 nodes .10 or 20 nodes can"),
        (16, 3, {"iterations": 0}, "iterations: must be a whole number from 1"),
        (16, 3, {"method": "luck"}, "method: unknown value 'luck'; allowed: auto, sa"),
    ],
)
def test_refuses(nodes: int, degree: int | None, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        generate("optimised", nodes, degree=degree, **options)


def test_only_methods_that_have_an_objective_of_the_family_can_be_chosen() -> None:
    methods = FAMILIES["optimised"].options[1]
    assert isinstance(methods, Choice)
    assert methods.choices == ("auto", "sa", "symmetric", "spectral", "2opt")


def test_what_an_optimiser_is_told_is_searched_over() -> None:
    document = {
        "name": "optimised",
        "application": {"builtin": "cg", "class": "S", "ranks": 16},
        "machine": {"nodes": 16, "degree": 4, "host_speed": "1Gf", "link_bandwidth": "1Gbps"},
        "search": {
            "topology": [
                "random",
                {"family": "optimised", "objective": "aspl", "iterations": [10, 1000]},
            ]
        },
        "budget": {"trials": 5},
    }
    built = build_space(load_job(document), 16)
    assert [c.to_dict().get("optimised") for c in built.space.enumerate()] == [
        None,
        {"objective": "aspl", "iterations": 10},
        {"objective": "aspl", "iterations": 1000},
    ]
    assert obstacle("optimised", 16, degree=4, iterations=10) is None
