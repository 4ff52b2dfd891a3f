"""The trace of a large run from captures of small ones.

In the line of ScalaExtrap (Wu and Mueller, PPoPP 2011): ranks are put into classes by where they
stand in a grid, the operations of a class are set side by side across the captures, and peers,
sizes, computation and numbers of iterations are written as functions of the grid, which then give
the larger run.
"""

from searchspace.extrapolation.errors import NoPattern
from searchspace.extrapolation.extrapolate import EDITION, Check, Extrapolated, extrapolate

__all__ = ["EDITION", "Check", "Extrapolated", "NoPattern", "extrapolate"]
