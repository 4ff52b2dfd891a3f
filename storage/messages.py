"""The message contract between coordinators and workers: task names; messages carry ids only."""

from __future__ import annotations

__all__ = ["CONTRACT", "EVALUATE", "PREPARE", "PREPARE_QUEUE", "QUEUE", "QUEUES"]

CONTRACT = 1
"""What processes that share a database must agree on: messages, and what rows mean. Raise it with a
change that processes of the version before would not understand; they then refuse each other."""

QUEUE = "hamtune"
PREPARE_QUEUE = "hamtune.prepare"
QUEUES = {"evaluate": QUEUE, "prepare": PREPARE_QUEUE}
"""What a worker may listen to, by the name that its user knows."""
PREPARE = "hamtune.prepare"  # (job_id): make the job's application ready, capturing it if need be
EVALUATE = "hamtune.evaluate"  # (attempt_id): evaluate the trial whose turn it is, such as this
