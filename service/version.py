"""The version that the service and the command line name; pyproject.toml has the same."""

from __future__ import annotations

__all__ = ["VERSION"]

VERSION = "0.1.0"
