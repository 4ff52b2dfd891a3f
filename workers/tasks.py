"""The Celery tasks. A message carries an id; all else is read from storage."""

from __future__ import annotations

from celery import Celery
from celery.exceptions import Reject

from storage.messages import EVALUATE, PREPARE
from storage.storage import Storage
from workers.capture_limits import CapturePolicy
from workers.capture_sandbox import Interrupted
from workers.evaluator import Evaluator, Stopped
from workers.prepare import Preparer

__all__ = ["Work", "register"]


class Work:
    """What the tasks of one worker share, and how it comes to its end."""

    def __init__(
        self,
        storage: Storage,
        worker: str,
        concurrency: int,
        policy: CapturePolicy,
        *,
        only_named: bool,
    ) -> None:
        self._preparer = Preparer(storage, worker, policy)
        # Some more than can be at work, for several jobs whose trials take turns.
        self._evaluator = Evaluator(
            storage, worker, warm_simulators=concurrency + 2, only_named=only_named
        )

    def evaluate(self, message: str) -> None:
        """Evaluate a trial; a worker that is stopping gives the message back."""
        try:
            self._evaluator.evaluate(message)
        except Stopped:
            raise Reject(requeue=True) from None

    def prepare(self, job_id: str) -> None:
        """Make a job ready to be tuned; a worker that is stopping gives the message back."""
        try:
            self._preparer.prepare(job_id)
        except Interrupted:
            raise Reject(requeue=True) from None

    def stop(self, *, abandon: bool) -> None:
        """Begin nothing more; with `abandon`, also hand back the evaluations under way.

        Captures are handed back either way: they may take longer than anybody waits.
        """
        self._evaluator.stop(abandon=abandon)
        self._preparer.stop.set()

    def close(self) -> None:
        """Free all resources once nothing runs any more."""
        self._evaluator.close()


def register(
    app: Celery,
    storage: Storage,
    worker: str,
    concurrency: int,
    policy: CapturePolicy | None = None,
    *,
    only_named: bool = False,
) -> Work:
    """Give an application its tasks.

    Args:
        app: From `workers.celery_app.make_app`.
        storage: What the tasks read and write.
        worker: The worker's name in attempts and trials.
        concurrency: How many tasks run at once.
        policy: What captures may do.
        only_named: Evaluate only trials of the jobs that messages name.

    Returns:
        The handle by which the worker is stopped.
    """
    work = Work(storage, worker, concurrency, policy or CapturePolicy(), only_named=only_named)
    for name, function in ((EVALUATE, work.evaluate), (PREPARE, work.prepare)):
        app.tasks.pop(name, None)  # of an earlier worker of this process
        app.task(function, name=name, lazy=False, shared=False)
    return work
