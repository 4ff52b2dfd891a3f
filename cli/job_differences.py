"""In what job files differ, for people: quantities with units, protocols by their names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from cli.differences import shown
from searchspace.units import format_bandwidth, format_duration, format_size, format_speed

__all__ = ["UNITS", "job_file_rows"]

_PROTOCOL = "machine.protocol"
_EDGES = "machine.topology.edges"


def _bytes(value: float) -> str:
    """Bytes; what is known by its number of bytes, such as an MTU, stays one."""
    whole = value % 1024 == 0 or value >= 2**20
    return format_size(value) if whole else f"{value:.0f} B"


def _percent(part: float) -> str:
    return f"{100 * part:.4g}%"


UNITS: Mapping[str, Callable[[float], str]] = {
    **dict.fromkeys(
        (
            "link_bandwidth", "host_link_bandwidth", "switch_bandwidth", "interface_bandwidth",
            "memory_bandwidth", "loopback_bandwidth",
        ),
        format_bandwidth,
    ),
    **dict.fromkeys(("host_speed", "host_speeds", "host_speed_of_capture"), format_speed),
    **dict.fromkeys(
        (
            "link_latency", "switch_latency", "loopback_latency", "stagger", "peer_overhead",
            "wall_seconds", "cpu_seconds", "target", "seconds", "wait", "start",
        ),
        format_duration,
    ),
    **dict.fromkeys(
        (
            "mtu", "header", "framing", "message_header", "control_bytes", "eager_limit",
            "send_buffer", "exchange_above", "turn", "buffer", "burst", "memory", "size",
            # Bounds of `search.by_size`; elsewhere these names have no numbers.
            "allgather", "allreduce", "alltoall", "bcast", "gather", "reduce", "reduce_scatter",
            "scatter",
        ),
        _bytes,
    ),
    **dict.fromkeys(("until", "completed_share"), _percent),
}  # fmt: skip
"""How the quantities of job files are written, by the names of their fields."""


def job_file_rows(
    differing: Mapping[str, Sequence[Any]], specs: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, list[str]]]:
    """Rows of a table: the dotted path of a field, and its value in each job file.

    Of protocols of the network there are a row with their names, and one for each field in which
    one differs from the protocol of its name.

    Args:
        differing: The values by path, as `cli.differences.apart` finds them.
        specs: The job files.
    """
    names, own = _protocols(specs)
    told = False
    for path, values in differing.items():
        if path == _PROTOCOL or path.startswith(f"{_PROTOCOL}."):
            if not told and len(set(names)) > 1:
                yield _PROTOCOL, names
            told = True
            if path.rpartition(".")[2] not in own:
                continue
        if _is_part_of_others(path, values, differing):
            continue
        yield path, _words(path, values)


def _protocols(specs: Sequence[Mapping[str, Any]]) -> tuple[list[str], set[str]]:
    """The name of each job's protocol, and in which fields any differs from what is called so."""
    # It takes a while to load, which other commands should not pay for.
    from searchspace.protocol import Protocol

    names, own = [], set()
    for spec in specs:
        stated = (spec.get("machine") or {}).get("protocol")
        name, fields = ("-", []) if stated is None else Protocol.model_validate(stated).nearest
        names.append(name)
        own |= set(fields)
    return names, own


def _is_part_of_others(
    path: str, values: Sequence[Any], differing: Mapping[str, Sequence[Any]]
) -> bool:
    """Whether a group is empty or left out, of which other rows have the fields."""
    nothing = all(value in (None, {}) for value in values)
    return nothing and any(other.startswith(f"{path}.") for other in differing)


def _words(path: str, values: Sequence[Any]) -> list[str]:
    """The values; those that differ never look alike."""
    words = [_value(path, value) for value in values]
    exact = [json.dumps(value, sort_keys=True) for value in values]
    if len(set(words)) == len(set(exact)):
        return words
    return [
        word if value is None else f"{word} ({_mark(value)})"
        for word, value in zip(words, values, strict=True)
    ]


def _mark(value: Any) -> str:
    """What tells a value from one that is written alike."""
    text = json.dumps(value, sort_keys=True)
    return text if isinstance(value, int | float) else hashlib.sha256(text.encode()).hexdigest()[:6]


def _value(path: str, value: Any) -> str:
    if path == _EDGES and value is not None:
        return f"{len(value)} cables"
    name = path.rpartition(".")[2]
    if name.endswith("_overhead") and isinstance(value, list) and value:
        return ", ".join(map(_piece, value))
    unit = UNITS.get(name)
    if unit is None or not _is_quantity(value):
        return shown(value)
    if isinstance(value, list):
        return shown([unit(one) for one in value])
    return unit(value)


def _is_quantity(value: Any) -> bool:
    one_by_one = value if isinstance(value, list) and value else [value]
    return all(isinstance(one, int | float) and not isinstance(one, bool) for one in one_by_one)


def _piece(piece: Sequence[float]) -> str:
    """An overhead from a message size on."""
    size, seconds, per_byte = piece
    more = f" + {format_duration(per_byte)} a byte" if per_byte else ""
    return f"{format_duration(seconds)}{more} from {_bytes(size)} on"
