"""Ids that sort by the time of their making, short enough to be read out."""

from __future__ import annotations

import secrets
import threading
import time

__all__ = ["ID_LENGTH", "attempt_id", "new_id", "split_attempt_id", "split_trial_id", "trial_id"]

ID_LENGTH = 16
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32
_RANDOM_BITS = 35  # below 45 bits of milliseconds, which last until the year 3084

_lock = threading.Lock()
_last = 0


def new_id() -> str:
    """A fresh id: 9 characters of time, 7 random; within a process each is above the last."""
    global _last
    with _lock:
        number = (time.time_ns() // 1_000_000) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
        _last = max(number, _last + 1)
        number = _last
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(5 * (ID_LENGTH - 1), -1, -5))


def trial_id(job_id: str, number: int) -> str:
    """The id of a job's trial, which the job and the number determine."""
    return f"{job_id}-{number}"


def attempt_id(job_id: str, trial_number: int, number: int) -> str:
    """The id of an attempt at a trial, which the trial and the number determine."""
    return f"{job_id}-{trial_number}-{number}"


def split_trial_id(identifier: str) -> tuple[str, int] | None:
    """Job id and trial number of a trial's id; None if it is not one."""
    match identifier.split("-"):
        case [job_id, number] if number.isdecimal():
            return job_id, int(number)
    return None


def split_attempt_id(identifier: str) -> tuple[str, int, int] | None:
    """Job id, trial number and attempt number of an attempt's id; None if it is not one."""
    match identifier.split("-"):
        case [job_id, trial, number] if trial.isdecimal() and number.isdecimal():
            return job_id, int(trial), int(number)
    return None
