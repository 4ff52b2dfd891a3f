"""Search spaces: exact size, canonical configurations, sampling."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.configuration import Configuration
from searchspace.errors import InvalidInput
from searchspace.space import (
    BooleanParameter,
    Condition,
    Constraint,
    EnumParameter,
    IntegerParameter,
    LogIntegerParameter,
    Parameter,
    PermutationParameter,
    PlacementParameter,
    SearchSpace,
)


@st.composite
def spaces(draw: st.DrawFn) -> SearchSpace:
    """Small spaces of every kind of parameter, with chains of conditions."""
    parameters: list[Parameter] = []
    for number in range(draw(st.integers(1, 5))):
        name = f"group.p{number}"
        when = None
        if len(parameters) > 0 and draw(st.booleans()):
            decider = draw(st.sampled_from(parameters))
            values = [value for value in decider.every() if not isinstance(value, tuple)]
            if values:
                some = draw(st.lists(st.sampled_from(values), min_size=1, unique=True))
                when = Condition(decider.name, tuple(some))
        low = draw(st.integers(1, 5))
        high = low + draw(st.integers(0, 3))
        options = tuple("abcd"[: draw(st.integers(1, 4))])
        parameters.append(
            draw(
                st.sampled_from(
                    [
                        EnumParameter(name, options, when),
                        BooleanParameter(name, when),
                        IntegerParameter(name, low, high, when),
                        LogIntegerParameter(name, low, high, when),
                        PermutationParameter(name, options[:3], when),
                        PlacementParameter(name, 2, 2, 2, when),
                    ]
                )
            )
        )
    return SearchSpace(parameters)


@given(spaces())
def test_the_size_counts_the_distinct_configurations(space: SearchSpace) -> None:
    every = list(space.enumerate())
    assert len(set(every)) == len(every) == space.size
    assert space.default() == every[0]


@given(spaces(), st.randoms(use_true_random=False))
def test_canonicalising_drops_what_does_not_count_and_is_idempotent(
    space: SearchSpace, rng: random.Random
) -> None:
    everything = {p.name: p.sample(rng) for p in space.parameters}
    once = space.canonicalise(everything)
    assert space.canonicalise(once) == once
    assert space.canonicalise(Configuration.from_json(once.to_dict())) == once
    assert once in set(space.enumerate())
    assert all(once[name] == everything[name] for name in once)


@given(spaces(), st.integers(0, 2**32))
def test_samples_lie_in_the_space_and_follow_the_seed(space: SearchSpace, seed: int) -> None:
    sample = space.sample(random.Random(seed))
    assert space.canonicalise(sample) == sample
    assert space.sample(random.Random(seed)) == sample


@given(spaces())
def test_the_description_names_every_parameter(space: SearchSpace) -> None:
    described = space.describe()
    assert described["size"] == space.size
    assert [p["name"] for p in described["parameters"]] == [p.name for p in space.parameters]


def test_a_condition_on_a_large_range_is_counted_without_enumerating_it() -> None:
    space = SearchSpace(
        [
            IntegerParameter("n", 1, 10**12),
            BooleanParameter("flag", when=Condition("n", (7,))),
            EnumParameter("mode", ("x", "y", "z"), when=Condition("flag", (True,))),
        ]
    )
    assert space.size == 10**12 - 1 + 1 + 3


def test_a_parameter_with_one_value_may_be_left_out() -> None:
    space = SearchSpace([EnumParameter("a", ("x",)), EnumParameter("b", ("x", "y"))])
    assert space.canonicalise({"b": "y"}).to_dict() == {"a": "x", "b": "y"}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"a": "x"}, "b: is missing"),
        ({"a": "x", "b": 9}, "b: 9 is not allowed; allowed: a whole number from 1 to 3$"),
        ({"a": "x", "b": True}, "b: True is not allowed"),
        ({"a": "x", "b": 1.0}, "b: 1.0 is not allowed"),
        ({"a": "w", "b": 1}, "a: 'w' is not allowed; allowed: x, y$"),
        ({"a": "x", "b": 1, "c": 1}, "c: unknown parameter; allowed: a, b"),
    ],
)
def test_canonicalise_refuses(values: dict[str, object], message: str) -> None:
    space = SearchSpace([EnumParameter("a", ("x", "y")), IntegerParameter("b", 1, 3)])
    with pytest.raises(InvalidInput, match=message):
        space.canonicalise(values)


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        (EnumParameter("p", ("x", 1, 2.5)), "x, 1, 2.5"),
        (BooleanParameter("p"), "false, true"),
        (PermutationParameter("p", ("a", "b")), "each of a, b once, in any order"),
        (
            PlacementParameter("p", ranks=3, hosts=2, cores_per_host=2),
            "a core of each of the 3 ranks, from 0 to 3, no core twice",
        ),
    ],
)
def test_values_that_are_allowed_are_told_in_words(parameter: Parameter, words: str) -> None:
    with pytest.raises(InvalidInput, match=f"p: 'w' is not allowed; allowed: {words}$"):
        SearchSpace([parameter]).canonicalise({"p": "w"})


def test_a_broken_constraint_says_why() -> None:
    space = SearchSpace(
        [IntegerParameter("a", 0, 3), IntegerParameter("b", 0, 3)],
        [Constraint("a must not exceed b", lambda v: v["a"] <= v["b"])],  # type: ignore[operator]
    )
    assert space.infeasible(Configuration({"a": 1, "b": 2})) is None
    assert space.infeasible(Configuration({"a": 2, "b": 1})) == "a must not exceed b"
    assert space.size == 16


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: [], "at least one parameter"),
        (lambda: [BooleanParameter("a"), BooleanParameter("a")], "a: is defined twice"),
        (lambda: [EnumParameter("a", ())], "a: needs at least one value"),
        (lambda: [EnumParameter("a", ("x", "x"))], "a: 'x' is listed twice"),
        (lambda: [EnumParameter("a", (1, True))], "a: True is listed twice"),
        (lambda: [IntegerParameter("a", 2, 1)], "a: no whole number is from 2 to 1"),
        (lambda: [LogIntegerParameter("a", 0, 1)], "begins at 1 or more"),
        (
            lambda: [BooleanParameter("a", Condition("b", (True,))), BooleanParameter("b")],
            "a: depends on 'b', which is not defined before it",
        ),
        (
            lambda: [BooleanParameter("a"), BooleanParameter("b", Condition("a", ("x",)))],
            "b: depends on a = 'x', which is never its value",
        ),
    ],
)
def test_refuses_a_bad_space(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(InvalidInput, match=message):
        SearchSpace(make())


@given(ranks=st.integers(1, 4), hosts=st.integers(1, 4), cores=st.integers(1, 3), data=st.data())
def test_placements_that_mean_the_same_run_are_one_value(
    ranks: int, hosts: int, cores: int, data: st.DataObject
) -> None:
    if ranks > hosts * cores:
        with pytest.raises(InvalidInput, match="ranks do not fit"):
            PlacementParameter("p", ranks, hosts, cores)
        return
    parameter = PlacementParameter("p", ranks, hosts, cores)

    order = data.draw(st.permutations(range(hosts * cores)))
    value = parameter.accept(order)

    assert isinstance(value, tuple)
    assert [int(c) // cores for c in value] == [c // cores for c in order[:ranks]]
    assert value == parameter.accept(list(value)) == parameter.accept(parameter.searched(value))
    assert sorted(parameter.searched(value)) == list(range(hosts * cores))
    every = list(parameter.every())
    assert len(set(every)) == len(every) == parameter.size
    assert value in every
    assert parameter.default in every


def test_what_is_no_placement() -> None:
    parameter = PlacementParameter("p", 3, 4, 1)
    for wrong in ([0, 1], [0, 1, 1], [0, 1, 4], [0, 1, True], [0, 1, -1], "012", [0, 1, 2, 3, 3]):
        assert parameter.accept(wrong) is None
    with pytest.raises(InvalidInput, match="at most 1024 cores, not 2048"):
        PlacementParameter("p", 3, 1024, 2)
