"""The format `cabling`: what is plugged into what."""

from __future__ import annotations

import csv
import io
from collections import Counter

from searchspace.graph import Graph
from searchspace.topology.cost import Prices
from searchspace.topology.layout import Floor
from service.exports.result import ExportFile, Result
from service.exports.wording import readme

__all__ = ["COLUMNS", "cables", "export_cabling"]

COLUMNS = ("cable", "from device", "from port", "to device", "to port", "type", "length")

_ABOUT = """\
cabling.csv  one line a cable: {cables} cables between {hosts} hosts{switches}. Ports of a device
    are numbered from 1 and each is used once; parallel cables are lines of their own.
    Lengths are metres for racks of {rack} {nodes}, filled in order of their numbers,
    {width} m apart in rows {depth} m apart: replace them where your floor is another.
    Type: copper up to {reach:g} m, optical beyond."""


def export_cabling(result: Result) -> list[ExportFile]:
    """The list of cables."""
    network, floor = result.resolved.network, Floor()
    rows = cables(network, result.names, floor)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows)
    about = _ABOUT.format(
        cables=len(rows),
        hosts=network.hosts,
        switches=f" and {network.switches} switches" if network.switches else "",
        rack=floor.rack_nodes,
        nodes="switches with their hosts" if network.switches else "hosts",
        width=floor.width,
        depth=floor.depth,
        reach=Prices().reach,
    )
    return [
        ExportFile(name="README.txt", content=readme(result, about.splitlines())),
        ExportFile(name="cabling.csv", content=text.getvalue().encode()),
    ]


def cables(network: Graph, names: tuple[str, ...], floor: Floor) -> list[tuple[str | int, ...]]:
    """The cables, as `COLUMNS`; ports are given in the order of the cables."""
    used: Counter[int] = Counter()
    rows: list[tuple[str | int, ...]] = []
    reach = Prices().reach
    for index, ((u, v), metres) in enumerate(
        zip(network.edges, floor.lengths(network), strict=True)
    ):
        for _ in range(network.width(index)):
            used[u] += 1
            used[v] += 1
            kind = "copper" if metres <= reach else "optical"
            ends = (names[u], used[u], names[v], used[v])
            rows.append((len(rows) + 1, *ends, kind, f"{metres:.1f}"))
    return rows
