"""Looking at a job file before it becomes a job: its space, its cost, its network."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from searchspace.collectives import called_collectives, non_commutative_reductions
from searchspace.collectives.by_size import sizes_called
from searchspace.errors import InvalidInput
from searchspace.job import JobSpec, build_space
from searchspace.jobspace import BuiltSpace
from searchspace.platform import GIVEN
from searchspace.topology import DEGREE, FAMILIES, generate
from searchspace.units import format_duration
from searchspace.workload import worlds
from service.drawings.network import EXAMPLE as NETWORK
from service.drawings.network import Drawing, draw
from service.jobs import service
from service.jobs.schemas import SPEC_EXAMPLE
from service.settings import Settings
from storage.records import Application
from storage.view import StorageView
from tuner.pace import search_seconds
from workers.sources import sources_of

__all__ = ["EXAMPLE", "CheckView", "Estimate", "look_at"]

RECENT_JOBS = 200
"""Among so many of the last jobs those of the same application are looked for."""
MOST_DRAWN_NODES = 4096
MOST_DRAWN_CABLES = 10_000
"""A network of random cables takes a second to make at this size."""
MOST_SEARCHED_CABLES = 4096
"""Of a network that is searched for, which takes half a second at this size."""

EXAMPLE: dict[str, Any] = {
    "spec": SPEC_EXAMPLE,
    "space": {"size": 18, "parameters": [], "constraints": [], "baselines": [], "excluded": []},
    "note": None,
    "estimate": {
        "seconds": 90.0,
        "trials": 104,
        "seconds_per_trial": 1.44,
        "note": "as evaluations of this application took in 3 earlier jobs, 2 at once, and roughly "
        "15 s for the search itself",
    },
    "learned_from": [{"job": "0k3v9m2x7q1zt8aa", "name": "cg-64-old-cables"}],
    "network": NETWORK,
    "network_note": None,
}


class Estimate(BaseModel):
    """How long the job may take, by what earlier jobs of its application cost."""

    seconds: float | None = Field(description="Of the clock, if no other job is at work.")
    trials: int | None = Field(description="At most, baselines included; null without a limit.")
    seconds_per_trial: float | None = Field(description="Simulator CPU of one evaluation, mean.")
    note: str = Field(description="What the estimate rests on, or why there is none.")


class Source(BaseModel):
    """A finished job that another one learns from."""

    job: str
    name: str


class CheckView(BaseModel):
    """What a job file would become."""

    spec: dict[str, Any] = Field(description="The job file in canonical form.")
    space: dict[str, Any] | None = Field(
        description="Its search space; null while the application's ranks are not known."
    )
    note: str | None = Field(description="Why there is no space, or what may yet change it.")
    estimate: Estimate
    learned_from: list[Source] = Field(description="The jobs that its search would learn from.")
    network: Drawing | None = Field(description="The first network of the space.")
    network_note: str | None = Field(description="Which network that is, or why there is none.")


def look_at(storage: StorageView, settings: Settings, document: Any) -> CheckView:
    """Check a job file and say what it would become.

    Raises:
        InvalidInput: The job file cannot be used; the message is that of creating the job.
    """
    spec, application = service.check(storage, document)
    built, note = _space(spec, application)
    network, network_note = _network(spec, built)
    return CheckView(
        spec=spec.canonical(),
        space=None if built is None else built.describe(),
        note=note,
        estimate=_estimate(storage, settings, spec, built),
        learned_from=[Source(job=job.id, name=job.name) for job in sources_of(storage, spec)],
        network=network,
        network_note=network_note,
    )


def _space(spec: JobSpec, application: Application | None) -> tuple[BuiltSpace | None, str | None]:
    ranks = application.ranks if application is not None else spec.known_ranks
    if ranks is None:
        return None, "the size of the space is known once the application's ranks are"
    if application is not None and application.summary:
        summary = application.summary
        called = called_collectives(summary)
        non_commutative = non_commutative_reductions(summary)
        sizes = sizes_called(summary)
        return build_space(spec, ranks, called, non_commutative, sizes), None
    known = spec.known_worlds
    groups = worlds(known) if known is not None and len(known) > 1 else None
    later = "collectives that the application never calls are left out once it is captured"
    if spec.search.by_size is True:
        later += ", and ranges of message sizes are found then"
    return build_space(spec, ranks, groups), later if spec.search.collectives else None


def _network(spec: JobSpec, built: BuiltSpace | None) -> tuple[Drawing | None, str | None]:
    """The network of the space's first configuration."""
    machine = spec.described_machine
    options: dict[str, Any] = {}
    if built is None:
        family, seed = GIVEN, spec.seed
    else:
        first = built.space.default()
        family = str(first.get("topology", GIVEN))
        options = {
            name.removeprefix(f"{family}."): value
            for name, value in first.items()
            if name.startswith(f"{family}.")
        }
        seed = spec.seed
    if family in FAMILIES:
        options = {DEGREE.name: machine.random_degree, **options}
        large = _too_large_to_draw(family, machine.nodes, options[DEGREE.name])
        if large is not None:
            return None, large
        try:
            graph = generate(family, machine.nodes, seed=seed, **options)
        except InvalidInput as error:
            return None, str(error)
    elif machine.given_network is not None:
        graph = machine.given_network
    else:
        return None, "the network is open"
    drawing = draw(graph, machine.host_names, family)
    if drawing is None:
        return None, f"{family} of {graph.nodes} nodes has too many cables for a picture"
    return drawing, f"{family}, {graph.nodes} nodes, {len(graph.edges)} cables"


def _too_large_to_draw(family: str, nodes: int, degree: int | None) -> str | None:
    """Why a network is not even made: whoever looks at a job file waits for it."""
    cables = nodes * (degree or 0) // 2
    most = MOST_SEARCHED_CABLES if FAMILIES[family].costly else MOST_DRAWN_CABLES
    if nodes > MOST_DRAWN_NODES or cables > most:
        return f"{family} of {nodes} nodes is too large for a picture"
    return None


def _estimate(
    storage: StorageView, settings: Settings, spec: JobSpec, built: BuiltSpace | None
) -> Estimate:
    limits = [spec.budget.trials, None if built is None else built.space.size]
    known = [limit for limit in limits if limit is not None]
    trials = None
    if known:
        trials = min(known) + (0 if built is None else len(built.baselines))
    wanted = spec.canonical()["application"]
    alike = [
        job
        for job in storage.jobs.page(limit=RECENT_JOBS).items
        if job.evaluations
        and job.spec.get("application") == wanted
        and job.spec["machine"].get("network", "fluid") == spec.described_machine.network
    ]
    if not alike:
        note = "no job with this application has run here yet; the first trials will tell"
        return Estimate(seconds=None, trials=trials, seconds_per_trial=None, note=note)
    each = sum(job.cpu_seconds for job in alike) / sum(job.evaluations for job in alike)
    slots = service.slots(storage, settings.concurrency)
    at_once = min(slots, spec.in_flight(slots))
    searched = 0 if spec.external == "proposals" else min(known, default=0)
    searching = search_seconds(searched) if searched else 0.0
    seconds = None if trials is None else trials * each / at_once + searching
    limit = spec.budget.wall_seconds
    if limit is not None:
        seconds = limit if seconds is None else min(limit, seconds)
    jobs = "one earlier job" if len(alike) == 1 else f"{len(alike)} earlier jobs"
    note = f"as evaluations of this application took in {jobs}, {at_once} at once"
    if searching:
        note += f", and roughly {format_duration(searching)} for the search itself"
    return Estimate(seconds=seconds, trials=trials, seconds_per_trial=each, note=note)
