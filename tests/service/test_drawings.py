"""Networks in layouts that show their structure."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.machines import designed
from searchspace.configuration import Configuration
from searchspace.machine import parse_machine
from searchspace.platform import resolve
from service.drawings.network import draw


@pytest.mark.parametrize("family", ["torus-2d", "ring"])
def test_an_ordering_does_not_tangle_a_layout_by_numbers(family: str) -> None:
    machine = parse_machine(designed(64, 4 if family == "torus-2d" else 2))
    lengths = {}
    for ordering in ("original", "hamorder"):
        found = resolve(Configuration({"topology": family, "ordering": ordering}), machine, 64)
        drawing = draw(found.network, found.host_names, family, found.order)
        assert drawing is not None
        places = np.array(drawing.places)
        lengths[ordering] = sorted(
            round(float(np.hypot(*(places[u] - places[v]))), 2) for u, v, _ in drawing.edges
        )
    assert lengths["hamorder"] == lengths["original"]
