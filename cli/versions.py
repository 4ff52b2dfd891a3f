"""What `hamtune --version` tells."""

from __future__ import annotations

import importlib.metadata
import platform

import click

from service.version import VERSION

__all__ = ["tell_version"]

_LIBRARIES = ("opentuner", "numpy", "scipy", "fastapi", "sqlalchemy", "celery")


def tell_version(context: click.Context) -> None:
    """Print the version, and what it stands on, and end."""
    # Looked at only here: other commands need neither.
    from searchspace.errors import HamtuneError
    from workers.simulator_client import engine_in_use, simulator_version

    click.echo(f"hamtune {VERSION}")
    try:
        click.echo(f"simulator {simulator_version()}")
        click.echo(f"engine: {engine_in_use()}")
    except HamtuneError as error:
        click.echo(f"engine: none ({error})")
    versions = (f"{name} {importlib.metadata.version(name)}" for name in _LIBRARIES)
    click.echo(f"python {platform.python_version()}; {', '.join(versions)}")
    context.exit()
