from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from celery.exceptions import Reject

from storage.messages import EVALUATE, PREPARE
from storage.storage import Storage
from tests.workers.conftest import RunningJob
from workers.celery_app import make_app
from workers.tasks import Work, register

RunJob = Callable[..., RunningJob]


@pytest.fixture
def work(storage: Storage) -> Iterator[Work]:
    """The tasks of one worker, registered with an application."""
    registered = register(make_app("memory://"), storage, "worker", concurrency=1)
    yield registered
    registered.close()


def test_the_tasks_have_the_names_of_the_message_contract(storage: Storage) -> None:
    app = make_app("memory://")
    work = register(app, storage, "worker", concurrency=1)

    assert {EVALUATE, PREPARE} <= set(app.tasks)
    work.close()


def test_registering_anew_replaces_the_tasks(
    storage: Storage, tmp_path: Path, run_job: RunJob, trace: Path
) -> None:
    other = Storage.open(f"sqlite:///{tmp_path}/other.db", str(tmp_path / "artifacts"))
    other.upgrade()
    app = make_app("memory://")
    register(app, other, "worker", concurrency=1).close()
    work = register(app, storage, "worker", concurrency=1)
    job = run_job(trace)

    app.tasks[EVALUATE](job.open())

    assert job.trial().state == "completed"
    work.close()
    other.close()


def test_a_stopping_worker_gives_its_message_back(work: Work, run_job: RunJob, trace: Path) -> None:
    job = run_job(trace)
    work.stop(abandon=False)

    with pytest.raises(Reject) as rejected:
        work.evaluate(job.open())

    assert rejected.value.requeue
    assert job.trial().state == "pending"


def test_applications_in_one_process_do_not_share_their_queues() -> None:
    names = {make_app("memory://").conf.task_default_queue for _ in range(2)}

    assert len(names) == 2


def test_applications_at_a_broker_meet_in_one_queue() -> None:
    names = {make_app("redis://127.0.0.1:1/0").conf.task_default_queue for _ in range(2)}

    assert names == {"hamtune"}


def test_messages_are_acknowledged_when_done_and_results_are_not_kept() -> None:
    conf = make_app("redis://127.0.0.1:1/0").conf

    assert conf.task_acks_late
    assert conf.worker_prefetch_multiplier == 1
    assert conf.accept_content == ["json"]
    assert conf.result_backend is None
