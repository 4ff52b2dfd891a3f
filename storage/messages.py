"""The message contract between coordinators and workers: task names; messages carry ids only."""

from __future__ import annotations

__all__ = ["EVALUATE", "PREPARE", "QUEUE"]

QUEUE = "hamtune"
PREPARE = "hamtune.prepare"  # (job_id): make the job's application ready, capturing it if need be
EVALUATE = "hamtune.evaluate"  # (attempt_id): evaluate the attempt's trial and store the outcome
