"""Searches that are limited to what an MPI library can run."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from searchspace.collectives import COLLECTIVES, DEFAULT, called_collectives
from searchspace.collectives.equivalents import TARGETS
from searchspace.errors import InvalidInput
from searchspace.job import build_space, load_job
from searchspace.space import SearchSpace


def job(ranks: int = 16, **search: Any) -> dict[str, Any]:
    return {
        "name": "cg",
        "application": {"builtin": "cg", "class": "S", "ranks": ranks},
        "machine": {
            "nodes": 16,
            "degree": 4,
            "host_speed": "100Gf",
            "link_bandwidth": "40Gbps",
        },
        "search": {"topology": ["random", "torus-2d"], **search},
        "budget": {"trials": 5},
    }


def space_of(**search: Any) -> SearchSpace:
    calls = {"allreduce": ((),), "alltoall": ((),), "bcast": ((0, 1, 2), ())}
    return build_space(load_job(job(**search)), 16, calls).space


def values(space: SearchSpace) -> dict[str, list[Any]]:
    return {p.name: list(p.every()) for p in space.parameters}


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_opens_all_called_collectives_to_what_it_has(name: str) -> None:
    target = TARGETS[name]
    chosen = values(space_of(target=name))

    assert chosen["mpi"] == [target.selector]
    for collective, sizes in (("allreduce", (16,)), ("alltoall", (16,)), ("bcast", (3, 16))):
        algorithms = chosen[f"collectives.{collective}"]
        own, *others = algorithms
        assert own == DEFAULT  # nobody needs to be told of it
        assert others
        for algorithm in others:
            found = target.equivalent(collective, algorithm, sizes)
            assert found.kind == "same", (collective, algorithm)
    assert "collectives.barrier" not in chosen


def test_every_configuration_can_be_exported() -> None:
    target = TARGETS["openmpi-4.1"]
    called = {"allreduce": (16,), "alltoall": (16,), "bcast": (3, 16)}
    for configuration in itertools.islice(space_of(target="openmpi-4.1").enumerate(), 200):
        for collective, sizes in called.items():
            algorithm = str(configuration[f"collectives.{collective}"])
            choice = target.selector if algorithm == DEFAULT else algorithm
            assert target.equivalent(collective, choice, sizes).kind == "same"


def test_what_is_decided_by_another_collective_limits_that_one() -> None:
    spec = load_job(job(target="openmpi-4.1"))

    def algorithms(*calls: str) -> list[str]:
        summary = {"calls": dict.fromkeys(calls, 1)}
        space = build_space(spec, 16, called_collectives(summary)).space
        return [str(one) for one in values(space)["collectives.reduce_scatter"]]

    assert "ompi_ring" in algorithms("reduce_scatter")
    # Open MPI runs it by others: none goes around a ring, and its butterfly is another for 2^k.
    limited = algorithms("reduce_scatter", "reduce_scatter_block")
    assert limited == [DEFAULT, "ompi_basic_recursivehalving"]
    assert algorithms("reduce_scatter_block") == limited


def test_some_collectives_may_be_named() -> None:
    found = values(space_of(target="openmpi-4.1", collectives={"alltoall": ["default", "bruck"]}))

    assert found["collectives.alltoall"] == ["default", "bruck"]
    assert "collectives.bcast" not in found


@pytest.mark.parametrize(
    ("search", "message"),
    [
        ({"target": "lam"}, "search.target: unknown target 'lam'; allowed: openmpi-4.1"),
        ({"target": "mpich-4.0", "mpi": "ompi"}, "search.mpi: for the target mpich-4.0 must be"),
        (
            {"target": "openmpi-4.1", "collectives": {"alltoall": "2dmesh"}},
            "Open MPI 4.1 has no '2dmesh'; allowed: default, all, basic_linear, bruck, ring",
        ),
        (
            {"target": "openmpi-4.1", "collectives": {"alltoall": "pair"}},
            r"Open MPI 4.1 has no 'pair' \(nearest: pairwise\)",
        ),
    ],
)
def test_what_a_target_cannot_is_refused(search: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        load_job(job(**search))


def test_a_job_with_a_target_is_read_back_as_it_was() -> None:
    spec = load_job(job(target="mpich-4.0"))

    assert load_job(spec.canonical()) == spec
    assert set(spec.search.collectives) <= set(COLLECTIVES)
