"""Networks: generate and measure topologies, order nodes, map ranks."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path

import click

from cli.files import FILE, read_graph, read_json, read_text
from cli.options import example, json_option, print_json, seed_option
from searchspace.formats.edge_list import write_edge_list
from searchspace.formats.hop_machine import read_hop_machine
from searchspace.formats.matrix_market import read_traffic
from searchspace.mapping import MAPPINGS, map_ranks
from searchspace.mapping.judge import judge
from searchspace.topology import FAMILIES, generate
from searchspace.topology.metrics import measure

__all__ = ["COMMANDS"]


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
    found = dataclasses.asdict(measure(read_graph(graph_file)))
    if as_json:
        print_json(found)
        return
    for name, value in found.items():
        click.echo(f"{name.replace('_', ' '):21} {value:.6g}")


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
    bytes_both_ways = read_traffic(read_text(traffic))
    hop_machine = read_hop_machine(
        read_json(machine), read_graph=lambda name: read_graph(machine.parent / name)
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


COMMANDS = [topology, map_command]
