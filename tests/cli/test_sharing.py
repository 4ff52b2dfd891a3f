"""Two projects on the same servers: neither waits for the other to be done."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from searchspace.job import load_job
from storage.records import Job
from storage.storage import Storage
from tests.cli.conftest import Hamtune


def test_a_small_job_does_not_wait_for_the_many_of_another_project(
    hamtune: Hamtune,
    job: dict[str, Any],
    create_database: Callable[[], str],
    redis_url: str,
) -> None:
    urls = (create_database(), (hamtune.directory / "artifacts").as_uri())
    storage = Storage.open(*urls)
    storage.upgrade()
    hamtune.environment = {
        "HAMTUNE_DATABASE_URL": urls[0],
        "HAMTUNE_BROKER_URL": redis_url,
        "HAMTUNE_ARTIFACTS_URL": urls[1],
    }

    # Its trials are long enough to be taken one by one.
    application = {"builtin": "cg", "class": "S", "ranks": 8}

    def submit(project: str, trials: int, seed: int, **more: Any) -> Job:
        changes: dict[str, Any] = {
            "application": application,
            "budget": {"trials": trials},
            "seed": seed,
        }
        changes["cutoff_factor"] = None  # with cutoffs the search waits for the baselines
        spec = load_job({**job, **changes, **more})
        storage.projects.add(project)
        return storage.of_project(project).jobs.create(
            name=spec.name, spec=spec.canonical(), seed=seed, concurrency=spec.concurrency
        )

    many = [submit("greedy", 30, seed, batch=16) for seed in (1, 2, 3)]
    small = submit("modest", 8, 4, batch=16)

    def asked(one: Job) -> int:
        return len(storage.trials.of_job(one.id))

    def is_asked_whole(one: Job) -> bool:
        space = storage.jobs.get(one.id).space
        return space is not None and asked(one) == 8 + len(space["baselines"])

    with ExitStack() as processes:
        processes.enter_context(hamtune.running("coordinator"))
        processes.enter_context(hamtune.running("worker", "--queues", "prepare"))
        # All have trials that wait when the first is evaluated: only turns count.
        while not (all(asked(one) >= 16 for one in many) and is_asked_whole(small)):
            time.sleep(0.1)
        evaluating = ("worker", "--concurrency", "1", "--queues", "evaluate")
        processes.enter_context(hamtune.running(*evaluating))
        while storage.jobs.get(small.id).state != "completed":
            time.sleep(0.1)
        shown = hamtune.json("jobs")
    ended = storage.jobs.get(small.id).finished_at
    assert ended is not None

    evaluated = [
        [t for t in storage.trials.of_job(one.id) if t.started_at is not None and not t.cached]
        for one in (*many, small)
    ]
    *theirs, ours = evaluated
    meanwhile = [t for trials in theirs for t in trials if (t.started_at or 0.0) < ended]
    # By turns of equal cost, where each in the order of its message would give them three or four.
    assert len(meanwhile) < 2.5 * len(ours)
    for trials in evaluated:
        starts = [t.started_at for t in trials]
        assert starts == sorted(starts, key=lambda at: at or 0.0)
    by_id = {one["id"]: one for one in shown}
    assert by_id[small.id]["state"] == "completed"
    used = {one["name"]: one["used"] for one in hamtune.json("projects", "list")}
    assert used["modest"]["trials"] == len(storage.trials.of_job(small.id))
    assert used["modest"]["jobs"] == used["default"]["trials"] == 0
    storage.close()
