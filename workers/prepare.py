"""Making a job ready: its application captured or checked, its space built."""

from __future__ import annotations

import logging
import tempfile
import threading
from collections import Counter
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from searchspace.collectives import called_collectives
from searchspace.configuration import canonical_json, sha256_of
from searchspace.errors import HamtuneError, InvalidInput
from searchspace.extrapolation import EDITION, extrapolate
from searchspace.formats.patterns import Pattern, pattern_trace
from searchspace.formats.plain_file import check_file
from searchspace.formats.source_archive import pack
from searchspace.formats.trace import describe_trace
from searchspace.formats.trace_traffic import TracesTraffic
from searchspace.job import BuiltSpace, JobSpec, build_space
from searchspace.jobspec import Application as AnyApplication
from searchspace.jobspec import (
    BuiltinApplication,
    Capture,
    ExtrapolatedApplication,
    Reference,
    SingleApplication,
    SourceApplication,
    TraceApplication,
    Workload,
)
from searchspace.kernels import CannotCut
from searchspace.platform import resolve
from searchspace.truncation import pays, truncate
from searchspace.workload import communicators
from storage.errors import Conflict, NotFound, Unavailable
from storage.log_context import about
from storage.networks import ProjectNetworks
from storage.preparations import PREPARER_SILENCE_SECONDS
from storage.project_storage import ProjectStorage
from storage.records import FINAL_JOB_STATES, Application, Job
from storage.spans import span
from storage.storage import Storage
from storage.traces import traces_of
from workers.capture import builtin_sources_sha256, capture_builtin
from workers.capture_files import LeftFiles
from workers.capture_limits import CapturePolicy
from workers.capture_run import Measure
from workers.capture_sandbox import DiskShort, Interrupted
from workers.capture_source import SourceProgram, capture_source, check_run
from workers.capture_watch import CaptureWatch
from workers.mapping_refinement import written_by_mappers
from workers.preparation_claim import claimed_preparation
from workers.probes import APART_SECONDS, MOST_MESSAGES, Bench, probe
from workers.straits import straits
from workers.subject import read_spec, request_for, workload_of

__all__ = [
    "Preparer",
    "add_source",
    "add_trace",
    "builtin_application",
    "check_captured",
    "prepare_job",
    "stored_application",
]

_SILENCE_SECONDS = PREPARER_SILENCE_SECONDS
_LOOK_SECONDS = 1.0
_MOST_STRAITS = 5  # at a job, before it fails of what this worker lacks

_SUMMED = ("operations", "messages", "bytes", "flops")

MOST_SHARE = 0.5
"""The largest part of a trace that may remain for a search on it to be worth its verification."""

log = logging.getLogger("hamtune.workers")


class _InStraits(Exception):
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
        straits: How often this worker's host could not prepare a job, by job.
    """

    storage: Storage
    worker: str = "worker"
    policy: CapturePolicy = field(default_factory=CapturePolicy)
    stop: threading.Event = field(default_factory=threading.Event)
    straits: Counter[str] = field(default_factory=Counter)

    def prepare(self, job_id: str) -> None:
        """Find a job's application and space and store both; where that fails, so does the job.

        A job that is gone, has ended or is prepared already is left alone, so that a message which
        arrives twice does no harm. One that another worker prepares, or whose application another
        is capturing, is left to that worker. Where this worker's host is in straits, such as with a
        full disk, the job waits: it is asked for again, and another worker may be able.

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
            share = ProjectStorage.of(self.storage, job.project)
            spec = read_spec(share, job)
            if not all(self._is_captured(part, job) for part in spec.captures):
                return
            application = stored_application(share, spec.application, self.stop)
            called = called_collectives(application.summary)
            built = build_space(spec, application.ranks, called)
            space = built.describe()
            if any(choice.method is None for choice in spec.search.mappers):
                traffic = TracesTraffic(traces_of(self.storage, application))
                space["mapped"] = written_by_mappers(
                    built.space,
                    spec.described_machine,
                    application.ranks,
                    traffic,
                    spec.seed,
                    ProjectNetworks(self.storage, job.project),
                )
            space |= self._probed(spec, application, built, job.project)
            calls = sum(application.summary["calls"].values())
            chosen = spec.fidelity or ("auto" if pays(calls, spec.budget.trials) else "full")
            if chosen == "auto":
                space["fidelity"] = truncated_trace(self.storage, application)
            self.storage.set_job_prepared(job_id, application_id=application.id, space=space)
            log.info("the job is prepared: %s on %d ranks", application.name, application.ranks)
        except (Unavailable, Interrupted):
            raise
        except Conflict as error:
            log.info("%s", error)
        except _InStraits as error:
            log.warning("this host is in straits, the job waits: %s", error)
        except Exception as error:
            problem = self._problem(job_id, error)
            if problem is not None:
                log.warning("this host is in straits, the job waits: %s", problem)
            elif isinstance(error, HamtuneError):
                self._fail(job_id, str(error))
            else:
                log.exception("job %s cannot be prepared", job_id)
                self._fail(job_id, f"internal error: {error!r}")
        else:
            self.straits.pop(job_id, None)

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
                kept=ProjectNetworks(self.storage, project),
            ),
            partial(request_for, workload=workload_of(application)),
            machine.host_speed * APART_SECONDS,
            MOST_MESSAGES[machine.trial_model],
        )
        probes = probe(bench)
        return {"probes": probes.to_json(), "excluded": [*built.excluded, *probes.excluded()]}

    def _problem(self, job_id: str, error: Exception) -> str | None:
        """What this host lacks to prepare a job; None where the job has to fail."""
        if isinstance(error, DiskShort) and error.before:  # nothing of the job was tried
            return str(error)
        problem = straits(error)
        if problem is None or self.straits[job_id] == _MOST_STRAITS:
            return None
        self.straits[job_id] += 1
        return problem

    def _unprepared(self, job_id: str) -> Job | None:
        try:
            job = self.storage.get_job(job_id)
        except NotFound:
            log.debug("job %s is gone", job_id)
            return None
        return None if job.space is not None or job.state in FINAL_JOB_STATES else job

    def _is_captured(self, named: Capture | Pattern, job: Job) -> bool:
        """Whether an application has its trace, or got it now; no where that is another's task."""
        if not isinstance(named, SourceApplication | Reference):
            return True
        job_id = job.id
        application = _single_application(ProjectStorage.of(self.storage, job.project), named)
        if application.state == "ready":
            return True
        self.storage.set_job_application(job_id, application.id)
        if not self._claimed(application.id):
            return self.storage.get_application(application.id).state == "ready"
        try:
            self._capture(application, job_id)
        except Interrupted:
            self.storage.report_capture(application.id, self.worker, state="new")
            if self.stop.is_set():
                raise
            # Its job was cancelled; others may wait for it.
            self._prepare_waiting(application.id, job_id)
            return False
        except Exception as error:
            problem = self._problem(job_id, error)
            if problem is not None:
                self.storage.report_capture(
                    application.id, self.worker, state="new", build_log=f"waiting: {problem}\n"
                )
                raise _InStraits(problem) from error
            message = (
                str(error) if isinstance(error, HamtuneError) else f"internal error: {error!r}"
            )
            self.storage.report_capture(application.id, self.worker, state="failed", error=message)
            for waiting in self._waiting(application.id, job_id):
                self._fail(waiting, message)
            raise
        self._prepare_waiting(application.id, job_id)
        return True

    def _claimed(self, application_id: str) -> bool:
        """Whether its capture is ours; False once the worker that has it is known to live."""
        last: float | None = None
        while not self.storage.claim_capture(
            application_id, self.worker, silence_seconds=_SILENCE_SECONDS
        ):
            found = self.storage.get_application(application_id)
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
                self.storage.artifact_path(recipe["source_sha256"]),
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
            self.storage.report_capture(
                application.id,
                self.worker,
                state="ready",
                summary=describe_trace(trace),
                trace_sha256=self.storage.put_artifact(trace),
            )

    def _keep_files(self, application_id: str, left: LeftFiles) -> None:
        files = {"sha256": self.storage.put_artifact(left.archive), **left.listing()}
        self.storage.report_capture(application_id, self.worker, output_files=files)

    def _unprepared_and_wanted(self, job_id: str) -> bool:
        job = self._unprepared(job_id)
        return job is not None and job.state != "cancelling"

    def _waiting(self, application_id: str, but: str) -> list[str]:
        """Further jobs that are being prepared and need this application."""
        found, cursor = [], None
        while True:
            page = self.storage.list_jobs(state="preparing", cursor=cursor)
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
            self.storage.transition(job_id, "failed", error=message)
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
    whole = storage.artifact_path(application.trace_sha256)
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
        digest = storage.put_artifact(short)
    return {"trace_sha256": digest, "share": share, "obstacle": None}


def stored_application(
    storage: Storage, named: AnyApplication, stop: threading.Event | None = None
) -> Application:
    """The stored one of what a job names; a built-in program is captured the first time.

    One made from a source tree may be yet to be captured.

    Raises:
        InvalidInput: The program or the trace cannot be used.
        CaptureFailed: The program could not be compiled or run.
        NotFound: It refers to an application that is not stored.
        Interrupted: It was stopped.
    """
    if isinstance(named, Workload):
        return workload(storage, named, stop)
    return _single_application(storage, named, stop)


def _single_application(
    storage: Storage, named: SingleApplication, stop: threading.Event | None = None
) -> Application:
    if isinstance(named, BuiltinApplication):
        return builtin_application(storage, named, stop)
    if isinstance(named, TraceApplication):
        return add_trace(storage, Path(named.trace))
    if isinstance(named, SourceApplication):
        return add_source(storage, Path(named.source), named)[0]
    if isinstance(named, Pattern):
        return pattern_application(storage, named)
    if isinstance(named, ExtrapolatedApplication):
        return extrapolated_application(storage, named, stop)
    return storage.get_application(named.id)


def workload(storage: Storage, named: Workload, stop: threading.Event | None) -> Application:
    """The stored application that stands for several: a list of their traces.

    Raises:
        As `stored_application`; InvalidInput also where one of them is a workload itself, or
            has no trace yet.
    """
    parts = []
    stored = []
    calls: Counter[str] = Counter()
    sums: Counter[str] = Counter()
    for part in named.applications:
        application = _single_application(storage, part.application, stop)
        if application.kind == "workload":
            raise InvalidInput(f"'{part.name}' is itself several", field="applications")
        check_captured(application)
        stored.append(application)
        parts.append(
            {
                "name": part.name,
                "application": application.name,
                "trace_sha256": application.trace_sha256,
                "ranks": application.ranks,
                "start": part.start,
                "weight": part.weight if named.objective == "weighted" else 1.0,
            }
        )
        calls.update(application.summary["calls"])
        sums.update({name: application.summary.get(name, 0) for name in _SUMMED})
    objective = "last" if named.objective == "max" else "mean"
    listing = {"applications": parts, "objective": objective}
    with tempfile.TemporaryDirectory(prefix="hamtune-prepare-") as directory:
        file = Path(directory) / "workload.json"
        file.write_text(canonical_json(listing))
        digest = storage.put_artifact(file)
    return storage.add_application(
        name=" + ".join(str(part["application"]) for part in parts),
        kind="workload",
        key=f"workload:{digest}",
        trace_sha256=digest,
        ranks=sum(int(str(part["ranks"])) for part in parts),
        summary={
            **sums,
            "calls": dict(calls),
            "communicators": communicators([application.summary for application in stored]),
            **listing,
        },
    )


def check_captured(application: Application) -> None:
    """Check that an application has its trace.

    Raises:
        InvalidInput: It has none yet.
    """
    if application.state != "ready":
        raise InvalidInput(
            f"application {application.id} is {application.state}: it has no trace yet; run a job "
            "with it, or 'hamtune capture --source'"
        )


def builtin_application(
    storage: Storage, named: BuiltinApplication, stop: threading.Event | None = None
) -> Application:
    """The stored application of a built-in program, captured the first time it is named.

    Raises:
        InvalidInput: The program refuses its parameters or ranks.
        CaptureFailed: It could not be compiled or run.
    """
    run = named.run
    key = f"{run.key}:sources={builtin_sources_sha256(run.program)}"
    known = storage.find_application(key)
    if known is not None:
        return known
    with tempfile.TemporaryDirectory(prefix="hamtune-prepare-") as directory:
        trace = Path(directory) / "trace.ht"
        parameters = dict(run.parameters)
        class_ = parameters.pop("class", None)
        capture_builtin(
            run.program,
            None if class_ is None else str(class_),
            run.ranks,
            parameters,
            trace,
            stop=stop,
        )
        return storage.add_application(
            name=run.key,
            kind="builtin",
            key=key,
            trace_sha256=storage.put_artifact(trace),
            ranks=run.ranks,
            summary=describe_trace(trace),
        )


def pattern_application(storage: Storage, named: Pattern) -> Application:
    """The stored application of a synthetic workload, whose trace is written once.

    Raises:
        InvalidInput: Its trace would be too large.
    """
    key = f"pattern:{named.key}"
    known = storage.find_application(key)
    if known is not None:
        return known
    with tempfile.TemporaryDirectory(prefix="hamtune-prepare-") as directory:
        trace = Path(directory) / "trace.ht"
        try:
            pattern_trace(named, trace)
        except InvalidInput as error:
            raise InvalidInput(error.message, field="application") from error
        return storage.add_application(
            name=named.key,
            kind="pattern",
            key=key,
            trace_sha256=storage.put_artifact(trace),
            ranks=named.ranks,
            summary=describe_trace(trace),
        )


def extrapolated_application(
    storage: Storage, named: ExtrapolatedApplication, stop: threading.Event | None = None
) -> Application:
    """The stored application that follows from smaller captures, whose trace is written once.

    Raises:
        As `stored_application`; InvalidInput also where the captures follow no pattern.
    """
    captures = [
        _single_application(storage, capture, stop) for capture in named.extrapolate.captures
    ]
    for capture in captures:
        if capture.kind == "workload":
            raise InvalidInput(f"'{capture.name}' is several", field="application.extrapolate")
        check_captured(capture)
    digests = sorted(capture.trace_sha256 for capture in captures)
    key = f"extrapolated:{sha256_of([EDITION, named.ranks, digests])}"
    known = storage.find_application(key)
    if known is not None:
        return known
    with tempfile.TemporaryDirectory(prefix="hamtune-prepare-") as directory:
        trace = Path(directory) / "trace.ht"
        paths = [storage.artifact_path(digest) for digest in digests]
        try:
            made = extrapolate(paths, named.ranks, trace)
        except InvalidInput as error:
            raise InvalidInput(error.message, field="application.extrapolate") from error
        summary = describe_trace(trace)
        return storage.add_application(
            name=f"{summary['program']}, extrapolated to {made.ranks} ranks",
            kind="extrapolated",
            key=key,
            trace_sha256=storage.put_artifact(trace),
            ranks=made.ranks,
            summary={**summary, "extrapolated": asdict(made)},
        )


def add_trace(storage: Storage, trace: Path) -> Application:
    """Check a trace and store it as an application, named by its program.

    Raises:
        InvalidInput: The file does not exist, is no trace, or cannot be replayed.
    """
    check_file(trace, field="application.trace")
    summary = describe_trace(trace)
    digest = storage.put_artifact(trace)
    return storage.add_application(
        name=summary["program"],
        kind="trace",
        key=f"trace:{digest}",
        trace_sha256=digest,
        ranks=summary["ranks"],
        summary=summary,
    )


def add_source(
    storage: Storage, source: Path, named: SourceApplication, *, name: str | None = None
) -> tuple[Application, bool]:
    """Store a source tree and the application that is to be captured from it.

    Args:
        storage: Where to.
        source: A directory or an archive.
        named: How it is built and run; the path in it is not looked at.
        name: What to call the application; by default the program's name.

    Returns:
        The application, which may be an old one, and whether it is new.

    Raises:
        InvalidInput: The source cannot be used.
    """
    program = check_run(named.run)
    with tempfile.TemporaryDirectory(prefix="hamtune-source-") as directory:
        packed = Path(directory) / "source.tar.gz"
        try:
            pack(source, packed)
        except InvalidInput as error:
            raise InvalidInput(error.message, field="source") from error
        recipe = named.recipe(storage.put_artifact(packed))
    key = f"source:{sha256_of(recipe)}"
    known = storage.find_application(key)
    if known is not None:
        return known, False
    added = storage.add_source_application(
        name=name or Path(program).name, key=key, recipe=recipe, ranks=recipe["ranks"]
    )
    return added, True
