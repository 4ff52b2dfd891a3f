"""Figures beside what they have to be."""

from __future__ import annotations

__all__ = ["Bars"]


class Bars:
    """Prints each as MET or MISSED, and remembers."""

    def __init__(self) -> None:
        self.missed = 0

    def at_most(self, what: str, value: float, most: float) -> None:
        """Print a figure that must not be larger than its bar."""
        met = value <= most
        self.missed += not met
        print(
            f"  {what:52} {value:10.4g}  of {most:6.4g}  {'MET' if met else 'MISSED'}", flush=True
        )

    def at_least(self, what: str, value: float, least: float) -> None:
        """Print a figure that must not be smaller than its bar."""
        met = value >= least
        self.missed += not met
        print(
            f"  {what:52} {value:10.4g}  of {least:6.4g}  {'MET' if met else 'MISSED'}", flush=True
        )
