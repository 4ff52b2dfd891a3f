"""A job that has to find by itself which settings of the transport make an allreduce fast."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cli.client import Client, connect
from cli.follow import follow
from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from searchspace.topology import generate
from service.settings import Settings
from tests.cli.conftest import Hamtune

RANKS = 16
DOUBLES = 32 * 1024
MACHINE: dict[str, Any] = {
    "nodes": RANKS,
    "host_speed": "2Gf",
    "link_bandwidth": "20Mbps",
    "link_latency": "60us",
    "topology": {"edges": [list(edge) for edge in generate("torus-2d", RANKS).edges]},
}
LEAST_GAIN = 1.3
"""On an emulated cluster of these cables, Open MPI 4.1.4 was 1.26 times faster with what is found
here than with its own choice and settings, and 1.32 times faster than the ring without them."""


@dataclass(frozen=True)
class Done:
    """Jobs that a service has run, all at once."""

    hamtune: Hamtune
    client: Client
    best: dict[str, Any]
    """Of each job, by name."""


@pytest.fixture(scope="module")
def hamtune(tmp_path_factory: pytest.TempPathFactory) -> Hamtune:
    """A directory with the trace of one allreduce of 256 KiB."""
    directory = tmp_path_factory.mktemp("transport")
    calls = encode("allreduce", count=DOUBLES, size=8) + encode("finalize")
    header = TraceHeader(ranks=RANKS, program="allreduce")
    write_trace(directory / "allreduce.ht", header, [calls] * RANKS)
    return Hamtune(directory)


@pytest.fixture(scope="module")
def done(hamtune: Hamtune) -> Iterator[Done]:
    jobs = {
        "without": job(hamtune, "without", {}),
        "exchange": job(hamtune, "exchange", {"exchange": "all"}),
        "all": job(hamtune, "all", "all", network="auto"),
    }
    with hamtune.service() as served, connect(served.url, Settings.under(hamtune.data)) as client:
        submitted = {name: hamtune("submit", file).stdout.strip() for name, file in jobs.items()}
        best = {}
        for name, job_id in submitted.items():
            assert follow(client, job_id)["state"] == "completed"
            best[name] = client.get(f"/jobs/{job_id}/best")
        yield Done(hamtune, client, best)


def job(hamtune: Hamtune, name: str, protocol: Any, network: str = "packets") -> Path:
    document = {
        "name": name,
        "application": {"trace": "allreduce.ht"},
        "machine": {**MACHINE, "network": network},
        "search": {"target": "openmpi-4.1", "protocol": protocol},
        "budget": {"trials": 40},
        "seed": 1,
    }
    return hamtune.job_file(document, f"{name}.yaml")


def test_with_both_directions_at_once_another_algorithm_is_the_best(done: Done) -> None:
    without, found = done.best["without"], done.best["exchange"]

    ring = without["configuration"]["collectives"]["allreduce"]
    assert ring in ("lr", "ompi_ring_segmented")  # one segment of this size
    assert found["configuration"]["protocol"] == {"exchange": "full"}
    assert found["configuration"]["collectives"]["allreduce"] in ("rab", "rab_rdb", "default")
    assert found["baselines"]["given original openmpi-4.1"] >= LEAST_GAIN * found["value"]
    assert without["value"] >= LEAST_GAIN * found["value"]

    again = done.hamtune.json(
        *("evaluate", "--application", "allreduce.ht"),
        *("--machine", json.dumps({**MACHINE, "network": "packets"})),
        *("--configuration", json.dumps(found["configuration"])),
    )
    assert again["simulated_time"] == found["value"]
    assert again["protocol"]["exchange"] == "full"


def test_all_settings_are_no_slower_and_what_is_found_can_be_installed(done: Done) -> None:
    found = done.best["all"]

    chosen = found["configuration"]["protocol"]
    assert found["baselines"]["given original openmpi-4.1"] >= LEAST_GAIN * found["value"]
    # The fluid model has been asked too: settings mean nothing to it, and are no reason to fail.
    assert {one["state"] for one in found["comparisons"]} == {"completed"}

    done.hamtune.json(
        "export", "all", "--target", "openmpi-4.1", "--format", "openmpi", "-o", "out"
    )
    installed = (done.hamtune.directory / "out/mca-params.conf").read_text()
    assert ("btl_tcp_flags = send" in installed) == (chosen["exchange"] == "full")
    assert ("btl_tcp_eager_limit = " in installed) == (chosen["eager_limit"] != "default")


def test_a_job_by_the_fluid_model_is_told_that_settings_mean_nothing(done: Done) -> None:
    file = job(done.hamtune, "fluid", "all", network="fluid")
    said = done.hamtune.refused("submit", file)
    assert "search.protocol: means nothing to the fluid model" in said
