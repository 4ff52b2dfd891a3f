"""The recorder for real MPI libraries: build it here, or take its sources to the cluster."""

from __future__ import annotations

from pathlib import Path

import click

from cli.options import example
from workers.recorder_build import HOST_SPEED, LIBRARY, build_recorder, write_sources

__all__ = ["COMMANDS"]

_OUTPUT = click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Directory for what is made.",
)


@click.group(epilog=example("hamtune recorder build --mpicc mpicc.openmpi --output rec"))
def recorder() -> None:
    """Record programs on a cluster, under its own MPI."""


@recorder.command(epilog=example("hamtune recorder build --mpicc mpicc.openmpi --output rec"))
@click.option("--mpicc", default="mpicc", show_default=True, help="C compiler of the MPI library.")
@_OUTPUT
def build(mpicc: str, output: Path) -> None:
    """Build the library that LD_PRELOAD puts into programs of Open MPI or MPICH."""
    build_recorder(mpicc, output)
    click.echo(f"{output / LIBRARY}\n{output / HOST_SPEED}")


@recorder.command(epilog=example("hamtune recorder sources --output hamtune-recorder"))
@_OUTPUT
def sources(output: Path) -> None:
    """Write the recorder's sources; `make MPICC=mpicc` builds them where Hamtune is not."""
    write_sources(output)
    click.echo(f"{output}: make MPICC=mpicc")


COMMANDS = [recorder]
