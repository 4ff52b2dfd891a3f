"""Networks: the group of commands on topologies, and mapping ranks."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path

import click

from cli import embeddings, topologies
from cli.files import FILE, read_graph, read_json, read_text
from cli.optimise import optimize
from cli.options import example, json_option, print_json
from searchspace.formats.hop_machine import read_hop_machine
from searchspace.formats.matrix_market import read_traffic
from searchspace.mapping import MAPPINGS, map_ranks
from searchspace.mapping.judge import judge

__all__ = ["COMMANDS"]


@click.group()
def topology() -> None:
    """Generate networks, optimise, measure, convert and draw them."""


for _command in (*topologies.COMMANDS, *embeddings.COMMANDS, optimize):
    topology.add_command(_command)


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
