"""Names in a configuration that mean something beyond one parameter."""

from __future__ import annotations

__all__ = ["GIVEN", "MAPPER_OPTIONS", "ORIGINAL"]

GIVEN = "given"
"""The topology of a machine whose network exists."""

ORIGINAL = "original"
"""The ordering that leaves every number as it is."""

MAPPER_OPTIONS = "mappers."
"""Options of mappers begin with this and the mapper's name."""
