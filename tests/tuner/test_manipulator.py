"""OpenTuner's parameters, repaired: values stay JSON values of the space."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentuner.search import manipulator as stock

from tuner.manipulator import Manipulator, build

ENUM = {"name": "a/b.c", "kind": "enum", "values": ["x", 1, 2.5, "y"]}
BOOLEAN = {"name": "flag", "kind": "boolean"}
INTEGER = {"name": "count", "kind": "integer", "low": -3, "high": 40}
LOG_INTEGER = {"name": "bytes", "kind": "log-integer", "low": 100, "high": 10**15}
PERMUTATION = {"name": "order", "kind": "permutation", "items": ["a", "b", "c", "d", "e", 6, 7, 8]}
ALL: list[dict[str, Any]] = [ENUM, BOOLEAN, INTEGER, LOG_INTEGER, PERMUTATION]


def valid(values: dict[str, Any]) -> bool:
    return (
        values["a/b.c"] in ENUM["values"]
        and type(values["flag"]) is bool
        and type(values["count"]) is int
        and -3 <= values["count"] <= 40
        and type(values["bytes"]) is int
        and 100 <= values["bytes"] <= 10**15
        and sorted(map(str, values["order"])) == ["6", "7", "8", "a", "b", "c", "d", "e"]
    )


def operators(parameter: Any) -> list[str]:
    return [name for name in dir(parameter) if name.startswith(("op1_", "op3_swarm", "op4_"))]


@given(st.integers(0, 10**6))
def test_every_operator_leads_from_valid_values_to_valid_values(seed: int) -> None:
    random.seed(seed)
    manipulator = build(ALL)
    values, first, second, third = (manipulator.random() for _ in range(4))
    assert all(valid(v) for v in (values, first, second, third))
    for parameter in manipulator.params:
        for name in operators(parameter):
            operator = getattr(parameter, name)
            if name == "op1_scale":
                continue  # no technique uses it
            if name.startswith("op1"):
                operator(values)
            elif name == "op3_swarm":
                operator(values, first, second, c=0.5, c1=0.5, c2=0.5, velocity=0)
            else:
                operator(values, first, second, third, 1.0, 0.7, -0.7)
            assert valid(values), name
        if parameter.is_primitive():
            parameter.set_unit_value(values, random.choice((0.0, random.random(), 1.0)))
            assert valid(values)
    assert all(valid(v) for v in (first, second, third))


@given(st.integers(0, 10**6))
def test_every_crossover_makes_a_permutation_and_leaves_the_parents_alone(seed: int) -> None:
    random.seed(seed)
    manipulator = build([PERMUTATION])
    (parameter,) = manipulator.params
    first, second = manipulator.random(), manipulator.random()
    before = manipulator.copy(first), manipulator.copy(second)
    for name in ("OX1", "OX3", "PMX", "PX", "CX"):
        child = manipulator.copy(first)
        parameter.op3_cross(child, first, second, xchoice=f"op3_cross_{name}")
        assert sorted(map(str, child["order"])) == sorted(map(str, PERMUTATION["items"]))
    assert (first, second) == before


def test_large_integers_are_copied_exactly() -> None:
    (parameter,) = build([LOG_INTEGER]).params
    target: dict[str, Any] = {"bytes": 100}
    parameter.copy_value({"bytes": 10**15 - 1}, target)
    assert target == {"bytes": 10**15 - 1}


def test_log_integers_are_drawn_evenly_over_orders_of_magnitude() -> None:
    random.seed(5)
    manipulator = build([{"name": "n", "kind": "log-integer", "low": 1, "high": 2**20 - 1}])
    draws = [manipulator.random()["n"].bit_length() for _ in range(4000)]
    counts = [draws.count(bits) for bits in range(2, 21)]
    assert min(counts) > 120
    assert max(counts) < 300


def test_mixing_takes_a_parents_value_and_does_not_touch_the_parents() -> None:
    random.seed(2)
    (parameter,) = build([ENUM]).params
    best = {"a/b.c": "y"}
    seen = set()
    for _ in range(50):
        position = {"a/b.c": "x"}
        parameter.op3_swarm(position, best, best, 0.5, 0.5, 0.5)
        seen.add(position["a/b.c"])
        assert best == {"a/b.c": "y"}
    assert seen == {"x", "y"}


def test_the_stock_mixing_overwrites_the_parents() -> None:
    """The reason for the repair: should this change, it can go."""
    manipulator = stock.ConfigurationManipulator()
    manipulator.add_parameter(stock.EnumParameter("e", ["x", "y"]))
    (parameter,) = manipulator.params
    best = {"e": "y"}
    for _ in range(50):
        parameter.op3_swarm({"e": "x"}, best, best, 0.5, 0.5, 0.5)
    assert best == {"e": "x"}


def test_techniques_may_shuffle_the_list_of_parameters() -> None:
    manipulator = build(ALL)
    manipulator.parameters({}).reverse()
    assert [p.name for p in manipulator.params] == [p["name"] for p in ALL]


@pytest.mark.parametrize(("one", "other"), [({"a": 1}, {"a": True}), ({"a": 1}, {"a": 1.0})])
def test_configurations_that_differ_as_json_have_different_hashes(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    manipulator = Manipulator()
    assert manipulator.hash_config(one) != manipulator.hash_config(other)
    assert manipulator.hash_config({"b": 1, "a": 2}) == manipulator.hash_config({"a": 2, "b": 1})
