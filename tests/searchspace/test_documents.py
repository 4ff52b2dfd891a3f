"""Reading YAML and JSON from strangers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.documents import LARGEST_DOCUMENT, read_document
from searchspace.errors import InvalidInput

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(PLAIN.filter(lambda value: value not in (float("inf"), float("-inf"))))
def test_json_is_read_as_it_is(value: object) -> None:
    try:
        text = json.dumps(value, allow_nan=False)
    except ValueError:
        return
    assert read_document(text) == value


def test_yaml_and_json_say_the_same() -> None:
    yaml = "name: cg-64 # a comment\nsearch: {mpi: [mpich, ompi]}\nbudget:\n  target: 1e-3\n"
    document = {"name": "cg-64", "search": {"mpi": ["mpich", "ompi"]}, "budget": {"target": "1e-3"}}
    assert read_document(yaml) == document
    assert read_document(json.dumps(document).encode()) == document


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"\xff\xfe", "not UTF-8"),
        ("#" * (LARGEST_DOCUMENT + 1), "larger than 1 MiB"),
        ("a: &x [1]\nb: *x", "line 2, column 6: aliases are not allowed"),
        ("a: 1\na: 2", "line 2, column 1: 'a' is given twice"),
        ('{"a": 1, "a": 2}', "a: is given twice"),
        ('{"a": NaN}', "NaN is not a number"),
        ("a: [1, 2", "line 1, column 9"),
        ("!!python/object/apply:os.system [ls]", "tags are not allowed"),
        ("[" * 100_000, "nested too deeply"),
        ("- " * 50_000, "nested too deeply"),
        ('{"a": 1e400}', "not finite"),
        ("a: [1, -.inf]", "not finite"),
        ('a: {"\\ud800": 1}', "half a character"),
        ('{"a": "\\udfff"}', "half a character"),
        ("a: 0b" + "1" * 1001, "line 1, column 4: the number has too many digits"),
        ("a: " + "1" * 5000, "line 1, column 4: the number has too many digits"),
        ("\x00", "not YAML text"),
    ],
)
def test_refuses(text: str | bytes, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_document(text)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read_document(text)
    except InvalidInput as error:
        assert "\n" not in str(error)


def test_dates_are_text_as_in_json() -> None:
    assert read_document("at: 2020-13-45\non: 2020-01-02 03:04:05") == {
        "at": "2020-13-45",
        "on": "2020-01-02 03:04:05",
    }


def test_a_tab_is_named() -> None:
    with pytest.raises(InvalidInput, match="line 2, column 1: a tab, where YAML is indented by sp"):
        read_document("a: 1\n\tb: 2\n")


def test_the_key_that_stands_twice_is_found_among_very_many() -> None:
    """Counting each of them took time by the square of their number."""
    names = [*range(70_000), 69_999]
    document = "{" + ",".join(f'"{name:x}":0' for name in names) + "}"
    with pytest.raises(InvalidInput, match=f"^{69_999:x}: is given twice"):
        read_document(document)


@pytest.mark.parametrize("text", ["? [a, b]\n: 1", "{{a: 1}: 2}", "? " * 60 + "[a, a]"])
def test_a_key_of_yaml_is_a_name(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"line 1, column .: a key is a list or a mapping; keys"):
        read_document(text)
