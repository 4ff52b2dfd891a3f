"""From which finished jobs a new one learns, and what is kept of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from searchspace.errors import InvalidInput
from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from searchspace.insight import Experience
from searchspace.job import load_job
from searchspace.space import SearchSpace
from storage.proposal import Proposal
from storage.records import DEFAULT_PROJECT, Job, Outcome
from storage.storage import Storage
from tests.tuner.analytic import SPEC, Evaluators, create_job
from tests.tuner.driving import drive
from tests.workers.conftest import job_document
from workers.prepare import prepare_job
from workers.sources import sources_of, store_experiences

PLACES: dict[str, Any] = {"machine": {**SPEC["machine"], "degree": 5}}
PROGRAM: dict[str, Any] = {"application": {"builtin": "mg", "class": "S", "ranks": 16}}


def finished(storage: Storage, *, project: str = DEFAULT_PROJECT, **changes: Any) -> Job:
    job = create_job(storage, project=project, **{"budget": {"trials": 10}, **changes})
    with Evaluators(storage, 2) as evaluators:
        return drive(storage, job, evaluators.dispatch)


def sources(storage: Storage, learn_from: Any, **changes: Any) -> list[str]:
    spec = load_job({**SPEC, **changes, "learn_from": learn_from})
    return [job.id for job in sources_of(storage.of_project(DEFAULT_PROJECT), spec)]


def test_a_job_learns_from_those_it_names(storage: Storage) -> None:
    one, other = finished(storage), finished(storage, **PLACES)
    assert sources(storage, [other.id, one.id]) == [other.id, one.id]
    assert sources(storage, "none") == []


def test_where_it_is_left_open_the_most_alike_come_first_and_strangers_not_at_all(
    storage: Storage,
) -> None:
    finished(storage, **PROGRAM, **PLACES)
    neighbour = finished(storage, **PROGRAM)
    elsewhere = finished(storage, **PLACES)
    same = finished(storage)
    larger = finished(storage, application={**SPEC["application"], "class": "W"})
    assert sources(storage, "auto") == [larger.id, same.id, elsewhere.id, neighbour.id]


@pytest.mark.parametrize("learn_from", ["named", "auto"])
def test_jobs_of_other_projects_are_as_if_they_were_not(storage: Storage, learn_from: str) -> None:
    storage.projects.add("theirs")
    foreign = finished(storage, project="theirs")
    if learn_from == "auto":
        assert sources(storage, "auto") == []
        return
    with pytest.raises(InvalidInput) as refused:
        sources(storage, [foreign.id])
    with pytest.raises(InvalidInput) as unknown:
        sources(storage, ["1aaaaaaaaaaaaaaa"])
    assert refused.value.field == unknown.value.field == "learn_from[0]"
    assert refused.value.message.replace(foreign.id, "J") == unknown.value.message.replace(
        "1aaaaaaaaaaaaaaa", "J"
    )


def test_a_job_that_has_not_ended_or_found_nothing_cannot_teach(storage: Storage) -> None:
    queued = create_job(storage)
    with pytest.raises(InvalidInput, match=re.escape("queued; wait until it has ended")):
        sources(storage, [queued.id])
    storage.jobs.transition(queued.id, "cancelled")
    with pytest.raises(InvalidInput, match="without a trial to learn from"):
        sources(storage, [queued.id])
    assert sources(storage, "auto") == []


def test_what_is_kept_outlives_the_job(storage: Storage) -> None:
    job = finished(storage)
    (told,) = store_experiences(storage, [job], optional=False)
    storage.trash.delete(job.id)
    found = Experience.from_json(json.loads(storage.artifacts.path(told["sha256"]).read_text()))
    assert (found.job, found.name, len(found.times)) == (job.id, job.name, told["trials"])


def test_a_job_whose_source_was_deleted_before_it_was_prepared_fails_and_says_so(
    storage: Storage, trace: Path
) -> None:
    gone = finished(storage)
    spec = load_job(job_document(trace, learn_from=[gone.id]))
    job = storage.jobs.create(name=spec.name, spec=spec.canonical(), seed=spec.seed)
    storage.jobs.transition(job.id, "preparing")
    storage.trash.delete(gone.id)
    prepare_job(storage, job.id)
    failed = storage.jobs.get(job.id)
    assert (failed.state, failed.error) == ("failed", f"learn_from[0]: there is no job {gone.id}")


def test_what_is_kept_is_the_same_every_time(storage: Storage) -> None:
    job = finished(storage)
    assert store_experiences(storage, [job], optional=False) == store_experiences(
        storage, [job], optional=True
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "must be 'none', 'auto', or a list"),
        ("1aaaaaaaaaaaaaaa", "must be 'none', 'auto', or a list"),
        (["a", "a"], "'a' is listed twice"),
        ([str(number) for number in range(9)], "at most 8 jobs"),
    ],
)
def test_what_makes_no_sense_is_refused(given: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as refused:
        load_job({**SPEC, "learn_from": given})
    assert refused.value.field == "learn_from"


def test_a_search_without_a_model_does_not_learn() -> None:
    with pytest.raises(InvalidInput, match="needs the technique Surrogate") as refused:
        load_job({**SPEC, "learn_from": "auto", "techniques": ["PureRandom"]})
    assert refused.value.field == "learn_from"


def test_a_job_with_algorithms_by_size_teaches(storage: Storage, tmp_path: Path) -> None:
    calls = encode("allreduce", count=1, size=8) + encode("allreduce", count=1 << 17, size=8)
    trace = tmp_path / "two.ht"
    write_trace(trace, TraceHeader(ranks=4, program="two"), [calls + encode("finalize")] * 4)
    document = job_document(trace)
    document["search"] |= {"collectives": {"allreduce": ["rdb", "lr"]}, "by_size": True}
    spec = load_job(document)
    job = storage.jobs.create(name=spec.name, spec=spec.canonical(), seed=spec.seed)
    leased = storage.leases.acquire("test", 600.0, job.id)
    assert leased is not None
    assert leased.lease_token is not None
    storage.jobs.transition(job.id, "preparing")
    prepare_job(storage, job.id)
    prepared = storage.jobs.get(job.id)
    assert prepared.space is not None
    names = {one["name"] for one in prepared.space["parameters"]}
    assert "collectives.allreduce@4096" in names
    chosen = SearchSpace.from_description(prepared.space["parameters"]).default()
    storage.jobs.transition(job.id, "running", token=leased.lease_token)
    trial = storage.trials.propose(
        job.id,
        leased.lease_token,
        Proposal.of(
            chosen,
            number=1,
            kind="search",
            technique="Surrogate",
        ),
    )
    outcome = Outcome(status="completed", value=1.5)
    storage.trials.settle(trial.id, leased.lease_token, outcome)
    storage.jobs.transition(job.id, "completed", token=leased.lease_token)

    (told,) = store_experiences(storage, [storage.jobs.get(job.id)], optional=False)
    assert told["trials"] == 1
