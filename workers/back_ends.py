"""The back ends there are, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from workers.back_end import Start
from workers.loggp import LogGP
from workers.simulator_client import Simulator

__all__ = ["BACK_ENDS"]

BACK_ENDS: Mapping[str, Start] = MappingProxyType({"simulator": Simulator, "loggp": LogGP})
