"""Configurations: one canonical form and identity."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.configuration import Configuration
from searchspace.errors import InvalidInput

SCALARS = (
    st.text() | st.integers() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False)
)
NAMES = st.sampled_from(["topology", "mpi", "collectives.alltoall", "collectives.bcast", "a.b.c"])
VALUES = st.dictionaries(NAMES, SCALARS | st.lists(SCALARS, max_size=3))


def test_nested_and_dotted_names_mean_the_same() -> None:
    nested = Configuration.from_json({"mpi": "ompi", "collectives": {"alltoall": "bruck"}})
    dotted = Configuration.from_json({"collectives.alltoall": "bruck", "mpi": "ompi"})
    assert nested == dotted
    assert nested.sha256 == dotted.sha256
    assert nested["collectives.alltoall"] == "bruck"
    assert nested.canonical_json == '{"collectives":{"alltoall":"bruck"},"mpi":"ompi"}'


@given(VALUES)
def test_json_carries_a_configuration_unchanged(values: dict[str, object]) -> None:
    configuration = Configuration(values)
    again = Configuration.from_json(json.loads(json.dumps(configuration.to_dict())))
    assert again == configuration
    assert hash(again) == hash(configuration)
    assert again.canonical_json == configuration.canonical_json


def test_permutations_are_lists_in_json_and_tuples_here() -> None:
    configuration = Configuration({"order": [2, 0, 1]})
    assert configuration["order"] == (2, 0, 1)
    assert configuration.to_dict() == {"order": [2, 0, 1]}


def test_true_is_not_one() -> None:
    assert Configuration({"x": True}) != Configuration({"x": 1})


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "JSON object"),
        ({"x": None}, "x: None is not a string"),
        ({"x": float("nan")}, "finite"),
        ({"x": [[1]]}, "x: "),
        ({1: 2}, "1 is not a parameter name"),
        ({"a..b": 1}, "'a..b' is not a parameter name"),
        ({"a": {"b": 1}, "a.b": 2}, "a.b: is given twice"),
        ({"a": 1, "a.b": 2}, "both a value and a group"),
    ],
)
def test_refuses(document: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Configuration.from_json(document)


def test_refuses_deep_nesting() -> None:
    document: object = 1
    for _ in range(500):
        document = {"x": document}
    with pytest.raises(InvalidInput, match="nested more than 8 deep"):
        Configuration.from_json(document)
