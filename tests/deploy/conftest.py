"""The command line, as its own tests have it."""

from tests.cli.conftest import hamtune

__all__ = ["hamtune"]
