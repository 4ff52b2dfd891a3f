"""Networks: generate and measure topologies, order nodes, map ranks."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path
from typing import Any

import click

from cli.options import example, json_option, print_json
from searchspace.errors import InvalidInput
from searchspace.formats.edge_list import read_edge_list, write_edge_list
from searchspace.formats.hop_machine import read_hop_machine
from searchspace.formats.matrix_market import read_traffic
from searchspace.graph import Graph
from searchspace.mapping import MAPPINGS, map_ranks
from searchspace.mapping.judge import judge
from searchspace.ordering import ORDERINGS, order
from searchspace.ordering.metrics import aspl_of_blocks
from searchspace.topology import FAMILIES, generate
from searchspace.topology.metrics import measure

__all__ = ["COMMANDS"]

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
seed_option = click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of random choices."
)


@click.group()
def topology() -> None:
    """Generate networks and measure them."""


@topology.command(
    "generate",
    epilog=example("hamtune topology generate random --nodes 64 --degree 6 --seed 1 -o G.edges"),
)
@click.argument("family", type=click.Choice(tuple(FAMILIES)))
@click.option("--nodes", type=click.IntRange(1), required=True, help="Hosts of the network.")
@click.option("--degree", type=click.IntRange(1), help="Cables a host (random only).")
@seed_option
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="File; else stdout."
)
@json_option
def generate_topology(
    family: str, nodes: int, degree: int | None, seed: int, output: Path | None, as_json: bool
) -> None:
    """Generate a network as an edge list: one 'u v' a line, hosts from 0.

    Families: random (regular, needs --degree), mesh-2d, mesh-3d, torus-2d, torus-3d (the most
    cubic extents).
    """
    graph = generate(family, nodes, degree=degree, seed=seed)
    if output is not None:
        output.write_text(write_edge_list(graph))
    if as_json:
        print_json({"nodes": graph.nodes, "edges": [list(edge) for edge in graph.edges]})
    elif output is None:
        click.echo(write_edge_list(graph), nl=False)


@topology.command("metrics", epilog=example("hamtune topology metrics G.edges --json"))
@click.argument("graph_file", metavar="G.edges", type=FILE)
@json_option
def metrics(graph_file: Path, as_json: bool) -> None:
    """Measure a network: degree, diameter, ASPL, and the lower bounds for its size and degree.

    ASPL is the mean shortest path length over all pairs of distinct hosts.
    """
    found = dataclasses.asdict(measure(_graph(graph_file)))
    if as_json:
        print_json(found)
        return
    for name, value in found.items():
        click.echo(f"{name.replace('_', ' '):21} {value:.6g}")


@click.command("order", epilog=example("hamtune order hamorder G.edges --json"))
@click.argument("method", type=click.Choice(tuple(ORDERINGS)))
@click.argument("graph_file", metavar="G.edges", type=FILE)
@seed_option
@json_option
def order_nodes(method: str, graph_file: Path, seed: int, as_json: bool) -> None:
    """Renumber the hosts of a network so that neighbouring numbers are close.

    Prints the old id of the new host 0, 1, ...; with --json also the mean distance within blocks
    of consecutive new numbers, by block size.
    """
    graph = _graph(graph_file)
    permutation = order(method, graph, seed=seed)
    if as_json:
        blocks = aspl_of_blocks(graph.relabel(permutation))
        print_json(
            {
                "order": list(permutation),
                "aspl_of_blocks": {str(size): aspl for size, aspl in blocks.items()},
            }
        )
    else:
        click.echo(" ".join(map(str, permutation)))


@click.command("map", epilog=example("hamtune map packed --traffic W.mtx --machine M.json --json"))
@click.argument("method", type=click.Choice(tuple(MAPPINGS)))
@click.option(
    "--traffic",
    type=FILE,
    required=True,
    help="MatrixMarket file of bytes both ways a pair of ranks (hamtune trace info --traffic).",
)
@click.option(
    "--machine",
    type=FILE,
    required=True,
    help='JSON file: {"type": "tree", "arity": [4, 2]}, {"type": "torus", "dims": [8, 8]}, '
    '"mesh", {"type": "dragonfly", "groups": 4, "routers": 3, "nodes": 2}, '
    '{"type": "graph", "edges": "G.edges"}; optional "cores_per_host".',
)
@json_option
def map_command(method: str, traffic: Path, machine: Path, as_json: bool) -> None:
    """Place ranks on the hosts of a machine and judge the mapping in hops.

    Prints the host of rank 0, 1, ..., the hop-bytes (sum over pairs of bytes x hops), the dilation
    (longest path of a pair that communicates) and the congestion (bytes on the busiest cable).
    """
    bytes_both_ways = read_traffic(_text(traffic))
    hop_machine = read_hop_machine(
        _json(machine), read_graph=lambda name: _graph(machine.parent / name)
    )
    begin = time.perf_counter()
    mapping = map_ranks(method, len(bytes_both_ways), hop_machine.hosts, hop_machine.cores_per_host)
    seconds = time.perf_counter() - begin
    judgement = judge(bytes_both_ways, mapping, hop_machine.network)
    if as_json:
        print_json({"mapping": list(mapping), **dataclasses.asdict(judgement), "seconds": seconds})
        return
    click.echo(" ".join(map(str, mapping)))
    click.echo(
        f"hop-bytes {judgement.hop_bytes}, dilation {judgement.dilation}, "
        f"congestion {judgement.congestion}"
    )


COMMANDS = [topology, order_nodes, map_command]


def _graph(path: Path) -> Graph:
    text = _text(path)
    try:
        return read_edge_list(text)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from error


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except UnicodeDecodeError:
        raise InvalidInput(f"{path}: not a text file") from None


def _json(path: Path) -> Any:
    try:
        return json.loads(_text(path))
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{path}: not JSON: {error}") from None
