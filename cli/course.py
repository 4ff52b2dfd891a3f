"""What a watcher knows of a job, brought up to date by asking only for what can have changed."""

from __future__ import annotations

from typing import Any

from cli.client import Client
from cli.curves import Axis, Curve
from storage.records import FINAL_JOB_STATES, FINAL_TRIAL_STATES

__all__ = ["Course"]

PAGE = 500


class Course:
    """A job and its trials so far.

    `update` asks for the job and for the trials from the first one that was still open, so the
    cost of watching does not grow with the length of the job.
    """

    def __init__(self, client: Client, job_id: str) -> None:
        self._client = client
        self._id = job_id
        self._settled = 0
        self.job: dict[str, Any] = {}
        self.trials: list[dict[str, Any]] = []

    def update(self) -> None:
        """Ask the service."""
        # The job first: when it has ended, the trials asked for after it are all there.
        self.job = self._client.get(f"/jobs/{self._id}")
        after: int | None = self._settled
        while after is not None:
            page = self._client.get(f"/jobs/{self._id}/trials", after=after, limit=PAGE)
            del self.trials[after:]
            self.trials += page["items"]
            after = page["cursor"]
        while (
            self._settled < len(self.trials)
            and self.trials[self._settled]["state"] in FINAL_TRIAL_STATES
        ):
            self._settled += 1

    @property
    def ended(self) -> bool:
        """Whether the job is in a final state, or paused: nothing more happens by itself."""
        return self.job.get("state") in (*FINAL_JOB_STATES, "paused")

    def curve(self) -> Curve:
        """Best simulated time by trial, of the trials that have an outcome."""
        done = [trial for trial in self.trials if trial["state"] in FINAL_TRIAL_STATES]
        best: list[float | None] = []
        incumbent: float | None = None
        for trial in done:
            value = trial["value"]
            if trial["state"] == "completed" and (incumbent is None or value < incumbent):
                incumbent = value
            best.append(incumbent)
        return Curve(
            name=self.job["name"],
            axis=Axis(label="trial", values=tuple(float(trial["number"]) for trial in done)),
            states=tuple(trial["state"] for trial in done),
            values=tuple(trial["value"] for trial in done),
            best=tuple(best),
            baselines={
                trial["label"]: trial["value"]
                for trial in done
                if trial["kind"] == "baseline" and trial["state"] == "completed"
            },
        )
