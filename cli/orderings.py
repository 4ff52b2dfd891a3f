"""Orderings: renumber the nodes of a network."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click

from cli.files import FILE, read_graph
from cli.options import example, json_option, method_options, print_json, seed_option
from searchspace.errors import InvalidInput
from searchspace.ordering import ORDERINGS, order
from searchspace.ordering.metrics import adjacency, aspl_of_blocks, gorder_score, task_dilation

__all__ = ["COMMANDS"]

_METHODS = "\n".join(
    f"{method.name:12} {method.description}"
    + "".join(f"\n{'':14}-O {o.name}={o.initial}: {o.description}" for o in method.options)
    for method in ORDERINGS.values()
)


@click.command(
    "order",
    help=f"""Renumber the hosts of a network so that neighbouring numbers are close.

Prints the old id of the new host 0, 1, ...; with --json also how close the new numbers lie: the
share of consecutive numbers that share a cable, the mean hops within blocks of consecutive numbers
by block size, Gorder's score, and how far apart the ranks of a task of --task ranks are on any
free block.

\b
{_METHODS}
""",
    epilog=example("hamtune order blocks G.edges --seed 1 --json"),
)
@click.argument("method", type=click.Choice(tuple(ORDERINGS)), metavar="METHOD")
@click.argument("graph_file", metavar="G.edges", type=FILE)
@method_options
@click.option(
    "--task", type=click.IntRange(2), default=8, show_default=True, help="Ranks of a task."
)
@seed_option
@json_option
def order_nodes(
    method: str, graph_file: Path, options: dict[str, str], task: int, seed: int, as_json: bool
) -> None:
    graph = read_graph(graph_file)
    if graph.switches:
        raise InvalidInput(
            f"{graph_file}: only networks whose hosts are their switches can be ordered here; in a "
            "job the switches are ordered and the hosts follow"
        )
    if not graph.connected:
        raise InvalidInput(f"{graph_file}: {graph.why_apart}")
    permutation = order(method, graph, seed=seed, **options)
    if not as_json:
        click.echo(" ".join(map(str, permutation)))
        return
    renumbered = graph.relabel(permutation)
    blocks = aspl_of_blocks(renumbered)
    print_json(
        {
            "order": list(permutation),
            "adjacency": adjacency(renumbered),
            "aspl_of_blocks": {str(size): aspl for size, aspl in blocks.items()},
            "gorder_score": gorder_score(renumbered),
            "task_dilation": dataclasses.asdict(task_dilation(renumbered, task))
            if task <= graph.nodes
            else None,
        }
    )


COMMANDS = [order_nodes]
