"""An agent: asks a service for runs of finalists, does them on its cluster, tells what they took.

It goes out to the service and listens to nobody. What runs is what its own configuration names.
"""

from __future__ import annotations

import logging
import math
import random
import re
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import httpx

from measuring.clusters import Cluster, Launch, Library, Ran, RunFailed, Unwanted
from measuring.plans import check_plan, write_export
from searchspace.errors import HamtuneError, InvalidInput

__all__ = ["Agent", "Program", "Refused"]

_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0
_IDLE_SECONDS = 2.0
_GONE = (404, 409)

log = logging.getLogger("hamtune.agent")


class Refused(HamtuneError):
    """The service does not let the agent in, or does not understand it."""


@dataclass(frozen=True)
class Program:
    """A program as the agent's configuration has it.

    Attributes:
        command: The program and its arguments.
        time_from: Takes the seconds from what it prints: the first group; None for the time of the
            whole run.
    """

    command: tuple[str, ...]
    time_from: re.Pattern[str] | None = None


class Programs(Protocol):
    """Programs by the names that jobs call them."""

    def get(self, name: str, /) -> Program | None:
        """The program of a name; None where there is none."""


class Agent:
    """Does the runs that a service asks for.

    Args:
        http: A client of the service, with its key.
        name: Of this agent, no other's.
        cluster_name: Of the cluster: all times of a job are of one.
        cluster: Runs programs.
        library: The MPI library that programs were built with.
        programs: What may be run.
        testbed: The name of the testbed that the cluster is.
        most_seconds: When any run is given up.
    """

    def __init__(
        self,
        http: httpx.Client,
        *,
        name: str,
        cluster_name: str,
        cluster: Cluster,
        library: Library,
        programs: Programs,
        testbed: str | None = None,
        most_seconds: float = 3600.0,
    ) -> None:
        self._http = http
        self._wish = {
            "agent": name,
            "cluster": cluster_name,
            "library": library,
            "testbed": testbed,
        }
        self._cluster = cluster
        self._library: Library = library
        self._programs = programs
        self._most_seconds = most_seconds

    def serve(
        self,
        stop: threading.Event,
        *,
        until_idle: bool = False,
        said: Callable[[str], None] | None = None,
    ) -> int:
        """Do runs until told to stop.

        Args:
            stop: When set, no further run is begun.
            until_idle: End when there is nothing to do.
            said: Told of each run, a line each.

        Returns:
            How many runs were done.

        Raises:
            Refused: The key is wrong or may not do this, or the service is another's.
        """
        done = 0
        while not stop.is_set():
            work = self._ask(stop)
            if work is None:
                if until_idle:
                    break
                stop.wait(_IDLE_SECONDS)
                continue
            outcome = self._do(work)
            kept = outcome is not None and self._tell(work, outcome, stop)
            done += kept
            if said is not None:
                said(_line(work, outcome, kept))
        return done

    def _ask(self, stop: threading.Event) -> dict[str, Any] | None:
        answer = self._patiently("/api/v1/agents/work", self._wish, stop)
        return None if answer is None or answer.status_code == 204 else _work(answer)

    def _do(self, work: Mapping[str, Any]) -> dict[str, Any] | None:
        """Run what is asked, saying all the while that it goes on.

        Returns:
            What it came to; None where the service wanted it no more, so that it was ended.
        """
        ended, unwanted = threading.Event(), threading.Event()
        beating = threading.Thread(target=self._beat, args=(work, ended, unwanted), daemon=True)
        beating.start()
        try:
            with tempfile.TemporaryDirectory(prefix="hamtune-plan-") as directory:
                return self._measure(work, Path(directory), unwanted)
        except Unwanted:
            return None
        except InvalidInput as error:
            return _failure("refused", f"the agent refuses: {error.message}")
        except RunFailed as error:
            return _failure("failed", str(error))
        finally:
            ended.set()
            beating.join()

    def _measure(
        self, work: Mapping[str, Any], directory: Path, unwanted: threading.Event
    ) -> dict[str, Any]:
        plan = work["plan"]
        program = self._programs.get(str(work["application"]))
        if program is None:
            name = str(work["application"])[:200]
            raise InvalidInput(f"its configuration has no application {name!r}")
        hosts = self._cluster.hosts
        check_plan(plan, self._library, len(hosts), self._cluster.cores_per_host)
        launch = Launch(
            command=program.command,
            ranks=plan["ranks"],
            library=self._library,
            export=write_export(plan, self._library, hosts, directory),
            seconds=min(float(work["seconds"]), self._most_seconds),
            unwanted=unwanted,
        )
        ran = self._cluster.run(launch)
        return {
            "seconds": _seconds(program, ran),
            "doubts": list(ran.doubts)[:20],
            "origin": dict(self._cluster.origin(self._library)),
        }

    def _beat(
        self, work: Mapping[str, Any], ended: threading.Event, unwanted: threading.Event
    ) -> None:
        # One that is missed is no harm: the lease lasts for several.
        while not ended.wait(float(work["beat_seconds"])):
            try:
                answer = self._http.post(f"{_path(work)}/beat", timeout=10.0)
            except httpx.TransportError as error:
                log.warning("the service did not hear of a run: %s", error)
                continue
            if answer.status_code in _GONE:
                unwanted.set()  # another run may begin on the cluster, which this one would slow
                return

    def _tell(
        self, work: Mapping[str, Any], outcome: dict[str, Any], stop: threading.Event
    ) -> bool:
        """Tell what a run came to; False where the service wants it no more."""
        answer = self._patiently(f"{_path(work)}/outcome", outcome, stop, _GONE)
        return answer is not None and answer.status_code not in _GONE

    def _patiently(
        self, path: str, document: Any, stop: threading.Event, ends: Sequence[int] = ()
    ) -> httpx.Response | None:
        """POST until the service answers, ever less often; None where told to stop meanwhile.

        Args:
            path: Of the service.
            document: What is posted.
            stop: Ends the waiting.
            ends: What the service may answer beside a success.

        Raises:
            Refused: It answers something else that will not change.
        """
        wait = _FIRST_WAIT
        while True:
            try:
                answer = self._http.post(path, json=document)
            except httpx.TransportError as error:
                log.warning("the service does not answer: %s", error)
            else:
                if answer.is_success or answer.status_code in ends:
                    return answer
                if answer.status_code < 500 and answer.status_code != 429:
                    raise Refused(_detail(answer))
                log.warning("the service cannot answer now: %s", _detail(answer))
            if stop.wait(wait * random.uniform(0.5, 1.0)):  # noqa: S311 (no secret)
                return None
            wait = min(2.0 * wait, _LONGEST_WAIT)


def _work(answer: httpx.Response) -> dict[str, Any]:
    """The run that a service asks for.

    Raises:
        Refused: The answer is not that of a service.
    """
    try:
        work = dict(answer.json())
        _path(work)
        times = [float(work[name]) for name in ("seconds", "beat_seconds")]
        complete = {"plan", "application"} <= work.keys()
    except (ValueError, TypeError, KeyError, OverflowError):
        complete = False
    if not complete or not all(0 < time < math.inf for time in times):
        raise Refused(f"{answer.url} asks for a run as no service of this version does")
    return work


def _path(work: Mapping[str, Any]) -> str:
    place, number = int(work["place"]), int(work["number"])
    job = re.sub(r"[^0-9a-z]", "", str(work["job"]))
    return f"/api/v1/agents/runs/{job}/{place}/{number}"


def _seconds(program: Program, ran: Ran) -> float:
    if program.time_from is None:
        return ran.seconds
    found = program.time_from.search(ran.output)
    if found is None:
        raise RunFailed(f"{program.command[0]} printed nothing that time_from finds")
    try:
        seconds = float(found[1])
    except (ValueError, IndexError):
        raise RunFailed(f"time_from finds {found[0]!r}, which is no number") from None
    if not 0.0 < seconds < float("inf"):
        raise RunFailed(f"time_from finds {seconds} s, which is no time")
    return seconds


def _failure(kind: str, message: str) -> dict[str, Any]:
    return {"reason": {"kind": kind, "message": message[-4000:]}}


def _line(work: Mapping[str, Any], outcome: Mapping[str, Any] | None, kept: bool) -> str:
    run = f"{work['label']} of job {work['job']}, run {work['number']}"
    if outcome is None:
        return f"{run}: ended before its time, for it is no longer wanted"
    reason = outcome.get("reason")
    came = f"{outcome['seconds']:.6g} s" if reason is None else f"failed: {reason['message']}"
    late = "" if kept else "; no longer wanted"
    return f"{run}: {came}{late}"


def _detail(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return f"{answer.url} answers {answer.status_code} {answer.reason_phrase}"
