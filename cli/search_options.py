"""The options by which commands that look for networks are bounded, and go on where they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from cli.files import FILE

__all__ = ["iterations_option", "resume_option", "seconds_option"]

F = TypeVar("F", bound=Callable[..., Any])


def seconds_option(counted: str, kept: str = "") -> Callable[[F], F]:
    """`--seconds`.

    Args:
        counted: What its CPU seconds are of.
        kept: What does not depend on the machine.
    """
    return click.option(
        "--seconds",
        type=float,
        default=60.0,
        show_default=True,
        metavar="T",
        help=f"{counted}; where the search stops then depends on how fast the machine is{kept}.",
    )


def iterations_option(counted: str) -> Callable[[F], F]:
    """`--iterations`; `counted` says of what."""
    return click.option(
        "--iterations",
        type=click.IntRange(1),
        metavar="N",
        help=f"{counted} instead of --seconds: the result is the same everywhere.",
    )


def resume_option(beside: str) -> Callable[[F], F]:
    """`--resume`; `beside` names the options that go with it."""
    return click.option(
        "--resume",
        "resume_file",
        metavar="STATE",
        type=FILE,
        help=f"Go on where a search left this file; only {beside} beside it.",
    )
