"""Lists of hosts of little text that stand for very much."""

from __future__ import annotations

import pytest

from searchspace.errors import InvalidInput
from searchspace.formats.host_list import count_names, expand


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a" * 1000 + "[0-65535]", "more than 253 characters"),
        ("[1]" * 100_000, "more than 253 characters"),
        ("x" * 254, "more than 253 characters"),
        ("n[0-1048575]", "stands for more than 65536 names, the most that a list can have"),
        ("n[0-65535],login", "stands for more than 65536 names"),
        (",".join(["a" * 200 + "[0-65534]"] * 10), "stands for more than 65536 names"),
        ("n[" + "1," * 1_100_000 + "1]", "stands for more than 65536 names"),
        ("n" + "[0-9999]" * 25, "stands for more than 65536 names"),
    ],
)
def test_what_would_take_gigabytes_is_refused(text: str, message: str) -> None:
    for read in (expand, count_names):
        with pytest.raises(InvalidInput, match=message):
            read(text)


@pytest.mark.parametrize("text", ["", "n1", "n[01-03,7],login", "r[1-20]n[001-100]-ib", "a,,b,"])
def test_names_are_counted_as_they_are_written_out(text: str) -> None:
    assert count_names(text) == len(expand(text))


def test_long_lists_of_a_large_cluster_are_written_out() -> None:
    names = expand("rack[000-255]-node[0000-0255].cluster")

    assert len(names) == len(set(names)) == 65_536
    assert (names[0], names[-1]) == ("rack000-node0000.cluster", "rack255-node0255.cluster")


def test_a_name_may_have_253_characters() -> None:
    assert [len(name) for name in expand("a" * 250 + "[001-003]")] == [253] * 3
