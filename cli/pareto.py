"""`hamtune topology pareto`: the networks that no other beats in ASPL, width and cable length."""

from __future__ import annotations

import csv
import json
import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from cli.files import read_json
from cli.interrupts import interruptible
from cli.options import example, json_option, print_json, say, seed_option
from cli.output_files import check_writable
from cli.search_options import iterations_option, resume_option, seconds_option
from searchspace.errors import InvalidInput
from searchspace.formats.edge_list import write_edge_list
from searchspace.graph import Graph
from searchspace.topology.layout import Floor
from searchspace.topology.optimise.pareto import (
    Compromise,
    ParetoSearch,
    check_problem,
    front_table,
)

__all__ = ["pareto"]

_STATE_FORMAT = 1
_LAYOUTS = ("floor", "line", "ring")
_ARGUMENTS = ("nodes", "degree", "layout", "rack_nodes", "seed")
_COLUMNS = (
    *("file", "aspl", "diameter", "bisection_width", "cable_length"),
    *("weight_aspl", "weight_bisection", "weight_length"),
)


@click.command(
    epilog=example(
        "hamtune topology pareto --nodes 64 --degree 4 --seconds 30 -o front/",
        "hamtune topology pareto --nodes 64 --degree 6 --layout line --seconds 60 --json -o front/",
        "hamtune topology pareto --resume front/state.json --seconds 60 -o front/",
    )
)
@click.option("--nodes", type=click.IntRange(2), help="Hosts of the networks.")
@click.option("--degree", type=click.IntRange(1), help="Cables a host.")
@click.option(
    "--layout",
    type=click.Choice(_LAYOUTS),
    default="floor",
    show_default=True,
    help="Where hosts stand: in racks on a floor (metres), or one apart in a line or a ring.",
)
@click.option("--rack-nodes", type=click.IntRange(1), default=16, show_default=True)
@seconds_option("CPU seconds")
@iterations_option("Exchanges to propose,")
@seed_option
@resume_option("--seconds, --iterations, -o and --json")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    metavar="DIR",
    help="pareto.csv, pareto.svg, the edges of each network (01.edges, ...) and state.json.",
)
@json_option
@click.pass_context
def pareto(
    context: click.Context,
    /,
    *,
    seconds: float,
    iterations: int | None,
    resume_file: Path | None,
    output: Path,
    as_json: bool,
    **given: Any,
) -> None:
    """Look for compromises: networks that none beats in ASPL, bisection width and cable length.

    Progress goes to stderr. Ctrl-C ends the search and writes what was found; --resume goes on.
    """
    if not math.isfinite(seconds) or seconds <= 0:
        raise InvalidInput("--seconds must be a number above 0")
    if resume_file is not None:
        _refuse_beside_resume(context)
        arguments, saved = _read_state(resume_file)
    else:
        arguments, saved = given, None
    search = _begun(arguments, saved)
    _make(output)
    limit = math.inf if iterations is None else search.moves + iterations
    interrupted = _drive(search, seconds if iterations is None else math.inf, limit)
    archive = search.archive
    # First the state: where the networks cannot be written any more, the search is not lost.
    state = {"format": _STATE_FORMAT, "arguments": arguments, "search": search.state()}
    (output / "state.json").write_text(json.dumps(state, allow_nan=False) + "\n")
    names = _write_files(output, archive)
    if as_json:
        points = front_table(archive)
        print_json(
            {
                **arguments,
                "annealings": search.runs,
                "moves": search.moves,
                "interrupted": interrupted,
                "points": [
                    {"file": name, **point} for name, point in zip(names, points, strict=True)
                ],
            }
        )
        return
    click.echo(f"{'file':10}{'ASPL':>9}{'diameter':>10}{'width':>7}{'cables':>11}")
    for name, found in zip(names, archive, strict=True):
        click.echo(
            f"{name:10}{found.aspl:9.4f}{found.diameter:10}{found.bisection_width:7}"
            f"{found.cable_length:11.1f}"
        )


def _begun(arguments: Mapping[str, Any], saved: Mapping[str, Any] | None) -> ParetoSearch:
    """The search for these networks, from the start or from where it was saved.

    Raises:
        InvalidInput: There are no such networks.
    """
    nodes, degree = arguments["nodes"], arguments["degree"]
    if nodes is None or degree is None:
        raise InvalidInput("--nodes and --degree are needed, or --resume")
    check_problem(nodes, degree)
    lengths = cable_lengths(nodes, arguments["layout"], arguments["rack_nodes"])
    return ParetoSearch(nodes, degree, lengths, seed=arguments["seed"], state=saved)


def _make(output: Path) -> None:
    """Make the directory of the output, before the search whose outcome it is to hold.

    Raises:
        InvalidInput: It cannot be made, or nothing can be written to it.
    """
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"--output {output}: cannot be made: {error.strerror}") from None
    check_writable(output / "state.json", "--output")


def cable_lengths(nodes: int, layout: str, rack_nodes: int) -> NDArray[np.float64]:
    """The length of a cable between any two hosts, shape (nodes, nodes)."""
    places = np.arange(nodes, dtype=np.float64)
    apart: NDArray[np.float64] = np.abs(places[:, None] - places[None, :])
    if layout == "line":
        return apart
    if layout == "ring":
        around: NDArray[np.float64] = np.minimum(apart, nodes - apart)
        return around
    everyone = Graph(nodes, tuple((u, v) for u in range(nodes) for v in range(u + 1, nodes)))
    lengths = np.zeros((nodes, nodes))
    lengths[np.triu_indices(nodes, 1)] = Floor(rack_nodes).lengths(everyone)
    return lengths + lengths.T


def _drive(search: ParetoSearch, seconds: float, moves: float) -> bool:
    """Steps until a limit is reached; returns whether it was interrupted."""
    begin = time.process_time()
    shown = 0.0
    with interruptible() as interrupted:
        while search.moves < moves and not interrupted.is_set():
            spent = time.process_time() - begin
            if spent >= seconds:
                break
            if spent - shown >= 1.0:
                shown = spent
                archive = search.archive
                say(
                    f"{spent:6.1f} s  {len(archive)} networks after {search.runs} annealings: "
                    f"ASPL from {archive[0].aspl:.4f}, width to "
                    f"{max(found.bisection_width for found in archive)}, cables from "
                    f"{min(found.cable_length for found in archive):.1f}"
                )
            search.step()
        return interrupted.is_set()


def _write_files(output: Path, archive: Sequence[Compromise]) -> list[str]:
    """Writes table, picture and networks; returns the names of the networks' files."""
    # Loaded where it is used: it takes longer than most commands run.
    from cli.figures import render
    from cli.network_figures import compromise_figure

    for old in output.glob("[0-9]*.edges"):
        old.unlink()
    names = [f"{number:02}.edges" for number in range(1, len(archive) + 1)]
    with (output / "pareto.csv").open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(_COLUMNS)
        for name, found in zip(names, archive, strict=True):
            (output / name).write_text(write_edge_list(found.graph))
            figures = (found.aspl, found.diameter, found.bisection_width, found.cable_length)
            table.writerow((name, *figures, *found.weights))
    (output / "pareto.svg").write_bytes(render(compromise_figure(archive), "svg"))
    return names


def _refuse_beside_resume(context: click.Context) -> None:
    for name in _ARGUMENTS:
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = name.replace("_", "-")
            raise InvalidInput(f"--{option} cannot be changed when a search is resumed")


def _read_state(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    document = read_json(path)
    try:
        if document["format"] != _STATE_FORMAT:
            raise KeyError("format")
        arguments = {name: document["arguments"][name] for name in _ARGUMENTS}
        saved = document["search"]
        if arguments["layout"] not in _LAYOUTS or not {"run", "done", "archive"} <= saved.keys():
            raise KeyError("search")
        return arguments, saved
    except (KeyError, TypeError, AttributeError):
        raise InvalidInput(
            f"{path}: not the state of a search for compromises; topology pareto writes such files"
        ) from None
