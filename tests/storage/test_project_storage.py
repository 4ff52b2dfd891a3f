"""What belongs to one project does not exist for another, whatever method is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from searchspace.errors import InvalidInput
from storage.allowances import Allowance
from storage.attempts import Finished
from storage.errors import Conflict, NotFound, QuotaExceeded, Throttled
from storage.measured_records import MeasuredOutcome, NewMeasured
from storage.project_storage import ProjectStorage
from storage.proposal import Proposal
from storage.records import (
    Application,
    Outcome,
    OutlookPoint,
    Page,
    Quotas,
    TrialKind,
)
from storage.storage import Storage
from storage.view import StorageView

KEY: dict[str, Any] = {
    "role": "viewer",
    "scopes": (),
    "sha256": "0" * 64,
    "expires_at": None,
    "created_by": "t",
}
HOOK: dict[str, Any] = {
    "kind": "webhook", "target": "https://example.org/hook", "secret": None,
    "events": ["completed"], "pause_seconds": 60.0, "owner": "t",
}  # fmt: skip
TRACE: dict[str, Any] = {
    "name": "cg",
    "kind": "trace",
    "key": "trace:1",
    "trace_sha256": "1" * 64,
    "ranks": 2,
}
SOURCE: dict[str, Any] = {
    "name": "s",
    "key": "source:1",
    "recipe": {"source_sha256": "2" * 64},
    "ranks": 2,
}
MACHINE: dict[str, Any] = {"name": "m", "description": {"nodes": 4}}
ONE_AT_ONCE = Allowance(burst=9, seconds=60.0, at_once=1, hold_seconds=3600.0)
LONG = 3600.0
DONE = Outcome(status="completed", value=1.5, cpu_seconds=2.0, result={"calls": 1})
BROKE = Outcome(status="failed", reason={"kind": "wall", "message": "too long"})
SETTINGS: dict[str, Any] = {
    "repetitions": 2,
    "seconds": 100.0,
    "wait": 50.0,
    "library": "openmpi",
    "testbed": None,
}

SHARED = {
    "artifacts.path", "artifacts.put", "events.last_id", "leases.queue_positions", "leases.shares",
    "networks.find", "networks.put", "processes.worker_slots",
}  # fmt: skip
"""What projects share: nothing of it shows anything of anybody but how much there is to do. Which
artifact or network is meant says its digest or that of its description, and nothing else does."""


class Things(NamedTuple):
    """What a project has."""

    job: str
    trace: str
    source: str
    machine: str
    key: str
    subscription: str
    allowance: str


class Asked(NamedTuple):
    """How one project asks for what another has, and what it is told."""

    arguments: dict[str, Any]
    told: Callable[[Any], bool]
    """Whether an answer, or what was raised, is right."""


def absent(noun: str, identifier: str, /, **arguments: Any) -> Asked:
    """To a method that is handed an identifier: there is no such thing."""

    def told(answer: Any) -> bool:
        return isinstance(answer, NotFound) and str(answer) == f"there is no {noun} {identifier}"

    return Asked(arguments, told)


def answers(wanted: Any, /, **arguments: Any) -> Asked:
    """With this, or an empty page of it."""

    def told(answer: Any) -> bool:
        found = answer.items if isinstance(answer, Page) else answer
        return type(found) is type(wanted) and bool(found == wanted)

    return Asked(arguments, told)


def stores(**arguments: Any) -> Asked:
    """With what is stored now, of whoever asks."""
    return Asked(arguments, lambda answer: answer.project == "theirs")


def questions(things: Things) -> dict[str, Asked]:
    """Every method that a project is offered, asked for what another one has.

    In an order in which the other one could ask them all.
    """
    return about_the_project(things) | about_jobs(things) | about_trials(things) | ends(things)


def about_the_project(things: Things) -> dict[str, Asked]:
    source, machine, key = things.source, things.machine, things.key
    own = {"application_id": source}
    return {
        "applications.find": answers(None, key="trace:1"),
        "applications.has_source": answers(False, sha256="2" * 64),
        "applications.page": answers([]),
        "applications.get": absent("application", source, **own),
        "applications.log": absent("application", source, **own, log="build"),
        "applications.output_files": absent("application", source, **own),
        "applications.add_to_summary": absent("application", source, **own, calls=1),
        "applications.report_capture": absent("application", source, **own, worker="w"),
        "applications.claim_capture": absent(
            "application", source, **own, worker="w", silence_seconds=-LONG
        ),
        "applications.add": stores(**TRACE, summary={}),
        "applications.add_source": stores(**SOURCE),
        "machines.page": answers([]),
        "machines.get": absent("machine", machine, machine_id=machine),
        "machines.add": stores(**MACHINE),
        "keys.page": answers([]),
        "keys.get": absent("key", key, key_id=key),
        "keys.rotate": absent(
            "key", key, key_id=key, sha256="1" * 64, grace_seconds=0.0, expires_at=None
        ),
        "keys.add": stores(name="k", **KEY),
        "audit.page": answers([]),
        "audit.add": answers(None, actor="a", address="b", action="c", target="d", status=200),
        "projects.all": Asked({}, lambda found: [one.name for one in found] == ["theirs"]),
        "projects.get": absent("project", "ours", name="ours"),
        "projects.use": absent("project", "ours", name="ours"),
        "projects.check_quotas": answers(None, name="ours"),
        "projects.admit_upload": answers(None, size=1),
        "allowances.begin": Asked(
            {"principal": "t", "allowance": ONE_AT_ONCE}, lambda answer: isinstance(answer, str)
        ),
        "allowances.end": answers(None, principal="t", identifier=things.allowance),
    }


def about_jobs(things: Things) -> dict[str, Asked]:
    job, subscription = things.job, things.subscription

    def of_job(**arguments: Any) -> Asked:
        return absent("job", job, job_id=job, **arguments)

    def of_subscription(**arguments: Any) -> Asked:
        return absent("subscription", subscription, subscription_id=subscription, **arguments)

    return {
        "jobs.page": answers([]),
        "jobs.free_name": answers("j-2", name="j"),
        "jobs.get": of_job(),
        "jobs.check": of_job(),
        "jobs.describe": of_job(name="another"),
        "jobs.set_priority": of_job(priority="high"),
        "jobs.create": stores(name="j", spec={"x": 1}, seed=2, idempotency_key="k"),
        "preparations.is_under_way": of_job(),
        "events.after": answers([], cursor=0, job_id=job),
        "measurements.of_job": of_job(),
        "measurements.add": of_job(document={"seconds": 1.0}),
        "outlooks.of_job": of_job(),
        "outlooks.last": answers({}, job_ids=[job]),
        "failures.counts": answers({}, job_ids=[job]),
        "subscriptions.page": answers([], job_id=job),
        "subscriptions.get": of_subscription(),
        "subscriptions.deliveries": of_subscription(),
        "subscriptions.add_test": of_subscription(identifier="t", message={}, ok=True, said="200"),
        "subscriptions.add": of_job(**HOOK),
    }


def about_trials(things: Things) -> dict[str, Asked]:
    job = things.job

    def of_job(**arguments: Any) -> Asked:
        return absent("job", job, job_id=job, **arguments)

    run = {"place": 1, "number": 1}
    return {
        "trials.get": of_job(number=1),
        "trials.of_job": of_job(),
        "trials.cells": of_job(numbers=[1, 2]),
        "trials.unfinished": of_job(),
        "trials.points": of_job(),
        "trials.baseline_points": of_job(),
        "trials.initial_point": of_job(),
        "trials.best": of_job(),
        "trials.comparisons": of_job(),
        "trials.counts": answers({}, job_ids=[job]),
        "trials.counts_of": of_job(),
        "trials.search_seconds": of_job(),
        "attempts.unfinished": of_job(),
        "attempts.of_trial": of_job(number=5),
        "attempts.running": of_job(),
        "convergence.count_asked": of_job(),
        "convergence.points": of_job(stride=1),
        "scripts.propose": of_job(key="b", configuration={"n": 9}, configuration_sha256="9" * 64),
        "scripts.proposed": of_job(place=1),
        "scripts.ask": of_job(key="b", asker="s", most=1, seconds=LONG),
        "scripts.release": of_job(number=6, attempt=1),
        "scripts.tell": of_job(number=6, attempt=1, outcome=DONE),
        "measured_runs.add": of_job(
            purpose="validation", configuration=NewMeasured(label="x"), outcomes=[]
        ),
        "measured_runs.measuring": of_job(),
        "measured_runs.configurations": of_job(),
        "measured_runs.counts": answers({}, job_ids=[job]),
        "measured_runs.measurable_jobs": answers(
            [], cluster="bluebird", library="openmpi", testbed=None
        ),
        "measured_runs.settle_entered": of_job(plans={2: ("open", {"ranks": 4})}),
        "measured_runs.beat": of_job(**run, seconds=LONG),
        "measured_runs.finish": of_job(**run, outcome=MeasuredOutcome(seconds=1.0)),
        "measured_runs.claim": of_job(agent="a", cluster="bluebird", seconds=LONG),
        "measured_runs.end_measuring": of_job(because="enough"),
    }


def ends(things: Things) -> dict[str, Asked]:
    job = things.job

    def of_job(**arguments: Any) -> Asked:
        return absent("job", job, job_id=job, **arguments)

    return {
        "subscriptions.delete": absent(
            "subscription", things.subscription, subscription_id=things.subscription
        ),
        "jobs.transition": of_job(to="completed"),
        "trash.put": of_job(keep_seconds=LONG),
        "trash.restore": of_job(),
        "trash.delete": of_job(),
        "keys.revoke": absent("key", things.key, key_id=things.key),
    }


@pytest.fixture
def ours(storage: Storage) -> ProjectStorage:
    storage.projects.add("ours")
    return storage.of_project("ours")


@pytest.fixture
def theirs(storage: Storage) -> ProjectStorage:
    storage.projects.add("theirs")
    return storage.of_project("theirs")


def trace(storage: StorageView, name: str = "cg") -> Application:
    return storage.applications.add(**TRACE | {"name": name}, summary={})


def offered(storage: ProjectStorage) -> Iterator[tuple[str, Callable[..., Any]]]:
    """All that a project is offered, by repository and name: anything that is not private."""
    for noun, repository in vars(storage).items():
        if not noun.startswith("_") and noun != "project":
            for name in dir(repository):
                if not name.startswith("_"):
                    yield f"{noun}.{name}", getattr(repository, name)


@pytest.fixture
def furnished(storage: Storage, ours: ProjectStorage) -> Things:
    """A project that has something of everything, and has used up its quotas."""
    job = ours.jobs.create(name="j", spec={"x": 0}, seed=1, idempotency_key="k").id
    ours.jobs.create(name="j-2", spec={}, seed=1)
    assert storage.preparations.claim(job, "preparer")
    leased = storage.leases.acquire("coordinator", LONG, job)
    assert leased is not None
    token = leased.lease_token
    ours.jobs.transition(job, "running")
    evaluate(storage, job, token)
    ours.scripts.propose(job, "a", {"n": 8}, "8" * 64)
    storage.outlooks.store(job, token, [OutlookPoint(2, 0.5, 0.1)])
    ours.measurements.add(job, {"seconds": 1.0})
    candidates = [NewMeasured(label="trial 2", trial=2, simulated=1.5), NewMeasured(label="x")]
    storage.measured_runs.open_measuring(job, token, SETTINGS, candidates, 2)
    ours.measured_runs.settle_entered(job, {1: ("open", {"ranks": 4})})
    assert ours.measured_runs.claim(job, "a", "bluebird", LONG) is not None
    source = ours.applications.add_source(**SOURCE).id
    assert ours.applications.claim_capture(source, "w", silence_seconds=LONG)
    files = {"sha256": "3" * 64, "files": 1, "left_out": 0}
    assert ours.applications.report_capture(source, "w", build_log="cc", output_files=files)
    ours.audit.add(actor="a", address="b", action="c", target="d", status=200)
    subscription = ours.subscriptions.add(job_id=job, **HOOK).id
    ours.subscriptions.add_test(subscription, "first", {}, ok=True, said="200")
    quotas = Quotas(cpu_seconds=0.5, storage_bytes=0)
    storage.projects.change("ours", weight=1.0, priority="high", quotas=quotas)
    return Things(
        job=job,
        trace=trace(ours).id,
        source=source,
        machine=ours.machines.add(**MACHINE).id,
        key=ours.keys.add(name="k", **KEY).id,
        subscription=subscription,
        allowance=ours.allowances.begin("t", ONE_AT_ONCE),
    )


def evaluate(storage: Storage, job: str, token: int) -> None:
    """Trials 1 and 2 (and the comparison of it) that are completed, one that failed, one that a
    worker has, one that a script has, and one that nobody has."""
    kinds: tuple[TrialKind, ...] = (
        "baseline",
        "search",
        "comparison",
        "search",
        "search",
        "search",
        "search",
    )
    for number, kind in enumerate(kinds, start=1):
        digest = "2" * 64 if kind == "comparison" else f"{number}" * 64
        trial = Proposal(
            number=number, kind=kind, label=None, inside=kind != "comparison",
            configuration={"n": digest[0]}, configuration_sha256=digest,
        )  # fmt: skip
        evaluated = number < 6
        (stored,) = storage.trials.propose_several(job, token, [trial], attempt=evaluated)
        if evaluated:
            attempt = storage.attempts.open(stored.id, token)
            assert storage.attempts.take_several(attempt.id, "worker", 1)
            if number < 5:
                outcome = BROKE if number == 4 else DONE
                assert storage.attempts.finish_several([Finished(attempt.id, outcome, None)])
    asked = storage.scripts.ask(job, "a", "s", 1, LONG)
    assert [one.trial.number for one in asked] == [6]


def test_each_project_has_its_own(ours: ProjectStorage, theirs: ProjectStorage) -> None:
    application, other = trace(ours), trace(theirs, "the same trace")
    assert application.id != other.id
    assert application.project == "ours"
    machine = ours.machines.add(name="m", description={"nodes": 4})
    assert theirs.machines.add(name="m", description={"nodes": 4}).id != machine.id
    job = ours.jobs.create(name="j", spec={}, seed=1, idempotency_key="k", owner="key:a")
    assert theirs.jobs.create(name="j", spec={"x": 1}, seed=1, idempotency_key="k").id != job.id
    assert (job.project, job.owner) == ("ours", "key:a")

    for noun in ("applications", "machines", "jobs", "keys", "audit"):
        assert all(item.project == "theirs" for item in getattr(theirs, noun).page().items), noun
    assert [project.name for project in theirs.projects.all()] == ["theirs"]


def test_whoever_serves_all_projects_sees_all(storage: Storage, ours: ProjectStorage) -> None:
    job = ours.jobs.create(name="j", spec={}, seed=1)
    assert storage.jobs.get(job.id) == job
    assert storage.jobs.create(name="j", spec={}, seed=1).project == "default"
    assert len(storage.jobs.page().items) == 2
    leased = storage.leases.acquire("me", 10.0)
    assert leased is not None
    assert leased.id == job.id


def test_what_others_have_is_not_found(ours: ProjectStorage, theirs: ProjectStorage) -> None:
    application = trace(ours)
    job = ours.jobs.create(name="j", spec={}, seed=1, application_id=application.id)
    with pytest.raises(NotFound):
        theirs.jobs.create(name="j", spec={}, seed=1, application_id=application.id)
    for ask in (theirs.projects.get, theirs.projects.use):
        with pytest.raises(NotFound):
            ask("ours")
    assert theirs.applications.find("trace:1") is None
    assert theirs.events.after(0, job_id=job.id) == []
    assert ours.events.after(0, job_id=job.id) != []
    unnamed: Any = None
    with pytest.raises(InvalidInput, match="one job at a time"):
        theirs.events.after(0, job_id=unnamed)


def test_every_method_that_a_project_is_offered_is_asked(
    ours: ProjectStorage, furnished: Things
) -> None:
    """A new one is no project's before somebody has said here what it answers to another."""
    names = {name for name, _ in offered(ours)}
    asked = set(questions(furnished))
    assert not asked & SHARED
    unasked = names - asked - SHARED
    assert not unasked, f"say in `questions` what these answer to another project: {unasked}"
    assert asked | SHARED == names, "these are not offered any more"


def test_no_method_shows_or_changes_anything_of_another(
    storage: Storage, ours: ProjectStorage, theirs: ProjectStorage, furnished: Things
) -> None:
    before = seen(ours, furnished)
    methods = dict(offered(theirs))
    wrong = {
        name: answer
        for name, question in questions(furnished).items()
        if not question.told(answer := ask(methods[name], question.arguments))
    }
    assert wrong == {}
    assert seen(ours, furnished) == before
    with pytest.raises(Throttled):
        ours.allowances.begin("t", ONE_AT_ONCE)


def test_whoever_has_it_is_answered(ours: ProjectStorage, furnished: Things) -> None:
    """Or the refusals would say nothing: those who ask have the right arguments."""
    methods = dict(offered(ours))
    empty = {}
    for name, question in questions(furnished).items():
        answer = ask(methods[name], question.arguments)
        found = answer.items if isinstance(answer, Page) else answer
        refused = isinstance(answer, Exception) and not isinstance(answer, MAY_BE_IN_THE_WAY)
        if refused or (name not in SILENT and found in (None, [], {}, False)):
            empty[name] = answer
    assert empty == {}


SILENT = {
    "allowances.end", "audit.add", "jobs.check", "keys.revoke",
    "measured_runs.beat", "measured_runs.settle_entered", "subscriptions.delete",
}  # fmt: skip
"""Methods that answer nothing."""

MAY_BE_IN_THE_WAY = (Conflict, QuotaExceeded, Throttled)
"""Raised by what has found what it was asked for."""


def ask(method: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """What a method answers or raises."""
    try:
        return method(**arguments)
    except (NotFound, *MAY_BE_IN_THE_WAY) as error:
        return error


def seen(ours: ProjectStorage, things: Things) -> list[Any]:
    """What a project sees of its own."""
    job = things.job
    pages = [
        getattr(ours, noun).page()
        for noun in ("applications", "machines", "keys", "audit", "jobs", "subscriptions")
    ]
    return [
        *pages,
        ours.jobs.get(job),
        ours.trials.of_job(job),
        [ours.attempts.of_trial(job, number) for number in range(1, 8)],
        ours.scripts.proposed(job, 1),
        ours.measurements.of_job(job),
        ours.measured_runs.measuring(job),
        ours.measured_runs.configurations(job),
        ours.subscriptions.deliveries(things.subscription),
        ours.events.after(0, job_id=job),
    ]


def test_a_project_is_offered_part_of_what_there_is(storage: Storage, ours: ProjectStorage) -> None:
    for noun, repository in vars(ours).items():
        if noun not in ("project", "artifacts"):
            assert isinstance(getattr(storage, noun), type(repository)), noun
    names = {name for name, _ in offered(ours)}
    for noun, method in (
        ("leases", "acquire"), ("trials", "propose"), ("trials", "settle"), ("keys", "match"),
        ("attempts", "take"), ("projects", "change"), ("artifacts", "delete"), ("audit", "forget"),
    ):  # fmt: skip
        assert hasattr(getattr(storage, noun), method)
        assert f"{noun}.{method}" not in names
    for noun in ("deliveries", "evaluations", "retention", "statistics"):
        assert hasattr(storage, noun)
        assert not hasattr(ours, noun)


def test_a_share_holds_nothing_of_another(ours: ProjectStorage) -> None:
    assert ours.project == "ours"
    assert not isinstance(ours, Storage)
    assert not hasattr(ours, "of_project")
