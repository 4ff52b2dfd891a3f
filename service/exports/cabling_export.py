"""The format `cabling`: what is plugged into what."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping

from searchspace.graph import Graph
from searchspace.parts import Parts
from service.exports.result import ExportFile, Result
from service.exports.wording import readme

__all__ = ["COLUMNS", "cables", "export_cabling"]

COLUMNS = ("cable", "from device", "from port", "to device", "to port", "type", "length")

_ABOUT = """\
cabling.csv  one line a cable: {cables} cables between {hosts} hosts{switches}.
    {ports} Parallel cables are lines of their own.
    Lengths are metres for racks of {rack} {nodes}, filled in order of their numbers,
    {width} m apart in rows {depth} m apart: machine.parts of a job says another floor.
    Type: copper up to {reach:g} m, optical beyond."""


_NUMBERED = "Ports of a device are numbered from 1 and each is used once."
_OF_FABRIC = "Switches and ports are those of the fabric."


def export_cabling(result: Result) -> list[ExportFile]:
    """The list of cables."""
    network, parts = result.resolved.network, result.machine.parts or Parts()
    floor = parts.plan
    rows = cables(network, result.device_names, parts, result.ports)
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
        reach=parts.prices.reach,
        ports=_NUMBERED if result.ports is None else _OF_FABRIC,
    )
    return [
        ExportFile(name="README.txt", content=readme(result, about.splitlines())),
        ExportFile(name="cabling.csv", content=text.getvalue().encode()),
    ]


def cables(
    network: Graph,
    names: tuple[str, ...],
    parts: Parts,
    ports: Mapping[tuple[int, int], list[tuple[str, str]]] | None = None,
) -> list[tuple[str | int, ...]]:
    """The cables, as `COLUMNS`; ports that are not known are given in the order of the cables."""
    used: Counter[int] = Counter()
    rows: list[tuple[str | int, ...]] = []
    reach = parts.prices.reach
    for index, ((u, v), metres) in enumerate(
        zip(network.edges, parts.plan.lengths(network), strict=True)
    ):
        for cable in range(network.width(index)):
            used[u] += 1
            used[v] += 1
            kind = "copper" if metres <= reach else "optical"
            at_u, at_v = (used[u], used[v]) if ports is None else ports[u, v][cable]
            ends = (names[u], at_u, names[v], at_v)
            rows.append((len(rows) + 1, *ends, kind, f"{metres:.1f}"))
    return rows
