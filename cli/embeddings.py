"""`hamtune topology embed`: a program's virtual topology on a network, with bounded dilation."""

from __future__ import annotations

from pathlib import Path

import click

from cli.files import FILE, read_graph, read_text
from cli.options import example, json_option, print_json, say, seed_option
from searchspace.errors import HamtuneError
from searchspace.formats.matrix_market import read_traffic
from searchspace.graph import Graph
from searchspace.mapping.embedding import embed, embed_closest
from searchspace.topology import generate

__all__ = ["COMMANDS"]

_PATTERNS = ("ring", "mesh-2d", "mesh-3d", "torus-2d", "torus-3d", "hypercube")


@click.command("embed", epilog=example("hamtune topology embed G.edges --pattern torus-2d --json"))
@click.argument("graph_file", metavar="G.edges", type=FILE)
@click.option("--pattern", type=click.Choice(_PATTERNS), help="The virtual topology of the ranks.")
@click.option(
    "--traffic",
    type=FILE,
    help="Instead: ranks that exchange bytes in this MatrixMarket file are joined.",
)
@click.option(
    "--ranks", type=click.IntRange(2), help="Ranks of the pattern; one a node by default."
)
@click.option(
    "--dilation",
    type=click.IntRange(1),
    help="Most hops between joined ranks; by default the least that is found.",
)
@click.option(
    "--effort", type=click.IntRange(1), default=4000, show_default=True, help="Moves for each node."
)
@seed_option
@json_option
def embed_command(
    graph_file: Path,
    pattern: str | None,
    traffic: Path | None,
    ranks: int | None,
    dilation: int | None,
    effort: int,
    seed: int,
    as_json: bool,
) -> None:
    """Place a program's ranks on a network so that joined ranks are at most k hops apart.

    Prints the node of rank 0, 1, ... Joined are the neighbours in a pattern, or the ranks that
    exchange bytes in a traffic matrix. Fails when no embedding of the dilation asked for is found;
    that does not prove that there is none.
    """
    network = read_graph(graph_file)
    virtual = _virtual(pattern, traffic, ranks or network.nodes)
    if dilation is None:
        found = embed_closest(virtual, network, seed=seed, effort=effort)
    else:
        found = embed(virtual, network, dilation, seed=seed, effort=effort)
    if as_json:
        print_json(
            {
                "mapping": list(found.hosts),
                "dilation": found.dilation,
                "stretched": found.stretched,
                "pairs": len(virtual.edges),
            }
        )
    elif found.stretched == 0:
        click.echo(" ".join(map(str, found.hosts)))
    if found.stretched:
        raise HamtuneError(
            f"no embedding of dilation {dilation} was found; the best has dilation "
            f"{found.dilation}, with {found.stretched} of {len(virtual.edges)} pairs beyond"
        )


def _virtual(pattern: str | None, traffic: Path | None, ranks: int) -> Graph:
    if (pattern is None) == (traffic is None):
        raise click.UsageError("give either --pattern or --traffic")
    if pattern is not None:
        return generate(pattern, ranks)
    assert traffic is not None
    exchanged = read_traffic(read_text(traffic), notice=say)
    low, high, _ = exchanged.pairs
    return Graph.from_edges(exchanged.ranks, zip(low.tolist(), high.tolist(), strict=True))


COMMANDS = [embed_command]
