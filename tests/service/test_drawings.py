"""Networks in layouts that show their structure."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks.machines import designed
from searchspace.configuration import Configuration
from searchspace.machine import parse_machine
from searchspace.platform import Infeasible, resolve
from searchspace.traffic import Traffic
from service.drawings import placement
from service.drawings.network import draw
from storage.errors import Conflict


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


def test_bytes_times_hops_may_be_beyond_64_bits() -> None:
    """Traces say how much they send, and nobody knows whether they mean it."""
    resolved = resolve(Configuration({"topology": "ring"}), parse_machine(designed(64, 2)), 64)
    traffic = Traffic.from_pairs(64, [0], [32], [2**60])
    hops, hop_bytes = placement._hops(resolved, np.arange(64), traffic)
    assert [(one.hops, one.bytes) for one in hops] == [(32, 2**60)]
    assert hop_bytes == 32 * 2**60


@pytest.mark.parametrize(("ranks", "alone"), [(1024, False), (1025, True)])
def test_of_many_ranks_one_placement_is_made_at_a_time(
    ranks: int, alone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each takes gigabytes, and to read a job is enough to ask for as many as one likes."""
    held = []

    def infeasible(*_: object, **__: object) -> None:
        held.append(placement._ONE_LARGE.locked())
        raise Infeasible("too large")

    job = SimpleNamespace(application_id="a", project="default")
    storage: Any = SimpleNamespace(
        jobs=SimpleNamespace(get=lambda _job: job),
        trials=SimpleNamespace(
            get=lambda _job, number: SimpleNamespace(
                number=number, kind="search", configuration={"topology": "ring"}
            )
        ),
        applications=SimpleNamespace(get=lambda _id: SimpleNamespace(ranks=ranks)),
        networks=None,
    )
    spec = SimpleNamespace(described_machine=None)
    monkeypatch.setattr(placement, "read_spec", lambda _storage, _job: spec)
    monkeypatch.setattr(placement, "traces_of", lambda _storage, _application: [])
    monkeypatch.setattr(placement, "resolve", infeasible)
    with pytest.raises(Conflict, match="trial 7 is on no network: too large"):
        placement.placement(storage, "j", 7)
    assert held == [alone]
    assert not placement._ONE_LARGE.locked()
