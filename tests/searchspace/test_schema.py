"""The JSON schemas beside the check that they are made from."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from searchspace.collectives import SELECTORS
from searchspace.errors import InvalidInput
from searchspace.jobspec import JobSpec
from searchspace.machine import parse_machine
from searchspace.mapping import MAPPERS
from searchspace.ordering import ORDERINGS
from searchspace.schema import DOCUMENTS, file_schema, schema
from searchspace.validation import check

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.yaml"))
JOB = jsonschema.Draft202012Validator(schema("job"))
JOB_FILE = jsonschema.Draft202012Validator(file_schema("job"))
MACHINE = {"nodes": 16, "degree": 4, "host_speed": "100Gf", "link_bandwidth": "40Gbps"}


def is_job(document: Any) -> bool:
    try:
        check(JobSpec, document)
    except InvalidInput:
        return False
    return True


def several(names: Iterable[str], *others: str) -> st.SearchStrategy[Any]:
    one = st.sampled_from([*names, *others])
    return one | st.lists(one, min_size=1, max_size=4, unique=True)


TOPOLOGIES: list[Any] = ["random", ["torus-2d", {"family": "random", "instances": 3}]]
SEARCHES = st.fixed_dictionaries(
    {"topology": st.sampled_from(TOPOLOGIES)},
    optional={
        "ordering": several(ORDERINGS),
        "mapping": several(MAPPERS, "permutation"),
        "mpi": several(SELECTORS, "default"),
        "collectives": st.sampled_from(
            [{}, {"bcast": "all"}, {"bcast": ["default", "NTSL"], "alltoall": "all"}]
        ),
    },
)
APPLICATIONS = st.sampled_from(
    [
        {"builtin": "cg", "class": "S", "ranks": 16},
        {"trace": "run.ht"},
        {"source": "solver", "build": "make", "run": "bin/solve 3", "ranks": 16},
        {"pattern": "all-to-all", "ranks": 16, "size": "64kB", "count": 10, "rate": 10},
        {"extrapolate": {"captures": [{"trace": "a.ht"}, {"trace": "b.ht"}]}, "ranks": 64},
        {"id": "an-id"},
    ]
)
JOBS = st.fixed_dictionaries(
    {
        "name": st.text("abc-1", min_size=1, max_size=20),
        "application": APPLICATIONS,
        "machine": st.fixed_dictionaries(
            {name: st.just(value) for name, value in MACHINE.items()},
            optional={
                "network": st.sampled_from(["auto", "packets", "fluid"]),
                "cores_per_host": st.integers(1, 8),
                "link_latency": st.sampled_from(["100ns", 1e-6, 0]),
            },
        ),
        "search": SEARCHES,
        "budget": st.fixed_dictionaries(
            {"trials": st.integers(1, 10_000)},
            optional={"wall_seconds": st.sampled_from(["10min", 5.5]), "patience": st.just(7)},
        ),
    },
    optional={
        "seed": st.integers(0, 2**31 - 1),
        "batch": st.integers(1, 1024),
        "refinement": st.integers(0, 100),
        "priority": st.sampled_from(["low", "normal", "high"]),
    },
)

Spoil = Callable[[dict[str, Any]], Any]
SPOILED: Mapping[str, Spoil] = {
    "unknown field": lambda job: job.update(machin={}),
    "unknown field of the machine": lambda job: job["machine"].update(nods=3),
    "unknown field of the search": lambda job: job["search"].update(orderings=["original"]),
    "unknown ordering": lambda job: job["search"].update(ordering="gordr"),
    "unknown mapper": lambda job: job["search"].update(mapping=["auto", "tree"]),
    "unknown mpi": lambda job: job["search"].update(mpi="openmpi"),
    "unknown collective": lambda job: job["search"].update(collectives={"allredce": "all"}),
    "unknown algorithm": lambda job: job["search"].update(collectives={"bcast": ["rdb"]}),
    "unknown target": lambda job: job["search"].update(target="openmpi-9"),
    "unknown family": lambda job: job["search"].update(topology=["tours-2d"]),
    "nothing to choose from": lambda job: job["search"].update(ordering=[]),
    "a name twice": lambda job: job["search"].update(mpi=["ompi", "ompi"]),
    "no budget": lambda job: job.pop("budget"),
    "no application": lambda job: job.pop("application"),
    "no trials": lambda job: job["budget"].update(trials=0),
    "text for a number": lambda job: job.update(seed="one"),
    "a negative seed": lambda job: job.update(seed=-1),
    "unknown program": lambda job: job.update(application={"builtin": "xx", "ranks": 4}),
    "a number for a path": lambda job: job.update(application={"trace": 3}),
    "unknown network model": lambda job: job["machine"].update(network="packet"),
    "no hosts": lambda job: job["machine"].pop("nodes"),
    "unknown protocol": lambda job: job["machine"].update(network="auto", protocol="tcp"),
}


@settings(max_examples=250, deadline=None)
@given(JOBS)
def test_what_the_check_takes_the_schema_takes(job: dict[str, Any]) -> None:
    assert is_job(job)
    JOB.validate(job)
    JOB_FILE.validate(job)


@settings(max_examples=250, deadline=None)
@given(JOBS, st.sampled_from(sorted(SPOILED)))
def test_what_the_schema_refuses_the_check_refuses(job: dict[str, Any], how: str) -> None:
    job = copy.deepcopy(job)
    SPOILED[how](job)
    assert not is_job(job)
    assert not JOB.is_valid(job)
    assert not JOB_FILE.is_valid(job) or how == "no hosts"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_examples_are_as_the_schema_has_it(path: Path) -> None:
    JOB_FILE.validate(yaml.safe_load(path.read_text()))


@pytest.mark.parametrize("until", ["1%", 0.01])
def test_a_part_is_written_either_way(until: Any) -> None:
    search = {"topology": ["random", "torus-2d"]}
    application = {"builtin": "cg", "class": "S", "ranks": 16}
    job = {"name": "a", "application": application, "machine": MACHINE, "search": search}
    JOB.validate({**job, "budget": {"until": until}})
    assert is_job({**job, "budget": {"until": until}})


def test_several_applications_may_stand_in_the_job_itself() -> None:
    part = {"name": "one", "application": {"builtin": "cg", "class": "S", "ranks": 16}}
    job = {
        "name": "several",
        "applications": [part],
        "objective": "mean",
        "machine": MACHINE,
        "search": {"topology": ["random", "torus-2d"]},
        "budget": {"trials": 3},
    }
    JOB.validate(job)
    assert not JOB.is_valid({**job, "application": part["application"]})


def test_a_file_may_name_the_network_instead_of_hosts_and_bandwidth() -> None:
    machine = {name: value for name, value in MACHINE.items() if name not in ("nodes", "degree")}
    named = {**machine, "topology": {"file": "fabric.txt"}, "cores_per_host": {"file": "host.xml"}}
    validator = jsonschema.Draft202012Validator(file_schema("machine"))

    validator.validate(named)
    del named["link_bandwidth"]  # which the file may tell, too
    validator.validate(named)
    assert not validator.is_valid(machine)
    assert not validator.is_valid({"host_speed": "100Gf", "nodes": 16})
    assert not jsonschema.Draft202012Validator(schema("machine")).is_valid(named)
    with pytest.raises(InvalidInput):
        parse_machine(named)


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_every_field_is_described(kind: Any) -> None:
    for name, field in file_schema(kind)["properties"].items():
        assert field.get("description"), name
