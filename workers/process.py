"""A worker as a process of its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

from searchspace.errors import HamtuneError
from storage.storage import Storage
from workers.capture_limits import CapturePolicy
from workers.celery_app import await_broker, make_app
from workers.embedded import EmbeddedPool
from workers.scratch import scratch
from workers.simulator_client import engine_in_use

__all__ = ["run_worker"]

_LOOK_SECONDS = 1.0
GRACE_SECONDS = 8.0  # below the ten seconds after which service managers kill


log = logging.getLogger("hamtune.workers")


def run_worker(
    storage: Storage,
    broker_url: str,
    stop: threading.Event,
    *,
    concurrency: int | None = None,
    grace_seconds: float = GRACE_SECONDS,
    policy: CapturePolicy | None = None,
    queues: Sequence[str] | None = None,
) -> None:
    """Evaluate trials until told to stop.

    Then the worker takes no more, lets what is under way end for a while, and hands the
    rest back.

    Args:
        storage: Where attempts and jobs are read and outcomes are written.
        broker_url: Where messages come from; while it cannot be reached, the worker waits.
        stop: Tells it to stop.
        concurrency: Evaluations at once; None for the number of cores.
        grace_seconds: Time to end evaluations under way.
        policy: What captures may do.
        queues: Which queues it listens to; None for all.

    Raises:
        HamtuneError: The worker cannot take messages any more.
    """
    log.info("engine: %s", engine_in_use())
    app = make_app(broker_url)
    await_broker(app, stop)
    pool = EmbeddedPool(app, concurrency, storage=storage, policy=policy, queues=queues)
    with scratch():
        pool.start()
        log.info("waiting for work")
        while pool.listens and not stop.wait(_LOOK_SECONDS):
            pass
        failed = not stop.is_set()
        log.info("stopping")
        pool.stop(grace_seconds=grace_seconds)
    if failed:  # whoever looks after the process starts it again
        raise HamtuneError("the worker lost its broker for good; its log says why")
