"""Experiments on a cluster: runs of the program, and what they found."""

from __future__ import annotations

import datetime
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from measuring.building import build_program
from measuring.calibration.experiments import Experiment
from measuring.calibration.log import Log, Row
from measuring.calibration.plan import Part
from measuring.clusters import Cluster, Launch, Library, Ran, RunFailed
from searchspace.errors import HamtuneError

__all__ = ["Bench"]

ATTEMPTS = 3
"""Runs of a part of which none counts before it is given up."""
_SECONDS = 300.0


class Bench:
    """Makes experiments on a cluster, and keeps what they found.

    Args:
        cluster: Where.
        library: Of MPI.
        log: Where each run is added; a part that it has is not run again.
        pause: Seconds between repetitions.
        directory: Where the program is built; all hosts see it.
    """

    def __init__(
        self, cluster: Cluster, library: Library, log: Log, pause: float, directory: Path
    ) -> None:
        self._cluster = cluster
        self._library = library
        self._log = log
        self._pause = pause
        self._directory = directory
        self._program: Path | None = None

    def run(self, part: Part) -> Row:
        """Make the experiments of a part, unless the log has them.

        Raises:
            HamtuneError: The program does not run, or none of several runs counts.
        """
        names = [experiment.name for experiment, _ in part.experiments]
        while True:
            runs = self._log.of(part.name, names)
            for run in runs:
                if not run.doubts:
                    return run
            if len(runs) >= ATTEMPTS:
                raise HamtuneError(
                    f"the times of {ATTEMPTS} runs do not count: {'; '.join(runs[-1].doubts)}"
                )
            self._log.add(self._attempt(part))

    def _attempt(self, part: Part) -> Row:
        experiments = [experiment for experiment, _ in part.experiments]
        text = "".join(
            experiment.text(number, repetitions, self._pause)
            for number, (experiment, repetitions) in enumerate(part.experiments)
        )
        if self._program is None:
            path = self._directory / "calibration"
            self._program = build_program("calibration", self._library, path)
        with tempfile.NamedTemporaryFile("w", suffix=".txt", dir=self._directory) as file:
            file.write(text)
            file.flush()
            try:
                ran = self._cluster.run(
                    Launch(
                        command=[str(self._program), file.name],
                        ranks=len(self._cluster.hosts) * self._cluster.cores_per_host,
                        library=self._library,
                        seconds=_SECONDS,
                    )
                )
            except RunFailed as failed:
                raise HamtuneError(
                    f"the program that measures does not run on the cluster: {failed}; "
                    "see that a small MPI program runs there by itself"
                ) from None
        return _row(part, experiments, ran)


def _row(part: Part, experiments: Sequence[Experiment], ran: Ran) -> Row:
    seconds: dict[str, list[float]] = {}
    met: dict[str, dict[str, float]] = defaultdict(dict)
    for line in ran.output.splitlines():
        match line.split():
            case ["time", number, *times]:
                seconds[experiments[int(number)].name] = [float(time) for time in times]
            case ["first" | "again" as when, rank, time]:
                met[when][rank] = float(time)
            case _:
                pass
    missing = [each.name for each in experiments if each.name not in seconds]
    if missing:
        raise HamtuneError(
            f"the program that measures ended without the times of {len(missing)} of "
            f"{len(experiments)} experiments ('{missing[0]}' and on); see what it printed: "
            f"{ran.output[-200:]}"
        )
    return Row(
        part=part.name,
        date=datetime.date.today().isoformat(),
        seconds=seconds,
        first=[met["first"][rank] - met["again"][rank] for rank in met["again"]],
        doubts=tuple(ran.doubts),
        details={
            name: value for name, value in ran.details.items() if isinstance(value, int | float)
        },
    )
