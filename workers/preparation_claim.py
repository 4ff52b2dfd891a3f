"""Claims on preparations: one worker makes a job ready, and says every so often that it lives."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from storage.errors import Unavailable
from storage.identifiers import new_id
from storage.storage import Storage

__all__ = ["claimed_preparation"]

_BEAT_SECONDS = 3.0

log = logging.getLogger("hamtune.workers")


@contextmanager
def claimed_preparation(storage: Storage, job_id: str, worker: str) -> Iterator[bool]:
    """Hold the preparation of a job while the context is open.

    Args:
        storage: Where the job is.
        job_id: The job.
        worker: Who prepares it; one worker may hold several claims.

    Yields:
        Whether it is held; not where another worker has it, or nothing is to be prepared.
    """
    claim = f"{worker}-{new_id()}"
    if not storage.preparations.claim(job_id, claim):
        yield False
        return
    ended = threading.Event()
    beats = threading.Thread(
        target=_beat, args=(storage, job_id, claim, ended), name="preparing", daemon=True
    )
    beats.start()
    try:
        yield True
    finally:
        ended.set()
        beats.join()
        try:
            storage.preparations.release(job_id, claim)
        except Unavailable as error:
            log.warning("the claim on job %s runs out by itself: %s", job_id, error)


def _beat(storage: Storage, job_id: str, claim: str, ended: threading.Event) -> None:
    while not ended.wait(_BEAT_SECONDS):
        try:
            if not storage.preparations.beat(job_id, claim):
                log.warning("the preparation of job %s was given to another worker", job_id)
                return
        except Unavailable as error:
            log.warning("no heartbeat for the preparation of job %s: %s", job_id, error)
