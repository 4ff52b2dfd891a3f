"""The settings of the transport of a result, and what libraries and other formats make of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from searchspace.collectives.equivalents import Equivalent, Target
from searchspace.configuration import Configuration, Scalar
from searchspace.transport import PROTOCOL, changed_settings
from service.exports.result import Result

__all__ = [
    "TransportChoice",
    "own_settings",
    "settings_lines",
    "transport_choices",
    "transport_settings",
    "unsaid_lines",
    "without_unknown",
]


@dataclass(frozen=True)
class TransportChoice:
    """A setting of the transport that is not the machine's own.

    Attributes:
        name: The field of the protocol.
        value: What was simulated.
        offered: What the library has for it.
    """

    name: str
    value: Scalar
    offered: Equivalent

    @property
    def line(self) -> str:
        """The choice in one line."""
        offered = self.offered
        said = f" {offered.algorithm}" if offered.algorithm else ""
        return f"{PROTOCOL}{self.name} = {self.value}: {offered.kind}{said} ({offered.note})"


def transport_choices(result: Result, target: Target) -> list[TransportChoice]:
    """What a library offers for each setting of the transport."""
    return [
        TransportChoice(name, value, target.setting(name, value))
        for name, value in _changed(result).items()
    ]


def transport_settings(result: Result, target: Target) -> dict[str, str]:
    """What is set in a library for them."""
    settings: dict[str, str] = {}
    for choice in transport_choices(result, target):
        settings |= choice.offered.settings or {}
    return settings


def own_settings(result: Result, target: Target) -> dict[str, str]:
    """What is set for the machine's own values instead, where that can be told."""
    own: dict[str, str] = {}
    for choice in transport_choices(result, target):
        value = getattr(result.machine.protocol, choice.name)
        if choice.offered.settings and value is not None:
            own |= target.setting(choice.name, value).settings or {}
    return own


def settings_lines(result: Result, target: Target) -> list[str]:
    """The settings as lines for people."""
    return [choice.line for choice in transport_choices(result, target)]


def unsaid_lines(result: Result, why: str) -> list[str]:
    """What a format that has no settings of the transport says of them; `why` ends the sentence."""
    changed = _changed(result)
    if not changed:
        return []
    named = ", ".join(f"{PROTOCOL}{name} = {value}" for name, value in changed.items())
    return [f"Not in these files: {named}.", why]


def without_unknown(
    configuration: Configuration, choices: Iterable[TransportChoice]
) -> Configuration:
    """A configuration without the settings that a library cannot be told of."""
    missing = {PROTOCOL + choice.name for choice in choices if choice.offered.kind == "none"}
    return Configuration({n: v for n, v in configuration.items() if n not in missing})


def _changed(result: Result) -> dict[str, Scalar]:
    return changed_settings(result.configuration, result.machine)
