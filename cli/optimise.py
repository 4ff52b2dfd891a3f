"""`hamtune topology optimize`: look for the best network of a size."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any, get_args

import click
import numpy as np

from cli.files import FILE, read_graph, read_json, read_text
from cli.interrupts import interruptible
from cli.options import example, json_option, print_json, say, seed_option
from cli.output_files import check_writable, say_replaced
from cli.search_options import iterations_option, resume_option, seconds_option
from searchspace.errors import HamtuneError, InvalidInput
from searchspace.formats.edge_list import write_edge_list
from searchspace.formats.matrix_market import read_traffic
from searchspace.graph import Graph
from searchspace.hop_machine import HopMachine, Network
from searchspace.mapping.metrics import metrics_of
from searchspace.topology.bisection import bisection_width
from searchspace.topology.metrics import measure
from searchspace.topology.optimise import OPTIMISERS, begin
from searchspace.topology.optimise.search import Objective, Point, Problem, Ring, Search
from searchspace.traffic import Traffic

__all__ = ["optimize"]

_OUTPUT = click.Path(dir_okay=False, path_type=Path)
_STATE_FORMAT = 1
_CLOSE_VERIFIERS = ("local-search", "metis")  # the thorough KaHIP takes ten seconds


@click.command(
    epilog=example(
        "hamtune topology optimize --nodes 256 --degree 4 --seconds 60 --json -o G.edges",
        "hamtune topology optimize --nodes 32 --degree 3 --ring keep --symmetry 4 -o G.edges",
        "hamtune topology optimize --nodes 32 --degree 3 --method exhaustive --girth 7 -o G.edges",
        "hamtune topology optimize --degree 4 --traffic W.mtx --seconds 10 -o G.edges",
    )
)
@click.option("--nodes", type=click.IntRange(2), help="Hosts of the network.")
@click.option("--degree", type=click.IntRange(1), help="Cables a host.")
@click.option(
    "--objective",
    type=click.Choice(get_args(Objective)),
    help="Least mean distance, greatest bisection width, or least hops and busy cables of "
    "--traffic; aspl if neither is given.",
)
@click.option(
    "--traffic",
    "traffic_file",
    type=FILE,
    metavar="W.mtx",
    help="Make the network for these bytes both ways a pair of ranks ('hamtune trace info "
    "--traffic --collectives' writes such files); rank n is on host n, or ranks in equal blocks.",
)
@click.option(
    "--method",
    type=click.Choice(tuple(OPTIMISERS)),
    help="; ".join(f"{name}: {optimiser.description}" for name, optimiser in OPTIMISERS.items())
    + ". By default the first that has the objective.",
)
@click.option(
    "--symmetry",
    type=click.IntRange(1),
    metavar="K",
    help="Turning the ring of hosts by a K-th part maps the network onto itself; 1: no symmetry. "
    "By default several compete; with --traffic there is none.",
)
@click.option(
    "--ring",
    type=click.Choice(get_args(Ring)),
    default="free",
    show_default=True,
    help="keep: hosts 0, 1, 2, ... stay joined in a ring (Deng's Hamiltonian ring).",
)
@click.option("--diameter-first", is_flag=True, help="A smaller diameter counts more than ASPL.")
@click.option("--start", "start_file", metavar="G.edges", type=FILE, help="Begin here.")
@click.option("--threads", type=click.IntRange(1, 256), default=1, show_default=True)
@click.option(
    "--patience",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    metavar="I",
    help="Moves without success after which 2opt stops (Hu's I).",
)
@click.option(
    "--girth",
    type=click.IntRange(3),
    metavar="G",
    help="List only networks without a cycle shorter than this (exhaustive; 3 if not given).",
)
@seconds_option("CPU seconds of this process, a thread", ", the moves up to there do not")
@iterations_option("Moves proposed by each thread")
@seed_option
@resume_option("--seconds, -o, --state and --json")
@click.option(
    "--state",
    "state_file",
    metavar="STATE",
    type=_OUTPUT,
    help="Where to write the state of the search [default: the output file with .state.json].",
)
@click.option("-o", "--output", type=_OUTPUT, required=True, help="The edges of the best network.")
@json_option
@click.pass_context
def optimize(
    context: click.Context,
    /,
    *,
    method: str | None,
    start_file: Path | None,
    traffic_file: Path | None,
    resume_file: Path | None,
    state_file: Path | None,
    output: Path,
    as_json: bool,
    **options: Any,
) -> None:
    """Look for the best network of --nodes hosts with --degree cables each.

    Progress goes to stderr: the best so far and its gap to the lower bound. Ctrl-C ends the search,
    writes the best network so far and a state from which --resume goes on.
    """
    if not math.isfinite(options["seconds"]) or options["seconds"] <= 0:
        raise InvalidInput("--seconds must be a number above 0")
    if resume_file is not None:
        _refuse_beside_resume(context)
        method, problem, saved = _read_state(resume_file)
        search = _resumed(resume_file, method, problem, saved["search"])
        spent = saved["seconds"]
    else:
        problem = _problem(start_file, traffic_file, options)
        if method is None:
            method = next(
                name
                for name, optimiser in OPTIMISERS.items()
                if problem.objective in optimiser.objectives
            )
        search = begin(method, problem)
        spent = 0.0
    check_writable(output, "--output")
    if state_file is not None:
        check_writable(state_file, "--state")
    bounded = problem.iterations is None or resume_file is not None
    budget = options["seconds"] if bounded else math.inf
    seconds, interrupted = _drive(search, problem, budget)
    wanted = state_file or (_beside(output) if interrupted else None)
    state = _state_text(method, problem, search, spent + seconds)
    _write(output, write_edge_list(search.best.graph), wanted, state, resume_file)
    document = _document(search, problem, method, spent + seconds, interrupted)
    if as_json:
        print_json(document)
    else:
        click.echo(_summary(document))


def _write(
    output: Path, edges: str, state_file: Path | None, state: str, resume_file: Path | None
) -> None:
    """Write the network, and the state where that is wanted; neither is lost for the other.

    Raises:
        HamtuneError: One cannot be written; the state is elsewhere then, the network on stdout.
    """
    failed = []
    # First the state: where the network cannot be written any more, the search is not lost.
    if state_file is not None:
        was_other = state_file.is_file() and state_file != resume_file
        kept = _kept_state(state_file, state)
        if kept != state_file:
            failed.append(f"{state_file} cannot be written")
        elif was_other:
            say_replaced([kept])
    try:
        _replace(output, edges)
    except OSError as error:
        failed.append(f"{output}: {error.strerror}; its edges are on stdout")
        click.echo(edges, nl=False)
        if state_file is None:
            _kept_state(_beside(output), state)
    if failed:
        raise HamtuneError("; ".join(failed))


def _beside(output: Path) -> Path:
    """Where the state of a search is by default; nothing is made beside a device."""
    place = output
    if output.exists() and not output.is_file():
        place = Path(tempfile.gettempdir()) / output.name
    return place.with_suffix(".state.json")


def _kept_state(path: Path, state: str) -> Path | None:
    """Write the state of a search to a file, or else to one for temporary files; where it is."""
    elsewhere = Path(tempfile.gettempdir()) / f"{path.stem}-{os.getpid()}.json"
    for target in (path, elsewhere):
        try:
            _replace(target, state)
        except OSError:
            continue
        say(f"state in {target}; go on with --resume {target}")
        return target
    return None


def _replace(path: Path, text: str) -> None:
    """Write a file whole, or leave what was there as it was."""
    target = path.resolve()
    is_special = target.exists() and not target.is_file()
    if is_special or not os.access(target.parent, os.W_OK):
        target.write_text(text)
        return
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        draft.write_text(text)
        if target.exists():
            shutil.copymode(target, draft)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def _problem(
    start_file: Path | None, traffic_file: Path | None, options: dict[str, Any]
) -> Problem:
    start = None if start_file is None else read_graph(start_file)
    traffic = None
    if traffic_file is not None:
        traffic = read_traffic(read_text(traffic_file), notice=say)
        if traffic.total == 0:
            say("nobody exchanges anything: the network suits all pairs alike")
    nodes, degree = options["nodes"], options["degree"]
    objective = options["objective"] or ("aspl" if traffic is None else "traffic")
    if (objective == "traffic") != (traffic is not None):
        raise InvalidInput("--objective traffic and --traffic W.mtx belong together")
    if start is not None:
        if nodes not in (None, start.nodes):
            raise InvalidInput(f"--start has {start.nodes} nodes, not {nodes}")
        if not start.connected:
            raise InvalidInput("the network to start from is not connected")
        if degree not in (None, max(start.degrees)):
            raise InvalidInput(f"--start has degree {max(start.degrees)}, not {degree}")
        nodes, degree = start.nodes, max(start.degrees)
    if nodes is None and traffic is not None:
        nodes = traffic.ranks
    if nodes is None or degree is None:
        raise InvalidInput("--nodes and --degree are needed, or --start, or --resume")
    found = {"nodes": nodes, "degree": degree, "objective": objective}
    return Problem(**options | found, start=start, traffic=traffic)


def _resumed(path: Path, method: str, problem: Problem, state: dict[str, Any]) -> Search:
    try:
        return OPTIMISERS[method].resume(problem, state)
    except (KeyError, TypeError, ValueError):
        raise InvalidInput(
            f"{path}: method {method} cannot go on from this state, since another version of "
            "Hamtune wrote it or it was edited; begin a new search"
        ) from None


def _refuse_beside_resume(context: click.Context) -> None:
    allowed = {"resume_file", "seconds", "output", "state_file", "as_json"}
    for name in context.params:
        given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if given and name not in allowed:
            option = name.removesuffix("_file").replace("_", "-")
            raise InvalidInput(f"--{option} cannot be changed when a search is resumed")


def _drive(search: Search, problem: Problem, budget: float) -> tuple[float, bool]:
    """Steps until the search or the budget ends; returns CPU seconds a thread, if interrupted."""
    begin = time.process_time()
    shown, told = 0.0, ""
    seconds = 0.0
    with interruptible() as interrupted:
        while not search.finished and seconds < budget and not interrupted.is_set():
            search.step()
            seconds = (time.process_time() - begin) / problem.threads
            if seconds - shown >= 1.0 and told != (told := _progress(search, problem)):
                shown = seconds
                say(f"{seconds:6.1f} s  {told}")
        return seconds, interrupted.is_set()


def _progress(search: Search, problem: Problem) -> str:
    best = search.best
    parts = []
    if best.aspl is not None:
        gap = best.aspl / problem.aspl_lower_bound - 1
        parts.append(f"ASPL {best.aspl:.6f} ({100 * gap:.3f}% above the bound)")
    if best.diameter is not None:
        parts.append(f"diameter {best.diameter}")
    if best.bisection_width is not None:
        parts.append(f"bisection width about {best.bisection_width}")
    if best.symmetry > 1:
        parts.append(f"symmetry {best.symmetry}")
    if best.note:
        parts.append(best.note)
    return ", ".join(parts)


def _measured(point: Point, problem: Problem) -> dict[str, Any]:
    """All figures of a network, measured anew.

    Where the width was searched for, it is looked at as closely as a second or two allow, so that
    it holds when others look.
    """
    metrics = measure(point.graph)
    bisection = bisection_width(point.graph, seed=problem.seed)
    if problem.objective == "bisection":
        closer = bisection_width(
            point.graph, seed=problem.seed + 1, effort="thorough", verifiers=_CLOSE_VERIFIERS
        )
        bisection = min(bisection, closer, key=lambda found: found.width)
    return {
        "diameter": metrics.diameter,
        "diameter_lower_bound": metrics.diameter_lower_bound,
        "aspl": metrics.aspl,
        "aspl_lower_bound": metrics.aspl_lower_bound,
        "bisection_width": min(bisection.width, point.bisection_width or bisection.width),
        "bisection_lower_bound": bisection.lower_bound,
        "bisection_verifier": bisection.verifier,
    }


def _document(
    search: Search, problem: Problem, method: str, seconds: float, interrupted: bool
) -> dict[str, Any]:
    document = {
        "nodes": problem.nodes,
        "degree": problem.degree,
        **_measured(search.best, problem),
        "objective": problem.objective,
        "method": method,
        "symmetry": search.best.symmetry,
        "ring": problem.ring,
        "seed": problem.seed,
        "threads": problem.threads,
        "moves": search.moves,
        "seconds": seconds,
        "finished": search.finished,
        "interrupted": interrupted,
    }
    if problem.traffic is not None:
        document["traffic"] = _carried(search.best.graph, problem.traffic)
    return document


def _carried(graph: Graph, traffic: Traffic) -> dict[str, Any]:
    """What the network makes of the traffic of ranks that are on its hosts in order."""
    exchanged = traffic.on_hosts(graph.hosts)
    metrics = metrics_of(
        exchanged, HopMachine.uniform(Network(graph), 1), np.arange(graph.hosts, dtype=np.uint32)
    )
    mean = metrics.hop_bytes / exchanged.total if exchanged.total else 0.0
    return {**dataclasses.asdict(metrics), "hops_of_a_byte": mean}


def _summary(document: dict[str, Any]) -> str:
    gap = 100 * (document["aspl"] / document["aspl_lower_bound"] - 1)
    lines = [
        f"ASPL {document['aspl']:.6f}, {gap:.3f}% above the bound; "
        f"diameter {document['diameter']} (bound {document['diameter_lower_bound']})",
        f"bisection width at most {document['bisection_width']}, "
        f"at least {document['bisection_lower_bound']}",
        f"{document['moves']} networks evaluated in {document['seconds']:.1f} CPU s a thread",
    ]
    if "traffic" in document:
        carried = document["traffic"]
        lines.insert(
            0,
            f"{carried['hops_of_a_byte']:.4f} hops a byte: hop-bytes {carried['hop_bytes']}, "
            f"dilation {carried['dilation']}, congestion {carried['congestion']}",
        )
    return "\n".join(lines)


def _state_text(method: str, problem: Problem, search: Search, seconds: float) -> str:
    fields = {
        field.name: getattr(problem, field.name)
        for field in dataclasses.fields(problem)
        if field.name not in ("start", "traffic")
    }
    start = None if problem.start is None else [list(edge) for edge in problem.start.edges]
    document = {
        "format": _STATE_FORMAT,
        "method": method,
        "problem": fields | {"start": start, "traffic": _written(problem.traffic)},
        "seconds": seconds,
        "search": search.state(),
    }
    return json.dumps(document, allow_nan=False) + "\n"


def _written(traffic: Traffic | None) -> dict[str, Any] | None:
    if traffic is None:
        return None
    return {"ranks": traffic.ranks, "pairs": [values.tolist() for values in traffic.pairs]}


def _read_state(path: Path) -> tuple[str, Problem, dict[str, Any]]:
    document = read_json(path)
    try:
        if document["format"] != _STATE_FORMAT:
            raise KeyError("format")
        fields = document["problem"]
        start = fields.pop("start")
        if start is not None:
            start = Graph.from_edges(fields["nodes"], start)
        # States of searches for other objectives may be older than traffic.
        exchanged = fields.pop("traffic", None)
        if exchanged is not None:
            exchanged = Traffic.from_pairs(exchanged["ranks"], *exchanged["pairs"])
        problem = Problem(**fields, start=start, traffic=exchanged)
        if document["method"] not in OPTIMISERS:
            raise KeyError("method")
        return document["method"], problem, document
    except (KeyError, TypeError, AttributeError):
        raise InvalidInput(
            f"{path}: not the state of a search; --state and Ctrl-C write such files"
        ) from None
