"""Networks: the group of commands on topologies."""

from __future__ import annotations

import click

from cli import embeddings, topologies
from cli.optimise import optimize
from cli.pareto import pareto

__all__ = ["COMMANDS"]


@click.group()
def topology() -> None:
    """Generate networks, optimise, measure, convert and draw them."""


for _command in (*topologies.COMMANDS, *embeddings.COMMANDS, optimize, pareto):
    topology.add_command(_command)


COMMANDS = [topology]
