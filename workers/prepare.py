"""Making a job ready: its application captured or checked, its space built."""

from __future__ import annotations

import logging
import tempfile
import threading
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from searchspace.collectives import called_collectives, non_commutative_reductions
from searchspace.collectives.by_size import sizes_called
from searchspace.disk_room import NoRoom
from searchspace.errors import HamtuneError
from searchspace.formats.patterns import Pattern
from searchspace.formats.trace import describe_trace
from searchspace.formats.trace_traffic import TracesTraffic
from searchspace.job import BuiltSpace, JobSpec, build_space
from searchspace.jobspec import (
    Capture,
    Reference,
    SourceApplication,
)
from searchspace.kernels import CannotCut
from searchspace.platform import resolve
from searchspace.truncation import pays, truncate
from storage.errors import Conflict, NotFound, Unavailable
from storage.log_context import about
from storage.networks import ProjectNetworks
from storage.preparations import PREPARER_SILENCE_SECONDS
from storage.records import FINAL_JOB_STATES, Application, Job
from storage.spans import span
from storage.storage import Storage
from storage.traces import traces_of
from workers.applications import stored_application, with_sizes
from workers.capture_files import LeftFiles
from workers.capture_limits import CapturePolicy
from workers.capture_run import Measure
from workers.capture_sandbox import Interrupted
from workers.capture_source import SourceProgram, capture_source
from workers.capture_watch import CaptureWatch
from workers.host_errors import host_error
from workers.mapping_refinement import written_by_mappers
from workers.preparation_claim import claimed_preparation
from workers.probes import APART_SECONDS, MOST_MESSAGES, Bench, probe
from workers.sources import sources_of, store_experiences
from workers.tuning_problem import read_spec, request_for, workload_of

__all__ = ["MOST_SHARE", "Preparer", "prepare_job"]

_SILENCE_SECONDS = PREPARER_SILENCE_SECONDS
_LOOK_SECONDS = 1.0
_MOST_HOST_ERRORS = 5  # at a job, before it fails of what this worker lacks

MOST_SHARE = 0.5
"""The largest part of a trace that may remain for a search on it to be worth its verification."""

log = logging.getLogger("hamtune.workers")


class _HostError(Exception):
    """This host lacks what it takes to capture; another one may have it."""


def prepare_job(storage: Storage, job_id: str) -> None:
    """Make a job ready by oneself; see `Preparer.prepare`."""
    Preparer(storage).prepare(job_id)


@dataclass(frozen=True)
class Preparer:
    """Makes jobs ready.

    Attributes:
        storage: Where jobs and applications are.
        worker: Name under which captures are claimed.
        policy: What captures may do.
        stop: Ends a capture under way when set; its job is then prepared by another.
        host_errors: How often this worker's host could not prepare a job, by job.
    """

    storage: Storage
    worker: str = "worker"
    policy: CapturePolicy = field(default_factory=CapturePolicy)
    stop: threading.Event = field(default_factory=threading.Event)
    host_errors: Counter[str] = field(default_factory=Counter)

    def prepare(self, job_id: str) -> None:
        """Find a job's application and space and store both; where that fails, so does the job.

        A job that is gone, has ended or is prepared already is left alone, so that a message which
        arrives twice does no harm. One that another worker prepares, or whose application another
        is capturing, is left to that worker. Where this worker's host has an error of its own, such
        as a full disk, the job waits: it is asked for again, and another worker may be able.

        Raises:
            Interrupted: The worker is stopping.
        """
        with (
            about(job=job_id),
            span("prepare", job=job_id),
            claimed_preparation(self.storage, job_id, self.worker) as ours,
        ):
            job = self._unprepared(job_id) if ours else None
            if job is not None:
                self._prepare(job)

    def _prepare(self, job: Job) -> None:
        job_id = job.id
        try:
            # What it names and what is made for it belongs to the job's project.
            share = self.storage.of_project(job.project)
            spec = read_spec(share, job)
            if not all(self._is_captured(part, job) for part in spec.captures):
                return
            application = stored_application(share, spec.application, self.stop)
            if spec.search.by_size:
                application = with_sizes(self.storage, application)
            space = self._space(job, spec, application)
            sources = sources_of(share, spec)
            if sources:
                space["learned_from"] = store_experiences(
                    share, sources, optional=spec.learn_from == "auto"
                )
            self.storage.jobs.set_prepared(job_id, application_id=application.id, space=space)
            log.info("the job is prepared: %s on %d ranks", application.name, application.ranks)
        except (Unavailable, Interrupted):
            raise
        except Conflict as error:
            log.info("%s", error)
        except _HostError as error:
            log.warning("an error of this host, the job waits: %s", error)
        except Exception as error:
            problem = self._problem(job_id, error)
            if problem is not None:
                log.warning("an error of this host, the job waits: %s", problem)
            elif isinstance(error, HamtuneError):
                self._fail(job_id, str(error))
            else:
                log.exception("job %s cannot be prepared", job_id)
                self._fail(job_id, f"internal error: {error!r}")
        else:
            self.host_errors.pop(job_id, None)

    def _space(self, job: Job, spec: JobSpec, application: Application) -> dict[str, Any]:
        """What a job searches, and what is known of that before its first trial."""
        called = called_collectives(application.summary)
        non_commutative = non_commutative_reductions(application.summary)
        sizes = sizes_called(application.summary)
        built = build_space(spec, application.ranks, called, non_commutative, sizes)
        space = built.describe()
        if any(choice.method is None for choice in spec.search.mappers):
            traffic = TracesTraffic(traces_of(self.storage, application))
            space["mapped"] = written_by_mappers(
                built.space,
                spec.described_machine,
                application.ranks,
                traffic,
                spec.seed,
                ProjectNetworks(self.storage.networks, job.project),
            )
        space |= self._probed(spec, application, built, job.project)
        calls = sum(application.summary["calls"].values())
        # Of two objectives a whole front would have to be verified, not a few of the best.
        cheaper = len(spec.objective) == 1 and pays(calls, spec.budget.trials)
        if (spec.fidelity or ("auto" if cheaper else "full")) == "auto":
            space["fidelity"] = truncated_trace(self.storage, application)
        return space

    def _probed(
        self, spec: JobSpec, application: Application, built: BuiltSpace, project: str
    ) -> dict[str, Any]:
        """What the space of a job says of its probes: `probes`, and more that is `excluded`."""
        machine = spec.described_machine
        called = called_collectives(application.summary)
        traces = traces_of(self.storage, application)
        bench = Bench(
            built.space,
            called,
            traces,
            application.ranks,
            partial(
                resolve,
                machine=machine.simulated_by(machine.trial_model),
                ranks=application.ranks,
                collectives=called,
                traffic=TracesTraffic(traces),
                cache=ProjectNetworks(self.storage.networks, project),
            ),
            partial(request_for, workload=workload_of(application)),
            machine.host_speed * APART_SECONDS,
            MOST_MESSAGES[machine.trial_model],
        )
        probes = probe(bench)
        return {"probes": probes.to_json(), "excluded": [*built.excluded, *probes.excluded()]}

    def _problem(self, job_id: str, error: Exception) -> str | None:
        """What this host lacks to prepare a job; None where the job has to fail."""
        if isinstance(error, NoRoom) and error.before:  # nothing of the job was tried
            return str(error)
        problem = host_error(error)
        if problem is None or self.host_errors[job_id] == _MOST_HOST_ERRORS:
            return None
        self.host_errors[job_id] += 1
        return problem

    def _unprepared(self, job_id: str) -> Job | None:
        try:
            job = self.storage.jobs.get(job_id)
        except NotFound:
            log.debug("job %s is gone", job_id)
            return None
        return None if job.space is not None or job.state in FINAL_JOB_STATES else job

    def _is_captured(self, named: Capture | Pattern, job: Job) -> bool:
        """Whether an application has its trace, or got it now; no where that is another's task."""
        if not isinstance(named, SourceApplication | Reference):
            return True
        job_id = job.id
        application = stored_application(self.storage.of_project(job.project), named)
        if application.state == "ready":
            return True
        self.storage.jobs.set_application(job_id, application.id)
        if not self._claimed(application.id):
            return self.storage.applications.get(application.id).state == "ready"
        try:
            self._capture(application, job_id)
        except Interrupted:
            self.storage.applications.report_capture(application.id, self.worker, state="new")
            if self.stop.is_set():
                raise
            # Its job was cancelled; others may wait for it.
            self._prepare_waiting(application.id, job_id)
            return False
        except Exception as error:
            problem = self._problem(job_id, error)
            if problem is not None:
                self.storage.applications.report_capture(
                    application.id, self.worker, state="new", build_log=f"waiting: {problem}\n"
                )
                raise _HostError(problem) from error
            message = (
                str(error) if isinstance(error, HamtuneError) else f"internal error: {error!r}"
            )
            self.storage.applications.report_capture(
                application.id, self.worker, state="failed", error=message
            )
            for waiting in self._waiting(application.id, job_id):
                self._fail(waiting, message)
            raise
        self._prepare_waiting(application.id, job_id)
        return True

    def _claimed(self, application_id: str) -> bool:
        """Whether its capture is ours; False once the worker that has it is known to live."""
        last: float | None = None
        while not self.storage.applications.claim_capture(
            application_id, self.worker, silence_seconds=_SILENCE_SECONDS
        ):
            found = self.storage.applications.get(application_id)
            if found.state == "ready" or last not in (None, found.claimed_at):
                return False
            last = found.claimed_at
            if self.stop.wait(_LOOK_SECONDS):
                raise Interrupted
        return True

    def _capture(self, application: Application, job_id: str) -> None:
        """Capture a source application that this worker has claimed."""
        assert application.recipe is not None
        recipe = application.recipe
        program = SourceProgram(
            recipe["build"],
            recipe["run"],
            recipe["ranks"],
            Measure(
                declared=recipe["computation"] == "declared",
                host_speed=recipe["host_speed_of_capture"],
                captures=recipe["captures"],
            ),
        )
        stop = threading.Event()

        def wanted() -> bool:
            return not self.stop.is_set() and self._unprepared_and_wanted(job_id)

        with tempfile.TemporaryDirectory(prefix="hamtune-prepare-") as directory:
            trace = Path(directory) / "trace.ht"
            capture_source(
                self.storage.artifacts.path(recipe["source_sha256"]),
                program,
                trace,
                limits=self.policy.limits,
                sandbox=self.policy.sandbox,
                stop=stop,
                watching=CaptureWatch(
                    self.storage,
                    application.id,
                    self.worker,
                    program.measure.runs,
                    program.ranks,
                    wanted,
                    stop,
                ),
                leaving=lambda left: self._keep_files(application.id, left),
            )
            self.storage.applications.report_capture(
                application.id,
                self.worker,
                state="ready",
                summary=describe_trace(trace),
                trace_sha256=self.storage.artifacts.put(trace),
            )

    def _keep_files(self, application_id: str, left: LeftFiles) -> None:
        files = {"sha256": self.storage.artifacts.put(left.archive), **left.listing()}
        self.storage.applications.report_capture(application_id, self.worker, output_files=files)

    def _unprepared_and_wanted(self, job_id: str) -> bool:
        job = self._unprepared(job_id)
        return job is not None and job.state != "cancelling"

    def _waiting(self, application_id: str, but: str) -> list[str]:
        """Further jobs that are being prepared and need this application."""
        found, cursor = [], None
        while True:
            page = self.storage.jobs.page(state="preparing", cursor=cursor)
            found += [
                job.id
                for job in page.items
                if job.application_id == application_id and job.space is None and job.id != but
            ]
            cursor = page.cursor
            if cursor is None:
                return found

    def _prepare_waiting(self, application_id: str, but: str) -> None:
        for waiting in self._waiting(application_id, but):
            self.prepare(waiting)

    def _fail(self, job_id: str, message: str) -> None:
        try:
            self.storage.jobs.transition(job_id, "failed", error=message)
        except (Conflict, NotFound) as late:
            log.info("%s", late)


def truncated_trace(storage: Storage, application: Application) -> dict[str, Any]:
    """Cut the loops of an application's trace short, and store what is left.

    Returns:
        `trace_sha256` (None where only the whole trace will do), `share` of the operations kept,
        and `obstacle`, why the whole trace is needed.
    """
    if application.kind == "workload":
        obstacle = "several applications run at once, whose iterations meet differently every time"
        return {"trace_sha256": None, "share": None, "obstacle": obstacle}
    whole = storage.artifacts.path(application.trace_sha256)
    with tempfile.TemporaryDirectory(prefix="hamtune-prepare-") as directory:
        short = Path(directory) / "truncated.ht"
        try:
            share = truncate(whole, short).share
        except CannotCut as error:
            return {"trace_sha256": None, "share": None, "obstacle": str(error)}
        if share > MOST_SHARE:
            obstacle = (
                f"{share:.0%} of the trace would remain, at most {MOST_SHARE:.0%} are worth it"
            )
            return {"trace_sha256": None, "share": share, "obstacle": obstacle}
        digest = storage.artifacts.put(short)
    return {"trace_sha256": digest, "share": share, "obstacle": None}
