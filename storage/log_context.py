"""Which job and trial the messages of the log are about."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["about", "add_context"]

_JOB: ContextVar[str] = ContextVar("job", default="")
_TRIAL: ContextVar[str] = ContextVar("trial", default="")


@contextmanager
def about(*, job: str, trial: str = "") -> Iterator[None]:
    """Within the block, messages of this thread are about a job, and a trial of it."""
    job_token, trial_token = _JOB.set(job), _TRIAL.set(trial)
    try:
        yield
    finally:
        _JOB.reset(job_token)
        _TRIAL.reset(trial_token)


def add_context(record: logging.LogRecord) -> bool:
    """A filter for handlers, which lets all pass: records get the fields `job` and `trial`."""
    record.job, record.trial = _JOB.get(), _TRIAL.get()
    return True
