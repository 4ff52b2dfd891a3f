"""Job files side by side, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from cli.differences import apart
from cli.job_differences import UNITS, job_file_rows
from searchspace.job import load_job
from searchspace.schema import file_schema
from tests.service.conftest import SPEC


def rows(*changes: dict[str, Any]) -> dict[str, list[str]]:
    """What is told of a job with each of these changes of its machine and budget."""
    specs = []
    for change in changes:
        machine = {**SPEC["machine"], **change.get("machine", {})}
        specs.append(load_job({**SPEC, **change, "machine": machine}).canonical())
    return dict(job_file_rows(apart(specs), specs))


def machines(*changes: dict[str, Any]) -> dict[str, list[str]]:
    return rows(*({"machine": change} for change in changes))


def test_quantities_have_units_and_four_digits() -> None:
    told = rows(
        {"budget": {"trials": 4, "wall_seconds": 3723.3456, "until": 0.01}},
        {
            "budget": {"trials": 4, "cpu_seconds": 66.66666},
            "machine": {"link_bandwidth": "100Gbps", "switch_latency": 6.66666666e-8},
            "limits": {"memory": "1GiB"},
        },
    )
    assert told["budget.wall_seconds"] == ["62.06 min", "-"]
    assert told["budget.cpu_seconds"] == ["-", "66.67 s"]
    assert told["budget.until"] == ["1%", "-"]
    assert told["machine.link_bandwidth"] == ["40 Gbps", "100 Gbps"]
    assert told["machine.switch_latency"] == ["60 ns", "66.67 ns"]
    assert told["limits.memory"] == ["4 GiB", "1 GiB"]


def test_protocols_are_told_by_their_names() -> None:
    told = machines(
        {"network": "packets"}, {"network": "packets", "protocol": "verbs"}, {"network": "fluid"}
    )
    assert told == {
        "machine.network": ["packets", "packets", "fluid"],
        "machine.protocol": ["tcp-openmpi", "verbs", "-"],
    }


def test_of_a_protocol_with_fields_of_its_own_these_are_told() -> None:
    packets: dict[str, Any] = {"network": "packets"}
    overhead = [[0, 1e-6, 0.0], [1024, 2e-6, 1e-9]]
    told = machines(
        {**packets, "protocol": {"name": "verbs", "mtu": 2060}},
        {**packets, "protocol": {"name": "verbs", "send_overhead": overhead}},
    )
    assert told == {
        "machine.protocol.mtu": ["2060 B", "4 KiB"],
        "machine.protocol.send_overhead": [
            "none",
            "1 us from 0 B on, 2 us + 1 ns a byte from 1 KiB on",
        ],
    }


def test_networks_are_told_by_their_size_and_apart() -> None:
    rings = [[[host, (host + step) % 16] for host in range(16)] for step in (1, 3)]
    (told,) = machines(*({"degree": None, "topology": {"edges": ring}} for ring in rings)).values()
    assert all(words.startswith("16 cables (") for words in told)
    assert told[0] != told[1]


def test_values_that_differ_never_look_alike() -> None:
    told = machines({"switch_latency": 6.6666661e-8}, {"switch_latency": 6.6666662e-8})
    assert told["machine.switch_latency"] == [
        "66.67 ns (6.6666661e-08)",
        "66.67 ns (6.6666662e-08)",
    ]


def test_a_group_is_told_by_its_fields() -> None:
    search = SPEC["search"]
    told = rows(
        {"search": {**search, "collectives": {}}},
        {"search": {**search, "collectives": {"bcast": "all"}}},
    )
    assert told == {"search.collectives.bcast": ["-", "all"]}


@pytest.mark.parametrize("document", ["job", "machine"])
def test_every_quantity_has_its_unit(document: str) -> None:
    several = {"send_overhead", "isend_overhead", "receive_overhead"}  # of quantities, in pieces
    assert set(_quantities(file_schema(document))) - several <= set(UNITS)  # type: ignore[arg-type]


def _quantities(schema: Any) -> Iterator[str]:
    """The names of the fields that take text with a unit."""
    if isinstance(schema, list):
        for one in schema:
            yield from _quantities(one)
    if not isinstance(schema, dict):
        return
    for name, field in (schema.get("properties") or {}).items():
        forms = [field, *field.get("anyOf", [])]
        forms += [form["items"] for form in forms if isinstance(form.get("items"), dict)]
        examples = [example for form in forms for example in form.get("examples", [])]
        if any(example[0].isdigit() for example in examples if isinstance(example, str)):
            yield name
    for one in schema.values():
        yield from _quantities(one)
