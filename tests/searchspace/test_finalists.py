"""The field `finalists` of a job."""

from __future__ import annotations

from typing import Any

import pytest

from searchspace.errors import InvalidInput
from searchspace.job import load_job, load_new_job

JOB: dict[str, Any] = {
    "name": "measured",
    "application": {"builtin": "is", "class": "S", "ranks": 4},
    "machine": {
        "topology": {"edges": [[0, 1], [1, 2], [2, 3], [3, 0]]},
        "nodes": 4,
        "degree": 2,
        "host_speed": "1Gf",
        "link_bandwidth": "1Gbps",
    },
    "search": {"collectives": {"alltoallv": "all"}},
    "budget": {"trials": 4},
}


def test_says_how_many_are_measured_and_where_and_the_rest_has_defaults() -> None:
    job = load_new_job({**JOB, "finalists": {"measure": 3, "on": "agent", "wait": "10min"}})
    assert job.finalists is not None
    assert (job.finalists.measure, job.finalists.on, job.finalists.repetitions) == (3, "agent", 5)
    assert (job.finalists.target, job.finalists.library) == ("openmpi-4.1", "openmpi")
    assert job.finalists.wait == 600.0
    assert load_job(job.canonical()).finalists == job.finalists
    assert load_new_job(JOB).finalists is None


@pytest.mark.parametrize(
    ("target", "finalists", "measured"),
    [
        ("mpich-4.1", {}, "mpich-4.1"),
        ("mpich-4.1", {"target": "openmpi-5"}, "openmpi-5"),
        (None, {}, "openmpi-4.1"),
    ],
    ids=["the target of the search", "another", "none"],
)
def test_the_library_that_is_searched_for_is_measured_with(
    target: str | None, finalists: dict[str, Any], measured: str
) -> None:
    search = {"collectives": {"allreduce": "all"}, **({"target": target} if target else {})}
    job = load_new_job({**JOB, "search": search, "finalists": {"measure": 2, **finalists}})
    assert job.finalists is not None
    assert job.finalists.target == measured
    assert load_job(job.canonical()).finalists == job.finalists


@pytest.mark.parametrize(
    ("finalists", "said"),
    [
        ({"measure": 0}, "finalists.measure"),
        ({"measure": "five"}, "finalists.measure"),
        ({"on": "cloud"}, "finalists.on"),
        ({"on": "testbed"}, "finalists.testbed: must be given with 'on: testbed'"),
        ({"testbed": "ring"}, "finalists.testbed: goes with 'on: testbed'"),
        ({"on": "testbed", "testbed": "../x"}, "finalists.testbed"),
        ({"target": "intelmpi"}, "unknown target 'intelmpi'; allowed: openmpi-4.1"),
        ({"wait": "soon"}, "finalists.wait"),
        ({"repetitions": 1}, "finalists.repetitions"),
        ({"run": "rm -rf"}, "finalists.run"),
    ],
)
def test_what_does_not_fit_is_named(finalists: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        load_new_job({**JOB, "finalists": finalists})
    assert said in str(raised.value)


def test_a_job_that_searches_networks_cannot_be_measured_on_one() -> None:
    with pytest.raises(InvalidInput, match="a cluster has one network"):
        load_new_job({**JOB, "search": {"topology": ["random"]}, "finalists": {"measure": 2}})


def test_two_hosts_have_one_network_and_need_not_name_it() -> None:
    machine = {name: JOB["machine"][name] for name in ("host_speed", "link_bandwidth")}
    document = {**JOB, "machine": {**machine, "nodes": 2, "cores_per_host": 8}}
    job = load_new_job(
        {**document, "search": {"mapping": ["by-order", "cyclic"]}, "finalists": {"measure": 2}}
    )
    assert job.finalists is not None


def test_several_applications_at_once_cannot_be_measured() -> None:
    one = {"name": "a", "application": JOB["application"]}
    with pytest.raises(InvalidInput, match="several applications at once"):
        load_new_job({**JOB, "application": {"applications": [one]}, "finalists": {"measure": 2}})
