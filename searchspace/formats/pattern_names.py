"""Names of the synthetic workloads, and what else they may be called."""

from __future__ import annotations

__all__ = ["PATTERN_NAMES", "canonical_pattern"]

PATTERN_NAMES = ("all-to-all", "bcast/scatter", "gather/reduce", "linear")
"""As Soryani, Analoui and Zarrinchian 2013, section 5.1, call them."""

_ALSO = {
    "alltoall": "all-to-all",
    "bcast": "bcast/scatter",
    "scatter": "bcast/scatter",
    "gather": "gather/reduce",
    "reduce": "gather/reduce",
}


def canonical_pattern(name: object) -> str | None:
    """The pattern of a name; a collective's name stands for the pattern of its messages."""
    if not isinstance(name, str):
        return None
    return name if name in PATTERN_NAMES else _ALSO.get(name)
