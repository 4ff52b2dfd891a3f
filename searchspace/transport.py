"""Settings of the transport that a search may choose: fields of the protocol that libraries set.

A configuration says `protocol.exchange: full`, and its packets go by the machine's protocol with
that field in place of the machine's own. Only what the `packets` model knows is here, with the
values for which it was held against Open MPI.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from searchspace.collectives import DEFAULT
from searchspace.configuration import Scalar
from searchspace.errors import InvalidInput
from searchspace.machine import Machine
from searchspace.protocol import Protocol
from searchspace.units import parse_size

__all__ = [
    "PROTOCOL",
    "SETTINGS",
    "Setting",
    "changed_settings",
    "offered_values",
    "read_setting",
    "setting_obstacle",
    "with_settings",
]

PROTOCOL = "protocol."
"""Settings of the transport begin with this in a configuration."""

KIB = 1 << 10
LEAST_FULL = 65_480
"""The least eager limit with which Open MPI can be told to take both directions at once, bytes: it
sends as much along with the announcement of a large message, and with less of it (16 KiB measured)
the directions go on taking turns."""
MOST_EAGER = 16 << 20
"""Receivers keep eager messages that nobody waits for; no library is asked to keep more."""


@dataclass(frozen=True)
class Setting:
    """A field of `Protocol` that a search may choose.

    Attributes:
        name: Of the field.
        description: One line for people.
        values: What `all` stands for, beside the machine's own.
        read: Brings a value into its one form; raises `InvalidInput`.
    """

    name: str
    description: str
    values: tuple[Scalar, ...]
    read: Callable[[Any], Scalar]


def _read_exchange(value: Any) -> Scalar:
    if value not in ("half", "full"):
        raise InvalidInput(f"unknown value {value!r}; allowed: {DEFAULT}, half, full")
    return str(value)


def _read_eager_limit(value: Any) -> Scalar:
    size = parse_size(value)
    if size > MOST_EAGER:
        raise InvalidInput(f"must be at most {MOST_EAGER} bytes, not {size}")
    return size


SETTINGS: Mapping[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting(
            "exchange",
            "large messages between two ranks in both directions at once, or in turn",
            ("half", "full"),
            _read_exchange,
        ),
        Setting(
            "eager_limit",
            "the largest message that does not wait for its receiver",
            (16 * KIB, 64 * KIB, 256 * KIB, 1024 * KIB),
            _read_eager_limit,
        ),
    )
}


def read_setting(name: str, value: Any) -> Scalar:
    """Brings the value of a setting into its one form; `default` is the machine's own.

    Raises:
        InvalidInput: There is no such setting, or it has no such value.
    """
    if name not in SETTINGS:
        raise InvalidInput(f"unknown setting of the transport; allowed: {', '.join(SETTINGS)}")
    return DEFAULT if value == DEFAULT else SETTINGS[name].read(value)


def offered_values(name: str, protocol: Protocol) -> tuple[Scalar, ...]:
    """The values that `all` stands for: `default`, and those that the machine has not."""
    own = getattr(protocol, name)
    if own == "ordered":  # which a library comes with that otherwise counts as half
        own = "half"
    return (DEFAULT, *(value for value in SETTINGS[name].values if value != own))


def changed_settings(values: Mapping[str, Any], machine: Machine) -> dict[str, Scalar]:
    """The settings of a configuration that differ from the machine's own, by name.

    There are none where the fluid model evaluates, to which the protocol means nothing.

    Raises:
        InvalidInput: There is no such setting, or it has no such value.
    """
    changed = {}
    for key, value in values.items():
        if not key.startswith(PROTOCOL):
            continue
        name = key.removeprefix(PROTOCOL)
        try:
            read = read_setting(name, value)
        except InvalidInput as error:
            raise InvalidInput(error.message, field=key) from None
        if machine.trial_model == "packets" and read not in (DEFAULT, _own(machine, name)):
            changed[name] = read
    return changed


def setting_obstacle(changed: Mapping[str, Scalar], machine: Machine) -> str | None:
    """Says why settings cannot go together, or returns None."""
    if changed.get("exchange") != "full":
        return None
    limit = changed.get("eager_limit", _own(machine, "eager_limit"))
    if isinstance(limit, int) and limit < LEAST_FULL:
        return (
            f"both directions at once need an eager limit of at least {LEAST_FULL} bytes, "
            f"not {limit}: the library sends as much with the announcement of a large message"
        )
    return None


def with_settings(machine: Machine, changed: Mapping[str, Scalar]) -> Machine:
    """The machine with these settings in the place of its own.

    Large messages, which `half` lets go in turn, are those above the eager limit: they follow it.
    """
    if not changed:
        return machine
    assert machine.protocol is not None, "only packets have settings"
    own = machine.protocol
    fields: dict[str, Any] = dict(changed)
    limit = changed.get("eager_limit")
    if isinstance(limit, int):
        follows = own.eager_limit is None or own.exchange_above <= own.eager_limit
        fields["exchange_above"] = limit if follows else max(limit, own.exchange_above)
    return machine.with_protocol(own.model_copy(update=fields))


def _own(machine: Machine, name: str) -> Any:
    """The machine's own value of a setting, where packets evaluate it."""
    return getattr(machine.protocol, name)
