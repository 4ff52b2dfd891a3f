"""Protocols: named ones, single fields over them, overheads by message size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.protocol import PROTOCOLS, Protocol
from searchspace.validation import check


def protocol(**fields: Any) -> Protocol:
    return check(Protocol, fields)


def test_the_named_protocols_have_a_number_for_everything() -> None:
    assert list(PROTOCOLS) == ["tcp-openmpi", "verbs", "ideal"]
    tcp = PROTOCOLS["tcp-openmpi"]
    assert (tcp.mtu, tcp.header, tcp.framing, tcp.eager_limit) == (1500, 52, 14, 65_480)
    assert (tcp.exchange, tcp.exchange_above, tcp.send_buffer) == ("half", 65_480, 1_000_000)
    verbs = PROTOCOLS["verbs"]
    assert (verbs.mtu, verbs.framing, verbs.eager_limit, verbs.send_buffer) == (4096, 26, 12_288, 0)
    ideal = PROTOCOLS["ideal"]
    assert (ideal.header, ideal.message_header, ideal.eager_limit) == (0, 0, None)


def test_the_documentation_has_the_numbers_of_the_named_protocols() -> None:
    text = (Path(__file__).parents[2] / "docs/network-models.md").read_text()
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| `")]
    header = next(line for line in text.splitlines() if line.startswith("| Field |"))
    names = [cell.strip().strip("`") for cell in header.strip("|").split("|")[1:-1]]
    documented = {
        field.strip(" `"): [cell.strip() for cell in cells]
        for first, *cells, _ in rows
        for field in first.split(",")
        if field.strip(" `") in Protocol.model_fields
    }
    assert list(documented) == list(Protocol.model_fields)
    assert names == list(PROTOCOLS)
    for field, cells in documented.items():
        for name, cell in zip(names, cells, strict=True):
            own = PROTOCOLS[name]
            value = own.numbers().get(field, getattr(own, field))
            assert cell == _written(value), (field, name)


def _written(value: Any) -> str:
    if value is None:
        return "null"
    return "none" if value == [] else str(value).removesuffix(".0")


def test_fields_stand_over_a_named_protocol() -> None:
    mine = protocol(name="verbs", mtu="2KiB", buffer="1MiB")
    assert mine.numbers() == PROTOCOLS["verbs"].numbers() | {"mtu": 2048, "buffer": 1 << 20}
    assert mine.text == "verbs with mtu, buffer of its own"
    assert protocol(eager_limit=None).text == "tcp-openmpi with eager_limit of its own"


def test_it_is_its_numbers_that_count_not_its_name() -> None:
    written_out = protocol(**PROTOCOLS["verbs"].numbers())
    assert written_out == PROTOCOLS["verbs"]
    assert written_out.text == "verbs"


def test_overheads_are_lists_or_the_text_of_smpi() -> None:
    text = protocol(send_overhead="0:1e-6:1e-10; 1000:2e-6:0")
    lists = protocol(send_overhead=[[0, "1us", 1e-10], ["1kB", 2e-6, 0]])
    assert text == lists
    assert lists.numbers()["send_overhead"] == [[0, 1e-6, 1e-10], [1000, 2e-6, 0.0]]


sizes = st.integers(0, 1 << 40)
seconds = st.floats(0, 1)
overheads = st.lists(st.tuples(sizes, seconds, st.floats(0, 1e-3)), max_size=4).map(
    lambda pieces: [
        [0 if index == 0 else size, *times]
        for index, (size, *times) in enumerate(
            sorted({piece[0] + 1: piece for piece in pieces}.values())
        )
        if index == 0 or size > 0
    ]
)


@given(
    st.sampled_from(list(PROTOCOLS)),
    st.fixed_dictionaries(
        {},
        optional={
            "switching": st.sampled_from(["store-and-forward", "cut-through"]),
            "mtu": st.integers(64, 1 << 20),
            "framing": st.integers(0, 100),
            "eager_limit": st.none() | sizes,
            "send_buffer": st.none() | sizes,
            "exchange": st.sampled_from(["full", "half"]),
            "trains": st.integers(1, 1000),
            "turn": st.integers(0, 1 << 20),
            "send_overhead": overheads,
            "receive_overhead": overheads,
            "peer_overhead": seconds,
        },
    ),
)
def test_its_numbers_read_back_are_the_same_protocol(name: str, fields: dict[str, Any]) -> None:
    one = protocol(name=name, **fields)
    assert protocol(**one.numbers()) == one
    assert PROTOCOLS[name].numbers() | one.numbers() == one.numbers()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "tcp"}, "unknown protocol 'tcp'; allowed: tcp-openmpi, verbs, ideal"),
        ({"mtus": 1500}, "mtus: unknown field; allowed: name, switching, mtu, header"),
        ({"switching": "wormhole"}, "switching: unknown value 'wormhole'; allowed: store-and-for"),
        ({"mtu": 8}, "mtu: must be greater than or equal to 16, not 8"),
        ({"mtu": 52}, "header: must be less than the mtu of 52, not 52"),
        ({"mtu": "1.5k"}, "mtu: '1.5k' has an unknown unit of size"),
        ({"mtu": 1500.5}, "mtu: '1500.5' is not a whole number of bytes"),
        ({"eager_limit": -1}, "eager_limit: -1 is not a size"),
        ({"trains": 0}, "trains: must be greater than or equal to 1, not 0"),
        ({"buffer": 1500}, r"buffer: must hold a packet of 1514 bytes \(mtu and framing\), not"),
        ({"peer_overhead": 60}, "peer_overhead: must be at most 1s, not '60'"),
        ({"send_overhead": "0:1e-6"}, "send_overhead: '0:1e-6' is not 'bytes:seconds:seconds per"),
        ({"send_overhead": "9:0:0"}, "send_overhead: must begin at message size 0"),
        ({"send_overhead": [[0, 0, 0], [0, 1, 0]]}, "send_overhead: must list message sizes that"),
        ({"send_overhead": [[0, 0, 1]]}, "send_overhead: seconds per byte must be between 0 and"),
        ({"send_overhead": [[0, float("nan"), 0]]}, "send_overhead: nan is not a duration"),
        ({"send_overhead": 1e-6}, "send_overhead: must list .bytes, seconds, seconds per byte."),
        ({"send_overhead": [1e-6]}, "send_overhead: 1e-06 is not .bytes, seconds, seconds per"),
    ],
)
def test_refuses(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        protocol(**fields)


def test_a_long_overhead_is_read_in_one_pass() -> None:
    with pytest.raises(InvalidInput, match="is not 'bytes:seconds:seconds per byte'"):
        protocol(send_overhead=f"0:{'1' * 300_000}!:0")
    assert protocol(send_overhead="0:1.e-6:.0").send_overhead == ((0, 1e-6, 0.0),)
