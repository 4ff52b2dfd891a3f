"""Quantities as people write them (`100Gf`, `40Gbps`, `60ns`, `4GiB`) and back.

Everything inside the project is in SI base units: flop/s, bytes/s, seconds, bytes. A plain number
is already in the base unit. Spellings follow SimGrid's platform files. Quantities of a machine must
be plausible however they are written, for a forgotten unit is a common mistake.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from searchspace.errors import InvalidInput

__all__ = [
    "format_bandwidth",
    "format_duration",
    "format_size",
    "format_speed",
    "machine_bandwidth",
    "machine_latency",
    "machine_speed",
    "memory_limit",
    "parse_bandwidth",
    "parse_duration",
    "parse_part",
    "parse_size",
    "parse_speed",
]

_DECIMAL = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50, "Ei": 2.0**60}
_PREFIXES = _DECIMAL | _BINARY

_SPEED_UNITS = {f"{prefix}f": factor for prefix, factor in _DECIMAL.items()}
_BANDWIDTH_UNITS = {f"{prefix}bps": factor / 8 for prefix, factor in _PREFIXES.items()} | {
    f"{prefix}Bps": factor for prefix, factor in _PREFIXES.items()
}
_DURATION_UNITS = {
    "ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0,
    "h": 3600.0, "d": 86400.0,
}  # fmt: skip
_SIZE_UNITS = {f"{prefix}B": factor for prefix, factor in _PREFIXES.items()}

LEAST_SPEED = 1e4
LEAST_BANDWIDTH = 1e4
MOST_LATENCY = 1.0
LEAST_MEMORY = 4 << 20
LEAST_STORED_MEMORY = 1 << 20
"""Which jobs were once allowed, and still may say where they are stored."""

# No two parts that may take the same characters stand side by side: hostile text would be tried
# with every split between them.
_PER_SECOND = re.compile(r"([0-9.]+)\s*([A-Za-z]+[bB])(?:it)?/s")
_QUANTITY = re.compile(r"((?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z]*)")


def _parse(value: str | float, units: dict[str, float], what: str, example: str) -> float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InvalidInput(f"{value!r} is not a {what}; write it like {example}")
    if isinstance(value, str):
        match = _QUANTITY.fullmatch(value.strip())
        per_second = _PER_SECOND.fullmatch(value.strip())
        if per_second is not None and f"{per_second[2]}ps" in units:
            raise InvalidInput(
                f"'{value}' is not a {what}; write it as {per_second[1]}{per_second[2]}ps"
            )
        if match is None:
            raise InvalidInput(f"'{value}' is not a {what}; write it like {example}")
        number, unit = match.groups()
        if unit and unit not in units:
            known = ", ".join(units)
            meant = _meant(unit, units)
            raise InvalidInput(
                f"'{value}' has an unknown unit of {what}; allowed: {known}"
                + (f"; did you mean '{number}{meant}'?" if meant else "")
            )
        # Dividing by the round factor of a small unit keeps 60ns exactly 6e-08.
        factor = units[unit] if unit else 1.0
        value = float(number) * factor if factor >= 1 else float(number) / round(1 / factor)
    try:
        quantity = float(value)
    except OverflowError:
        quantity = math.inf
    if not math.isfinite(quantity) or quantity < 0:
        raise InvalidInput(f"{value} is not a {what}: it must be finite and not negative")
    return quantity


_NAMES = {"nano": "n", "micro": "u", "milli": "m", "second": "s", "minute": "min", "hour": "h"}


def _meant(unit: str, units: Iterable[str]) -> str | None:
    """The unit that was meant: in other letters, or by its name; None where that is not clear."""
    small = unit.lower()
    word = small.removesuffix("s")
    for name, short in _NAMES.items():
        word = word.replace(name, short)
    for tried in (small, word):
        same = [known for known in units if known.lower() == tried]
        if len(same) > 1:  # bits or bytes
            same = [known for known in same if ("B" in known) == ("B" in unit)]
        if len(same) == 1:
            return same[0]
    return None


def parse_speed(value: str | float) -> float:
    """Reads a computing speed in flop/s: `100Gf`, `8e9`.

    Raises:
        InvalidInput: It is not a speed.
    """
    return _parse(value, _SPEED_UNITS, "speed", "100Gf")


def parse_bandwidth(value: str | float) -> float:
    """Reads a bandwidth in bytes/s: `40Gbps` (bits) is 5e9, `5GBps` (bytes) as well.

    Raises:
        InvalidInput: It is not a bandwidth.
    """
    return _parse(value, _BANDWIDTH_UNITS, "bandwidth", "40Gbps (bits) or 5GBps (bytes)")


def parse_duration(value: str | float) -> float:
    """Reads a duration in seconds: `60ns`, `1.5us`, `10min`.

    Raises:
        InvalidInput: It is not a duration.
    """
    return _parse(value, _DURATION_UNITS, "duration", "60ns")


def parse_size(value: str | float) -> int:
    """Reads a size in bytes: `4GiB`, `64kB`, `4096`.

    Raises:
        InvalidInput: It is not a whole number of bytes.
    """
    size = _parse(value, _SIZE_UNITS, "size", "4GiB")
    if not size.is_integer():
        raise InvalidInput(f"'{value}' is not a whole number of bytes")
    return int(size)


def parse_part(value: str | float) -> float:
    """Reads a part of a whole, above 0 and below 1: `1%`, `0.01`.

    Raises:
        InvalidInput: It is not such a part.
    """
    text = str(value).strip()
    number, factor = (text[:-1], 0.01) if text.endswith("%") else (text, 1.0)
    try:
        part = float(number) * factor
    except ValueError:
        part = math.nan
    if isinstance(value, bool) or not 0 < part < 1:
        raise InvalidInput(f"'{value}' is not a part above 0 and below 1, such as 1% or 0.01")
    return part


def machine_speed(value: str | float) -> float:
    """Reads the speed of a core in flop/s, at least 10 kf.

    Raises:
        InvalidInput: It is not a speed, or no core's.
    """
    speed = parse_speed(value)
    if 0 < speed < LEAST_SPEED:
        raise _implausible(value, "at least 10kf", "flop/s", "100Gf")
    return speed


def machine_bandwidth(value: str | float) -> float:
    """Reads the bandwidth of a cable in bytes/s, at least 10 kBps.

    Raises:
        InvalidInput: It is not a bandwidth, or no cable's.
    """
    bandwidth = parse_bandwidth(value)
    if 0 < bandwidth < LEAST_BANDWIDTH:
        raise _implausible(value, "at least 10kBps", "bytes/s", "40Gbps (bits) or 5GBps (bytes)")
    return bandwidth


def machine_latency(value: str | float) -> float:
    """Reads the latency of a cable or switch in seconds, at most 1 s.

    Raises:
        InvalidInput: It is not a duration, or no latency.
    """
    latency = parse_duration(value)
    if latency > MOST_LATENCY:
        raise _implausible(value, "at most 1s", "seconds", "60ns")
    return latency


def memory_limit(value: str | float, *, least: int = LEAST_MEMORY) -> int:
    """Reads a limit on memory in bytes, at least 4 MiB; the simulator alone takes half of that.

    Args:
        value: As it is written.
        least: Bytes that are let pass; what is refused is told to be at least 4 MiB.

    Raises:
        InvalidInput: It is not a size, or no program fits into it.
    """
    size = parse_size(value)
    if 0 < size < least:
        raise _implausible(value, "at least 4MiB", "bytes", "4GiB")
    return size


def _implausible(value: str | float, bound: str, base: str, example: str) -> InvalidInput:
    return InvalidInput(
        f"must be {bound}, not '{value}': a number without a unit is in {base}; "
        f"write it like {example}"
    )


def _format(value: float, unit: str, prefixes: dict[str, float]) -> str:
    """Writes the number with the largest prefix that leaves it at least 1."""
    prefix = ""
    for name, factor in prefixes.items():
        if value >= factor:
            prefix = name
    return f"{value / prefixes[prefix]:.4g} {prefix}{unit}" if value else f"0 {unit}"


def format_speed(value: float) -> str:
    """Writes flop/s for people: `100 Gf`."""
    return _format(value, "f", _DECIMAL)


def format_bandwidth(value: float) -> str:
    """Writes bytes/s for people, in bits: `40 Gbps`."""
    return _format(value * 8, "bps", _DECIMAL)


def format_duration(value: float) -> str:
    """Writes seconds for people: `60 ns`, `1.5 s`, `12.3 min`."""
    if value == 0:
        return "0 s"
    for unit, factor in (("ps", 1e-12), ("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3)):
        if value < 999.95 * factor:  # what is more is 1000 in four digits
            return f"{value / factor:.4g} {unit}"
    if value < 120:
        return f"{value:.4g} s"
    return f"{value / 60:.4g} min" if value < 7200 else f"{value / 3600:.4g} h"


def format_size(value: float) -> str:
    """Writes bytes for people: `4 GiB`."""
    return _format(value, "B", {"": 1.0} | _BINARY)
