"""The format `graphml`: the network for programs that draw and measure graphs."""

from __future__ import annotations

from searchspace.formats.graphml import write_graphml
from service.exports.result import ExportFile, Result
from service.exports.wording import readme

__all__ = ["export_graphml"]

_ABOUT = (
    "network.graphml  nodes with name and kind (host, switch), edges with their number of cables;",
    "    'hamtune topology convert' and most programs for graphs read it.",
)


def export_graphml(result: Result) -> list[ExportFile]:
    """The network as one file."""
    return [
        ExportFile(name="README.txt", content=readme(result, _ABOUT)),
        ExportFile(name="network.graphml", content=write_graphml(result.fabric).encode()),
    ]
