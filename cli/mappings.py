"""`hamtune map`: place ranks on a machine."""

from __future__ import annotations

import dataclasses
import math
import os
import time
from pathlib import Path
from typing import Any

import click
import numpy as np

from cli.files import FILE, read_graph, read_json, read_text
from cli.interrupts import interruptible
from cli.mapping_objectives import OBJECTIVES, read_weights, with_objective
from cli.mapping_pictures import check_picture, draw_mappings, picture_option
from cli.options import example, json_option, method_options, print_json, say, seed_option
from cli.refine import refine
from searchspace.configuration import Scalar
from searchspace.errors import InvalidInput
from searchspace.formats.hop_machine import read_hop_machine
from searchspace.formats.matrix_market import read_traffic
from searchspace.hop_machine import HopMachine
from searchspace.mapping import MAPPERS, Mapper, Places
from searchspace.mapping.metrics import metrics_of
from searchspace.mapping.weighted import Weights
from searchspace.traffic import Traffic

__all__ = ["COMMANDS"]

_METHODS = "\n".join(
    f"{mapper.name:21} {mapper.description}"
    + "".join(f"\n{'':23}-O {o.name}={o.initial}: {o.description}" for o in mapper.options)
    for mapper in MAPPERS.values()
)

_BETWEEN_LINES = 1.0
_MOST_THREADS = 16  # each has an assignment of its own, and gains less than the one before
"""CPU seconds between two lines of progress."""


class _MapCommand(click.Command):
    """`hamtune map METHOD ...`, and `hamtune map refine ...`, which has options of its own."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        if args[:1] == [refine.name]:
            return refine.make_context(f"{info_name} {refine.name}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@click.command(
    "map",
    cls=_MapCommand,
    help=f"""Place ranks on the hosts of a machine and judge the mapping in hops.

Prints the host of rank 0, 1, ..., the hop-bytes (sum over pairs of bytes x hops), the dilation
(longest path of a pair that communicates) and the congestion (bytes on the busiest cable). Where
hosts have a tree inside, hops within them count too, and --json adds the core of each rank in its
host.

'hamtune map refine --help' tells how a mapping is refined by simulated time.

\b
{_METHODS}
""",
    epilog=example(
        "hamtune map treematch --traffic W.mtx --machine M.json --json",
        "hamtune map scotch --traffic W.mtx --machine M.json --seed 7 --picture W.svg",
        "hamtune map refine --application cg.A.64 --machine machine.yaml --evaluations 300",
    ),
)
@click.argument("method", type=click.Choice(tuple(MAPPERS)), metavar="METHOD")
@click.option(
    "--traffic",
    type=FILE,
    required=True,
    help="Bytes both ways a pair of ranks: MatrixMarket (hamtune trace info --traffic), or rows of "
    "numbers.",
)
@click.option(
    "--machine",
    "machine_file",
    type=FILE,
    required=True,
    help='JSON file: {"type": "tree", "arity": [4, 2]}, {"type": "torus", "dims": [8, 8]}, '
    '"mesh", {"type": "dragonfly", "groups": 4, "routers": 3, "nodes": 2}, '
    '{"type": "graph", "edges": "G.edges"}; optional "cores_per_host": 4 or a list, "inside": '
    '[2, 2] or "host.xml" (hwloc), "allocated": [0, 3].',
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    help="CPU seconds a thread for a mapper that improves its result step by step; others just "
    "finish. Ctrl-C ends it earlier, with the best mapping so far.",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    help="Threads of such a mapper: with --seconds as many as there are cores, up to 16, else 1. "
    "With -O steps=N, seed and threads decide its result.",
)
@click.option(
    "--objective",
    type=click.Choice(OBJECTIVES),
    help="What auto lowers: hop-bytes, unless this or --weights says otherwise; 'weighted' is the "
    "sum of all three by --weights.",
)
@click.option(
    "--weights",
    metavar="H,D,C",
    callback=read_weights,
    help="Weights of hop-bytes, dilation and congestion, each as a multiple of what it is with "
    "ranks in order; adds their sum for any METHOD, which auto lowers.",
)
@picture_option
@method_options
@seed_option
@json_option
def map_command(
    method: str,
    traffic: Path,
    machine_file: Path,
    seconds: float | None,
    objective: str | None,
    weights: Weights | None,
    threads: int | None,
    picture: Path | None,
    options: dict[str, Scalar],
    seed: int,
    as_json: bool,
) -> None:
    check_picture(picture)
    method, options = with_objective(method, objective, weights, options)
    if seconds is not None and not math.isfinite(seconds):
        raise click.UsageError(f"--seconds {seconds}: must be a number of seconds")
    exchanged = read_traffic(read_text(traffic), notice=say)
    machine = _read_machine(machine_file)
    mapper = MAPPERS[method]
    options = _with_effort(mapper, options, seconds, threads)
    begin = time.perf_counter()
    places = _place(mapper, exchanged, machine, seed, options)
    took = time.perf_counter() - begin
    metrics = metrics_of(exchanged, machine, places)
    if picture is not None:
        in_order = np.arange(exchanged.ranks, dtype=np.uint32)
        draw_mappings(picture, exchanged, machine, ("ranks in order", in_order), (method, places))
    hosts = machine.place_hosts[places].tolist()
    if as_json:
        answer: dict[str, Any] = {"mapping": hosts}
        if machine.inside:
            answer["cores"] = machine.place_cores[places].tolist()
        answer |= dataclasses.asdict(metrics)
        if weights is not None:
            answer["weighted"] = weights.of(metrics, exchanged, machine)
        print_json({**answer, "seconds": took})
        return
    click.echo(" ".join(map(str, hosts)))
    click.echo(
        f"hop-bytes {metrics.hop_bytes}, dilation {metrics.dilation}, "
        f"congestion {metrics.congestion}"
    )
    if weights is not None:
        click.echo(f"weighted sum {weights.of(metrics, exchanged, machine):.4g}")


def _with_effort(
    mapper: Mapper, options: dict[str, Scalar], seconds: float | None, threads: int | None
) -> dict[str, Scalar]:
    """The options of a mapper with the time and threads that it may take, where it knows them."""
    if threads is None and seconds and "steps" not in options:
        threads = min(len(os.sched_getaffinity(0)), _MOST_THREADS)
    given = {"seconds": seconds, "threads": threads}
    known = {option.name for option in mapper.options}
    effort = {name: value for name, value in given.items() if value is not None and name in known}
    return {**effort, **options}


def _place(
    mapper: Mapper, traffic: Traffic, machine: HopMachine, seed: int, options: dict[str, Scalar]
) -> Places:
    if not mapper.anytime:
        return mapper.place(traffic, machine, seed=seed, **options)
    shown = -_BETWEEN_LINES
    with interruptible() as interrupted:

        def proceed(seconds: float, hop_bytes: int) -> bool:
            nonlocal shown
            if seconds - shown >= _BETWEEN_LINES:
                shown = seconds
                say(f"{seconds:6.1f} s  hop-bytes {hop_bytes}")
            return not interrupted.is_set()

        places = mapper.place(traffic, machine, proceed, seed=seed, **options)
        if interrupted.is_set():
            say("interrupted; this is the best mapping so far")
        return places


def _read_machine(path: Path) -> HopMachine:
    try:
        return read_hop_machine(
            read_json(path),
            read_graph=lambda name: read_graph(path.parent / name),
            read_text=lambda name: read_text(path.parent / name),
        )
    except FileNotFoundError as error:
        raise InvalidInput(f"{path}: there is no file {error.filename}") from error


COMMANDS = [map_command]
