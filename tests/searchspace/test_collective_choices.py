"""Algorithms by message size in the space of a job."""

from __future__ import annotations

from typing import Any

import pytest

from searchspace.collectives import called_collectives
from searchspace.errors import InvalidInput
from searchspace.job import BuiltSpace, build_space, load_job

SIZES = {
    "allreduce": [(8, 8, 90), (1 << 20, 1 << 20, 3)],
    "bcast": [(64, 100, 5)],
    "gather": [(4, 4, 1), (1 << 16, 1 << 16, 1)],
}


def job(**search: Any) -> dict[str, Any]:
    return {
        "name": "sizes",
        "application": {"builtin": "cg", "class": "S", "ranks": 16},
        "machine": {"nodes": 16, "degree": 4, "host_speed": "100Gf", "link_bandwidth": "40Gbps"},
        "search": {"topology": ["torus-2d"], **search},
        "budget": {"trials": 10},
    }


def built(calls: tuple[str, ...] = ("allreduce", "bcast", "gather"), **search: Any) -> BuiltSpace:
    called = called_collectives({"calls": calls})
    return build_space(load_job(job(**search)), 16, called, None, SIZES)


def names(space: BuiltSpace) -> list[str]:
    return [p.name for p in space.space.parameters if p.name.startswith("collectives.")]


def test_ranges_are_found_from_what_the_program_calls() -> None:
    space = built(collectives={"allreduce": "all", "bcast": "all"}, by_size=True)
    assert names(space) == [
        "collectives.allreduce",
        "collectives.allreduce@4096",
        "collectives.bcast",  # all of much the same size
    ]
    small, large = (p for p in space.space.parameters if "allreduce" in p.name)
    assert list(small.every()) == list(large.every())
    assert all(
        configuration["collectives.allreduce@4096"] == "default"
        for _, configuration in space.baselines
    )


def test_ranges_that_the_job_gives_are_kept_where_they_divide_calls() -> None:
    space = built(
        collectives={"allreduce": ["rdb", "lr"]}, by_size={"allreduce": [4, "64KiB", "2MiB"]}
    )
    assert names(space) == ["collectives.allreduce", "collectives.allreduce@65536"]
    reason = "the application calls it at no sizes that this would divide"
    assert [(one["parameter"], one["reason"]) for one in space.excluded] == [
        (f"collectives.allreduce@{n}", reason) for n in (4, 2_097_152)
    ]


def test_without_the_sizes_of_a_program_given_ranges_are_all_kept() -> None:
    spec = load_job(job(collectives={"allreduce": "all"}, by_size={"allreduce": [4, 8]}))
    assert names(build_space(spec, 16)) == [f"collectives.allreduce{n}" for n in ("", "@4", "@8")]
    auto = load_job(job(collectives={"allreduce": "all"}, by_size=True))
    assert names(build_space(auto, 16)) == ["collectives.allreduce"]


def test_a_library_with_one_algorithm_for_all_sizes_gets_no_ranges_of_it() -> None:
    wanted = {"gather": "all", "allreduce": "all"}
    assert "collectives.gather@512" in names(built(collectives=wanted, by_size=True))
    of_library = names(built(collectives=wanted, by_size=True, target="openmpi-4.1"))
    assert of_library == [
        "collectives.allreduce",
        "collectives.allreduce@4096",
        "collectives.gather",
    ]


def test_what_another_call_runs_by_too_has_no_ranges() -> None:
    calls = ("reduce_scatter", "reduce_scatter_block")
    space = built(calls, collectives={"reduce_scatter": "all"}, by_size={"reduce_scatter": [8]})
    assert names(space) == ["collectives.reduce_scatter"]
    assert "libraries decide it apart" in space.excluded[-1]["reason"]


def test_the_table_of_a_library_is_no_algorithm_of_a_range() -> None:
    space = built(collectives={"allreduce": ["openmpi-4.1", "rdb", "lr"]}, by_size=True)
    parameter = next(p for p in space.space.parameters if p.name == "collectives.allreduce@4096")
    assert list(parameter.every()) == ["rdb", "lr"]
    assert space.excluded[-1]["value"] == "openmpi-4.1"


def test_what_cannot_run_in_one_range_is_forbidden_in_each() -> None:
    document = job(
        mapping=["packed", "round-robin"],
        collectives={"bcast": ["SMP_linear", "NTSL"]},
        by_size={"bcast": ["4KiB"]},
    )
    document["machine"]["cores_per_host"] = 4
    space = build_space(load_job(document), 16).space
    for name in ("collectives.bcast", "collectives.bcast@4096"):
        other = "collectives.bcast@4096" if name == "collectives.bcast" else "collectives.bcast"
        chosen = {**space.default(), "mapping": "round-robin", name: "SMP_linear", other: "NTSL"}
        assert space.infeasible(chosen) == (
            f"{name} = SMP_linear, mapping = round-robin: "
            "SMP_linear needs hosts with more than one rank"
        )


@pytest.mark.parametrize(
    ("search", "said"),
    [
        ({"by_size": True}, "no collective is searched"),
        ({"by_size": {"bcast": [4]}}, "no collective is searched"),
        ({"collectives": {"bcast": "all"}, "by_size": {"reduce": [4]}}, "is not searched"),
        ({"collectives": {"bcast": "all"}, "by_size": {"bcats": [4]}}, "did you mean 'bcast'"),
        ({"collectives": {"barrier": "all"}, "by_size": {"barrier": 4}}, "has no size"),
        ({"collectives": {"bcast": "all"}, "by_size": {"bcast": ["1MiB", 4]}}, "must increase"),
        ({"collectives": {"bcast": "all"}, "by_size": {"bcast": [4, 4]}}, "must increase"),
        ({"collectives": {"bcast": "all"}, "by_size": {"bcast": [0]}}, "from 1 byte on"),
        ({"collectives": {"bcast": "all"}, "by_size": {"bcast": []}}, "1 to 7 sizes"),
        ({"collectives": {"bcast": "all"}, "by_size": {"bcast": "4 miles"}}, "unknown unit"),
        ({"collectives": {"bcast": "all"}, "by_size": {"bcast": 10**300}}, "below 1 PB"),
        ({"collectives": {"bcast": "all"}, "by_size": "all"}, "must be true, false"),
        ({"target": "mvapich2-2.3", "by_size": True}, "no public form of ranges"),
        ({"target": "openmpi-4.1", "by_size": {"gather": 4}}, "one algorithm of gather"),
    ],
)
def test_what_cannot_be_asked_is_refused(search: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said) as error:
        load_job(job(**search))
    assert "by_size" in str(error.value)


def test_one_size_need_not_be_a_list() -> None:
    spec = load_job(job(collectives={"bcast": "all"}, by_size={"bcast": "64KiB"}))
    assert spec.search.by_size == {"bcast": [65_536]}
    assert load_job(spec.canonical()).search == spec.search


def test_agents_measure_ranges_of_open_mpi_alone() -> None:
    document = job(topology=None, target="mpich-4.0", by_size=True)
    document["search"].pop("topology")
    document["machine"] = {
        "nodes": 16,
        "host_speed": "100Gf",
        "link_bandwidth": "40Gbps",
        "topology": {"edges": [[host, (host + 1) % 16] for host in range(16)]},
    }
    assert load_job(document)
    document["finalists"] = {"measure": 3}
    with pytest.raises(InvalidInput, match="agents do not set algorithms by size for MPICH"):
        load_job(document)
    document["search"]["target"] = "openmpi-4.1"
    assert load_job(document)
