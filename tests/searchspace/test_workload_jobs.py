"""Job files with several applications: what is read, what is refused, what space they make."""

from typing import Any

import pytest

from searchspace.configuration import Configuration
from searchspace.errors import InvalidInput
from searchspace.job import load_job
from searchspace.jobspec import Workload
from searchspace.platform import Infeasible, resolve
from searchspace.workload import communicators, split, worlds

FIRST = {"name": "first", "application": {"builtin": "cg", "class": "S", "ranks": 8}}
SECOND = {"name": "second", "application": {"builtin": "mm", "ranks": 4}, "start": "5ms"}
JOB: dict[str, Any] = {
    "name": "two",
    "applications": [FIRST, SECOND],
    "objective": "mean",
    "machine": {"nodes": 16, "degree": 4, "host_speed": "100Gf", "link_bandwidth": "40Gbps"},
    "search": {"topology": ["random", "torus-2d"], "mpi": ["mpich", "ompi"]},
    "budget": {"trials": 4},
}


def test_applications_may_stand_in_the_job_file_itself() -> None:
    spec = load_job(JOB)
    assert isinstance(spec.application, Workload)
    assert spec.application.objective == "mean"
    assert [part.start for part in spec.application.applications] == [0.0, 0.005]
    assert spec.known_worlds == [8, 4]
    assert load_job(spec.canonical()) == spec


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"applications": []}, "applications: must list at least 1"),
        ({"objective": "least"}, "allowed: max, mean, weighted"),
        ({"application": {"id": "x"}}, "applications: stands beside 'application'"),
        ({"applications": [FIRST, FIRST]}, "two applications are called 'first'"),
        ({"applications": [{**FIRST, "start": "-1s"}]}, "start: '-1s' is not a duration"),
        ({"applications": [{**FIRST, "weight": 0}]}, "weight: "),
        (
            {"applications": [{**FIRST, "application": {}}]},
            "must name one of: builtin, trace, source, pattern, extrapolate, id",
        ),
        (
            {"applications": [FIRST, {**FIRST, "name": "third"}, SECOND]},
            "20 ranks do not fit on 16 hosts",
        ),
    ],
)
def test_what_cannot_be_run_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        load_job({**JOB, **change})
    assert message in str(refused.value)


def test_mistakes_are_named_where_the_file_has_them() -> None:
    wrong = {"application": {"builtin": "cg", "class": "S", "ranks": 0}}
    with pytest.raises(InvalidInput) as inside:
        load_job({**JOB, "applications": [FIRST, {**SECOND, **wrong}]})
    assert str(inside.value).startswith("applications.1.application.ranks: ")
    nested = {name: JOB[name] for name in JOB if name not in ("applications", "objective")}
    with pytest.raises(InvalidInput) as inside:
        load_job({**nested, "application": {"applications": [{**SECOND, **wrong}]}})
    assert str(inside.value).startswith("application.applications.0.application.ranks: ")


def test_ranks_are_split_by_application() -> None:
    assert split(range(12), [8, 4]) == [range(8), range(8, 12)]


def test_an_algorithm_must_suit_the_ranks_of_every_application() -> None:
    machine = load_job(JOB).described_machine
    pairwise = Configuration({"topology": "torus-2d", "collectives.allgather": "pair"})
    resolve(pairwise, machine, 12, collectives=worlds([8, 4]))
    with pytest.raises(Infeasible, match="communicator of 3 ranks"):
        resolve(pairwise, machine, 11, collectives=worlds([8, 3]))
    load_job({**JOB, "search": {**JOB["search"], "collectives": {"allgather": "pair"}}})


def test_communicators_keep_their_ranks_behind_those_of_others() -> None:
    first = {"ranks": 4, "calls": {"bcast": 1, "allreduce": 2}, "communicators": {"bcast": [[]]}}
    second = {"ranks": 2, "calls": {"bcast": 3}, "communicators": {"bcast": [[], [1]]}}
    assert communicators([first, second]) == {
        "bcast": [[0, 1, 2, 3], [4, 5], [5]],
        "allreduce": [[0, 1, 2, 3]],
    }
