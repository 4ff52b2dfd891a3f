"""A trial on its network: where the ranks are, what they exchange, and what the cables carried."""

from __future__ import annotations

import itertools
import threading
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from searchspace.collectives import COLLECTIVES, DEFAULT
from searchspace.collectives.by_size import lines_of, range_text, ranges_of
from searchspace.collectives.tables import release
from searchspace.configuration import Configuration
from searchspace.formats.trace_traffic import TracesTraffic
from searchspace.kernels import hop_distances
from searchspace.mapping import map_ranks
from searchspace.platform import Infeasible, Resolved, chosen_algorithms, resolve
from searchspace.traffic import Traffic
from service.drawings.network import EXAMPLE as NETWORK
from service.drawings.network import Drawing, draw
from storage.errors import Conflict, NotFound
from storage.networks import StoredNetworks
from storage.records import Application, Job, Trial
from storage.traces import traces_of
from storage.view import StorageView
from workers.tuning_problem import read_spec

__all__ = ["EXAMPLE", "Placement", "placement"]

MOST_CELLS = 64
"""Rows and columns of a heat map; more hosts share a cell."""
MOST_AT_ONCE = 1024
"""Of more ranks one placement is made at a time: what all pairs of 4,096 exchange takes 0.5 GB."""
_ONE_LARGE = threading.Lock()
MOST_NODES = 4096
"""Distances are those of all pairs of nodes, whose table grows with the square."""

EXAMPLE: dict[str, Any] = {
    "trial": 17,
    "value": 0.0712,
    "ranks": 2,
    "network": NETWORK,
    "rank_hosts": [0, 2],
    "loads": [[0, 0], [1024, 2048], [0, 0]],
    "rank_times": [0.0711, 0.0712],
    "hops": [{"hops": 1, "pairs": 1, "bytes": 3072}],
    "hop_bytes": 3072,
    "traffic": {"size": 3, "block": 1, "bytes": [[0, 0, 3072], [0, 0, 0], [3072, 0, 0]]},
    "before": {"size": 3, "block": 1, "bytes": [[0, 3072, 0], [3072, 0, 0], [0, 0, 0]]},
    "before_hop_bytes": 3072,
    "options": {"smpi/allreduce": "rdb"},
    "choices": [
        {"name": "allreduce", "algorithm": "rdb", "words": "recursive doubling"},
    ],
}


class Hops(BaseModel):
    """Pairs of ranks so many hops apart."""

    hops: int
    pairs: int = Field(description="That exchange something.")
    bytes: int = Field(description="What these exchange, both ways.")


class HeatMap(BaseModel):
    """Bytes between hosts, several of them in one cell where there are many."""

    size: int = Field(description="Rows, and columns.")
    block: int = Field(description="Hosts in a row.")
    bytes: list[list[int]]


class Choice(BaseModel):
    """How a collective is done."""

    name: str
    algorithm: str
    words: str = Field(description="The algorithm in a few words.")


class Placement(BaseModel):
    """A trial on its network."""

    trial: int
    value: float | None = Field(description="Simulated seconds.")
    ranks: int
    network: Drawing | None = Field(description="Null where it is too large for a picture.")
    rank_hosts: list[int] = Field(description="The host of each rank.")
    loads: list[tuple[int, int]] | None = Field(
        description="Bytes that each cable of the network carried, each way, if simulated."
    )
    rank_times: list[float | None] = Field(description="When each rank had finished, seconds.")
    hops: list[Hops]
    hop_bytes: int | None = Field(
        description="Bytes x hops over all pairs of ranks; null for a network that is too large."
    )
    traffic: HeatMap
    before: HeatMap = Field(description="The same with the ranks in order (`by-order`).")
    before_hop_bytes: int | None = Field(description="`hop_bytes` with the ranks in order.")
    options: dict[str, str] = Field(description="What SMPI is told.")
    choices: list[Choice]


def placement(storage: StorageView, job_id: str, number: int) -> Placement:
    """Resolve a trial's configuration again and put it beside what was measured.

    Raises:
        NotFound: There is no such job or trial.
        Conflict: The job is not prepared, or the trial's configuration gives no network.
    """
    job = storage.jobs.get(job_id)
    trial = storage.trials.get(job_id, number)
    if job.application_id is None:
        raise Conflict(f"job {job_id} is {job.state}; its application is not captured yet")
    application = storage.applications.get(job.application_id)
    with _ONE_LARGE if application.ranks > MOST_AT_ONCE else nullcontext():
        return _placed(storage, job, trial, application)


def _placed(storage: StorageView, job: Job, trial: Trial, application: Application) -> Placement:
    machine = read_spec(storage, job).described_machine
    if trial.kind == "comparison":
        machine = machine.simulated_by("fluid")
    exchanged = TracesTraffic(traces_of(storage, application))
    configuration = Configuration.from_json(trial.configuration)
    try:
        resolved = resolve(
            configuration,
            machine,
            application.ranks,
            traffic=exchanged,
            # Who only reads must not have networks built that take minutes.
            cache=StoredNetworks(storage.networks, job.project),
        )
    except Infeasible as error:
        raise Conflict(f"trial {trial.number} is on no network: {error}") from None
    except NotFound as error:
        raise Conflict(
            f"trial {trial.number}: {error}; a replay of the trial builds it again"
        ) from None
    traffic = exchanged(chosen_algorithms(configuration))
    places = np.asarray(resolved.rank_hosts)
    in_order = _in_order(resolved)
    hops, hop_bytes = _hops(resolved, places, traffic)
    loads = (trial.result or {}).get("link_loads") or None
    return Placement(
        trial=trial.number,
        value=trial.value,
        ranks=application.ranks,
        network=draw(
            resolved.network,
            resolved.host_names,
            str(configuration.get("topology", "given")),
            resolved.order,
        ),
        rank_hosts=list(resolved.rank_hosts),
        loads=loads if loads is None or len(loads) == len(resolved.edges) else None,
        rank_times=_rank_times(trial),
        hops=hops,
        hop_bytes=hop_bytes,
        traffic=_heat_map(resolved.hosts, places, traffic),
        before=_heat_map(resolved.hosts, in_order, traffic),
        before_hop_bytes=_hops(resolved, in_order, traffic)[1],
        options=dict(resolved.options),
        choices=_choices(configuration),
    )


def _rank_times(trial: Trial) -> list[float | None]:
    times: list[list[float | None]] = (trial.result or {}).get("rank_finish_times") or []
    return [time for application in times for time in application]


def _hops(
    resolved: Resolved, rank_hosts: NDArray[Any], traffic: Traffic
) -> tuple[list[Hops], int | None]:
    """How far apart those are who exchange something; nothing for too large a network."""
    if resolved.network.nodes > MOST_NODES:
        return [], None
    distances = hop_distances(resolved.network.nodes, resolved.edges)
    one, other, size = traffic.pairs
    far = distances[rank_hosts[one], rank_hosts[other]].astype(np.int64)
    counts = np.bincount(far, minlength=1)
    sums = np.zeros(len(counts), dtype=np.int64)
    np.add.at(sums, far, size)
    found = [
        Hops(hops=hop, pairs=int(counts[hop]), bytes=int(sums[hop]))
        for hop in range(len(counts))
        if counts[hop]
    ]
    return found, sum(one.hops * one.bytes for one in found)  # which may be beyond 64 bits


def _in_order(resolved: Resolved) -> NDArray[np.uint32]:
    silent = Traffic.silent(len(resolved.rank_hosts))
    return resolved.where.place_hosts[map_ranks("by-order", silent, resolved.where)]


def _heat_map(hosts: int, rank_hosts: NDArray[Any], traffic: Traffic) -> HeatMap:
    block = -(-hosts // MOST_CELLS)
    size = -(-hosts // block)
    cells: NDArray[np.int64] = np.zeros((size, size), dtype=np.int64)
    place = rank_hosts // block
    one, other, amount = traffic.pairs
    np.add.at(cells, (place[one], place[other]), amount)
    both = cells + cells.T
    np.fill_diagonal(both, cells.diagonal())
    return HeatMap(size=size, block=block, bytes=both.tolist())


def _choices(configuration: Configuration) -> list[Choice]:
    """The collectives that the configuration decides, in words."""
    mpi = str(configuration.get("mpi", DEFAULT))
    whose = "SMPI's own choice" if mpi == DEFAULT else f"what {release(mpi)} chooses by its tables"
    found = []
    for name in ranges_of(configuration):
        known = COLLECTIVES[name].algorithms
        lines = lines_of(configuration, name)
        for line, after in itertools.zip_longest(lines, lines[1:]):
            sizes = range_text(line.bytes, after.bytes if after else None)
            algorithm = known.get(line.algorithm)
            found.append(
                Choice(
                    name=f"{name} {sizes}" if len(lines) > 1 else name,
                    algorithm=line.algorithm,
                    words=whose if algorithm is None else algorithm.description,
                )
            )
    return found
