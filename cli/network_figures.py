"""Figures of networks: their drawing, the distances in them, their adjacency under orderings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from cli.figures import COLOURS, QUIET, TEXT, plain
from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.topology.drawing import edge_classes, place, rotation
from searchspace.topology.optimise.pareto import Compromise
from searchspace.topology.structure import hop_histogram

__all__ = ["adjacency_figure", "compromise_figure", "distance_figure", "network_figure"]

_MOST_NODES = 4096
_LABELLED_NODES = 40


def network_figure(graph: Graph, layout: str, *, seed: int = 0, title: str = "") -> Figure:
    """Draws a network; hosts on switches are small and grey, their switches blue.

    Raises:
        InvalidInput: There is no such layout, or the network is too large for a picture.
    """
    places = place(graph, layout, seed=seed)
    figure, axes = _square()
    segments = places[np.asarray(graph.edges, dtype=np.int64).reshape(-1, 2)]
    thin = max(0.3, min(1.4, 40 / max(len(graph.edges), 1) ** 0.6))
    colours = [QUIET if graph.switches and u < graph.hosts else COLOURS[0] for u, _ in graph.edges]
    if layout == "symmetric":
        classes = edge_classes(graph)
        colours = [COLOURS[number % len(COLOURS)] for number in classes]
        title = f"{title}  rotational symmetry {rotation(graph)}".strip()
    widths = [thin * min(graph.width(edge), 4) for edge in range(len(graph.edges))]
    lines = LineCollection(list(segments), colors=colours, linewidths=widths, alpha=0.75, zorder=1)
    axes.add_collection(lines)
    size = max(4.0, min(90.0, 2600 / graph.nodes))
    hosts = slice(0, graph.hosts) if graph.switches else slice(0, 0)
    switches = slice(graph.hosts if graph.switches else 0, graph.nodes)
    axes.scatter(*places[hosts].T, s=size / 2, color=QUIET, zorder=2)
    axes.scatter(*places[switches].T, s=size, color=TEXT, zorder=3)
    if graph.nodes <= _LABELLED_NODES and not graph.switches and layout in ("ring", "symmetric"):
        for node, (x, y) in enumerate(places):
            axes.text(1.1 * x, 1.1 * y, str(node), ha="center", va="center", fontsize=8, color=TEXT)
    axes.autoscale_view()
    axes.set_aspect("auto" if layout == "levels" else "equal")
    axes.axis("off")
    if title:
        axes.set_title(plain(title), color=TEXT, fontsize=10)
    return figure


def distance_figure(graph: Graph, *, title: str = "") -> Figure:
    """Draws how many pairs of hosts are how many hops apart.

    Raises:
        InvalidInput: The network is not connected or too large.
    """
    counts = hop_histogram(graph)
    figure, axes = _square(height=3.6)
    pairs = sum(counts.values())
    mean = sum(hops * count for hops, count in counts.items()) / max(pairs, 1)
    axes.bar(list(counts), list(counts.values()), color=COLOURS[0], width=0.7)
    axes.axvline(mean, color=COLOURS[1], linewidth=1.5, linestyle=(0, (4, 3)))
    axes.annotate(
        f" mean {mean:.3f}", (mean, 1.0), xycoords=("data", "axes fraction"), va="top",
        color=COLOURS[1], fontsize=9,
    )  # fmt: skip
    axes.set_ylim(top=1.12 * max(counts.values(), default=1))  # room for the label of the mean
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("hops")
    axes.set_ylabel("pairs of hosts")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(plain(title) or "Hop distances", loc="left", color=TEXT, fontsize=11)
    return figure


def adjacency_figure(graphs: Mapping[str, Graph]) -> Figure:
    """Draws adjacency matrices side by side, such as before and after an ordering.

    Raises:
        InvalidInput: A network is too large for a picture.
    """
    figure = Figure(figsize=(4.2 * len(graphs), 4.4), layout="constrained")
    for column, (title, graph) in enumerate(graphs.items(), start=1):
        if graph.nodes > _MOST_NODES:
            raise InvalidInput(
                f"the network has {graph.nodes} nodes; matrices are drawn up to {_MOST_NODES}"
            )
        axes = figure.add_subplot(1, len(graphs), column)
        ends = np.asarray(graph.edges, dtype=np.int64).reshape(-1, 2)
        size = max(0.5, min(40.0, (250 / graph.nodes) ** 2))
        for x, y in ((0, 1), (1, 0)):
            axes.scatter(ends[:, x], ends[:, y], s=size, marker="s", color=COLOURS[0], linewidths=0)
        axes.set_xlim(-0.5, graph.nodes - 0.5)
        axes.set_ylim(graph.nodes - 0.5, -0.5)
        axes.set_aspect("equal")
        axes.set_title(plain(title), loc="left", color=TEXT, fontsize=11)
    return figure


def compromise_figure(archive: Sequence[Compromise]) -> Figure:
    """Draws ASPL over cable length, with the width as colour; numbers are those of the files."""
    figure = Figure(figsize=(7.0, 4.5), layout="constrained")
    axes = figure.add_subplot()
    lengths = [found.cable_length for found in archive]
    means = [found.aspl for found in archive]
    widths = [found.bisection_width for found in archive]
    dots = axes.scatter(lengths, means, c=widths, cmap="viridis", s=40, zorder=2)
    for number, found in enumerate(archive, start=1):
        axes.annotate(
            str(number),
            (found.cable_length, found.aspl),
            xytext=(4, 4),
            textcoords="offset points",
            fontsize=7,
            color=TEXT,
        )
    bar = figure.colorbar(dots, ax=axes)
    bar.set_label("bisection width")
    bar.locator = MaxNLocator(integer=True)
    axes.set_xlabel("length of all cables")
    axes.set_ylabel("average shortest path length [hops]")
    axes.set_title("Networks that no other one beats", loc="left", color=TEXT, fontsize=11)
    axes.grid(color=QUIET, alpha=0.3, zorder=0)
    return figure


def _square(height: float = 5.0) -> tuple[Figure, Any]:
    figure = Figure(figsize=(5.0, height), layout="constrained")
    return figure, figure.add_subplot()
