"""`hamtune topology ...`: families, generating, measuring, converting, drawing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from cli.files import FILE, read_fabric, read_text
from cli.options import example, json_option, print_json, say, seed_option
from searchspace.errors import InvalidInput
from searchspace.formats.fabric import Fabric
from searchspace.formats.matrix_market import read_traffic
from searchspace.formats.network_files import FORMATS, format_of, write_network
from searchspace.options import Option
from searchspace.ordering import ORDERINGS, order
from searchspace.topology import FAMILIES, generate, implied_nodes, options_of
from searchspace.topology.cost import Prices
from searchspace.topology.drawing import LAYOUTS
from searchspace.topology.layout import Floor
from searchspace.topology.report import Depth, report

__all__ = ["COMMANDS"]

OUTPUT = click.Path(dir_okay=False, path_type=Path)
F = TypeVar("F", bound=Callable[..., Any])


def _family_options() -> dict[str, tuple[Option, list[str]]]:
    """The parameters of all families by name, and which families have them."""
    found: dict[str, tuple[Option, list[str]]] = {}
    for name in FAMILIES:
        for option in options_of(name).values():
            found.setdefault(option.name, (option, []))[1].append(name)
    return found


def _with_family_options(function: F) -> F:
    for name, (option, families) in reversed(_family_options().items()):
        whose = "every family but fat-tree and xgft" if len(families) > 9 else ", ".join(families)
        function = click.option(
            f"--{name.replace('_', '-')}",
            name,
            metavar=type(option).__name__.upper(),
            help=f"{option.description[0].upper()}{option.description[1:]} ({whose}).",
        )(function)
    return function


@click.command("families", epilog=example("hamtune topology families --json"))
@json_option
def families(as_json: bool) -> None:
    """List the topology families and their parameters."""
    if as_json:
        print_json(
            [
                {
                    "name": family.name,
                    "description": family.description,
                    "degree": family.uses_degree,
                    "seed": family.uses_seed,
                    "traffic": family.uses_traffic,
                    "indirect": family.indirect,
                    "parameters": [
                        {
                            "name": option.name,
                            "description": option.description,
                            "allowed": option.allowed,
                            "default": option.initial,
                        }
                        for option in options_of(family.name).values()
                    ],
                }
                for family in FAMILIES.values()
            ]
        )
        return
    for family in FAMILIES.values():
        click.echo(f"{family.name:14} {family.description}")
        uses = {
            "degree": family.uses_degree,
            "seed": family.uses_seed,
            "traffic": family.uses_traffic,
        }
        needs = [name for name, used in uses.items() if used]
        shown = [f"--{name.replace('_', '-')}" for name in (*needs, *options_of(family.name))]
        click.echo(f"{'':14} {' '.join(shown)}")


@click.command(
    "generate",
    epilog=example(
        "hamtune topology generate random --nodes 64 --degree 6 --seed 1 -o G.edges",
        "hamtune topology generate torus-3d --dims 4x4x8 -o torus.graphml",
        "hamtune topology generate fat-tree --ports 8 -o tree.edges",
        "hamtune topology generate tailored --degree 4 --traffic W.mtx -o G.edges",
    ),
)
@click.argument("family", type=click.Choice(tuple(FAMILIES)), metavar="FAMILY")
@click.option(
    "--nodes", type=click.IntRange(1), help="Hosts; may be left out where the parameters say it."
)
@click.option("--degree", type=click.IntRange(1), help="Cables of a switch to other switches.")
@seed_option
@click.option(
    "--traffic",
    "traffic_file",
    type=FILE,
    metavar="W.mtx",
    help="Bytes both ways a pair of ranks, for a family made for them ('hamtune trace info "
    "--traffic --collectives' writes such files); rank n is on host n, or ranks in equal blocks.",
)
@_with_family_options
@click.option("-o", "--output", type=OUTPUT, help="File (.edges, .graphml, ...); else stdout.")
@json_option
def generate_topology(
    family: str,
    nodes: int | None,
    degree: int | None,
    seed: int,
    traffic_file: Path | None,
    output: Path | None,
    as_json: bool,
    **given: str | None,
) -> None:
    """Generate a network as an edge list: one 'u v' a line, hosts from 0, then switches.

    'hamtune topology families' lists the families and which parameters each one has.
    """
    options = {name: value for name, value in given.items() if value is not None}
    traffic = None if traffic_file is None else read_traffic(read_text(traffic_file), notice=say)
    if traffic is not None and not FAMILIES[family].uses_traffic:
        raise InvalidInput(f"{family} networks are not made for traffic", field="traffic")
    if traffic is None and FAMILIES[family].uses_traffic:
        raise InvalidInput(f"{family} networks are made for traffic; give --traffic W.mtx")
    if traffic is not None and traffic.total == 0:
        say("nobody exchanges anything: the network suits all pairs alike")
    if nodes is None and traffic is not None:
        nodes = traffic.ranks
    if nodes is None:
        nodes = implied_nodes(family, **options)
    if nodes is None:
        raise click.UsageError("Missing option '--nodes'")
    graph = generate(family, nodes, degree=degree, seed=seed, traffic=traffic, **options)
    fabric = Fabric(graph)
    if output is not None:
        known = any(output.name.endswith(entry.endings) for entry in FORMATS.values())
        text = write_network(fabric, str(output), format_name=None if known else "edges")
        output.write_text(text, encoding="utf-8")
    if as_json:
        switches = {"switches": graph.switches} if graph.switches else {}
        edges = [list(edge) for edge in graph.edges]
        print_json({"nodes": graph.hosts, **switches, "edges": edges})
    elif output is None:
        click.echo(write_network(fabric, "-", format_name="edges"), nl=False)


@click.command(
    "metrics",
    epilog=example(
        "hamtune topology metrics G.edges --json",
        "hamtune topology metrics fabric.txt --full --rack-nodes 8 --prices port=200",
    ),
)
@click.argument("graph_file", metavar="G.edges", type=FILE)
@click.option(
    "--quick", "depth", flag_value="quick", help="Leave out girth, bisection and connectivity."
)
@click.option(
    "--full", "depth", flag_value="full", help="Leave nothing out, however long it takes."
)
@click.option("--rack-nodes", type=click.IntRange(1), default=16, show_default=True)
@click.option("--rack-width", type=click.FloatRange(0), default=0.6, show_default=True, help="m")
@click.option(
    "--rack-depth", type=click.FloatRange(0), default=2.1, show_default=True, help="m, with aisle"
)
@click.option("--prices", default="", help="Prices such as port=200,optical=150 (see the manual).")
@seed_option
@json_option
def metrics(
    graph_file: Path,
    depth: Depth | None,
    rack_nodes: int,
    rack_width: float,
    rack_depth: float,
    prices: str,
    seed: int,
    as_json: bool,
) -> None:
    """Measure a network in any format: distances, bounds, bisection, connectivity, cables, cost.

    ASPL is the mean shortest path length over all pairs of distinct hosts. The bisection width is
    the narrowest split found: an upper bound, unless it equals the lower bound beside it. The cost
    counts ports of switches at one price; that of a job ('hamtune front') is of whole switches, as
    machine.parts lists them, so it differs.
    """
    found = report(
        read_fabric(graph_file).graph,
        depth=depth or "normal",
        floor=Floor(rack_nodes=rack_nodes, width=rack_width, depth=rack_depth),
        prices=Prices.read(prices),
        seed=seed,
    )
    if as_json:
        print_json(found)
        return
    notes = found.pop("notes")
    for name, value in found.items():
        click.echo(f"{name.replace('_', ' '):21} {_shown(value)}")
    for note in notes:
        say(note)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name.replace('_', ' ')} {_shown(item)}" for name, item in value.items())
    if isinstance(value, float):
        return f"{value:.6g}"
    return "-" if value is None else str(value).lower()


@click.command(
    "convert",
    epilog=example(
        "hamtune topology convert fabric.txt -o fabric.graphml",
        "hamtune topology convert topology.conf --to json -o topology.json",
    ),
)
@click.argument("source", metavar="IN", type=FILE)
@click.option("-o", "--output", type=OUTPUT, help="File; else stdout.")
@click.option("--from", "source_format", type=click.Choice(tuple(FORMATS)), help="Format of IN.")
@click.option(
    "--to",
    "target_format",
    type=click.Choice(tuple(name for name, entry in FORMATS.items() if entry.write)),
    help="Format to write; else by the name of the file.",
)
def convert(
    source: Path, output: Path | None, source_format: str | None, target_format: str | None
) -> None:
    """Convert a network: edge lists, GraphML, METIS, Graph Golf, JSON of a machine, SimGrid.

    Also reads the output of ibnetdiscover, Slurm's topology.conf, and hwloc's XML; the format is
    told by what is in the file. SimGrid platforms are written with hosts of 100 Gf, cables of 40
    Gbps and switches of 60 ns.
    """
    fabric = read_fabric(source, source_format)
    if output is None and target_format is None:
        raise click.UsageError("give --output FILE or --to FORMAT")
    name = str(output) if output is not None else "-"
    text = write_network(fabric, name, format_name=target_format or format_of(name))
    if output is None:
        click.echo(text, nl=False)
        return
    output.write_text(text, encoding="utf-8")
    graph = fabric.graph
    switches = f" on {graph.switches} switches" if graph.switches else ""
    say(f"{output}: {graph.hosts} hosts{switches}, {len(graph.edges)} edges")


@click.command(
    "draw",
    epilog=example(
        "hamtune topology draw G.edges -o G.svg --layout symmetric",
        "hamtune topology draw G.edges -o hops.png --what distances",
        "hamtune topology draw G.edges -o matrix.png --what adjacency --order rcm",
    ),
)
@click.argument("graph_file", metavar="G.edges", type=FILE)
@click.option("-o", "--output", type=OUTPUT, required=True, help="A .svg or .png file.")
@click.option(
    "--what",
    type=click.Choice(("network", "distances", "adjacency")),
    default="network",
    show_default=True,
    help="The network, how many pairs are how far apart, or its adjacency matrix.",
)
@click.option(
    "--layout", type=click.Choice(tuple(LAYOUTS)), default="ring", show_default=True, help="Places."
)
@click.option(
    "--order", "method", type=click.Choice(tuple(ORDERINGS)), help="Order the nodes before drawing."
)
@click.option("--title", default="", help="Text above the picture.")
@seed_option
def draw(
    graph_file: Path,
    output: Path,
    what: str,
    layout: str,
    method: str | None,
    title: str,
    seed: int,
) -> None:
    """Draw a network, its hop distances, or its adjacency before and after an ordering."""
    kind = output.suffix.lower()
    if kind not in (".svg", ".png"):
        raise click.UsageError(f"--output {output}: pictures are .svg or .png files")
    # Loaded where it is used: it takes longer than most commands run.
    from cli.figures import render
    from cli.network_figures import adjacency_figure, distance_figure, network_figure

    graph = read_fabric(graph_file).graph
    ordered = graph
    if method is not None:
        if graph.switches:
            raise InvalidInput("only networks whose hosts are their switches can be ordered here")
        ordered = graph.relabel(order(method, graph, seed=seed))
    if what == "distances":
        figure = distance_figure(graph, title=title)
    elif what == "adjacency":
        both = {title or "original": graph} | ({method: ordered} if method is not None else {})
        figure = adjacency_figure(both)
    else:
        figure = network_figure(ordered, layout, seed=seed, title=title)
    output.write_bytes(render(figure, "svg" if kind == ".svg" else "png"))


COMMANDS = [families, generate_topology, metrics, convert, draw]
