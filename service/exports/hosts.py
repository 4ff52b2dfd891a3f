"""The names and GUIDs that a user's hosts and switches have, as told by files of the user."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from searchspace.errors import InvalidInput
from searchspace.formats.host_list import count_names, expand
from searchspace.formats.ib_discover import Guids, read_ib_discover, read_ib_guids, read_ib_ports
from searchspace.machine import Machine

__all__ = ["Device", "host_names", "is_host_name", "known_devices", "known_ports"]

_T = TypeVar("_T")

# What may stand in a file of any tool, and in a command line, without quotes.
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?")


@dataclass(frozen=True)
class Device:
    """What a fabric calls a host or a switch."""

    name: str
    guids: Guids


def is_host_name(name: str) -> bool:
    """Whether files of every tool, and command lines, take a name without quotes."""
    return _NAME.fullmatch(name) is not None


def host_names(text: str, machine: Machine) -> tuple[str, ...]:
    """Reads the names of the machine's hosts: one a line, or lists as `n[01-64]`; `#` comments.

    Line k names the host that the machine counts as number k.

    Raises:
        InvalidInput: There are too few or too many, one stands twice or is no host name, or they
            are the machine's own names in another order.
    """
    # Counted before any is written out: a short list can stand for very many.
    count = sum(_read(count_names, number, word) for number, word in _words(text))
    seen: dict[str, int] = {}
    if count <= machine.nodes:
        for number, word in _words(text):
            for name in _read(expand, number, word):
                _check_name(name, number, seen)
                seen[name] = number
    if count != machine.nodes:
        raise InvalidInput(
            f"the list names {count} hosts; the machine has {machine.nodes}, name each once",
            field="hosts",
        )
    names = tuple(seen)
    own = machine.host_names
    if names != own and set(names) == set(own):
        raise InvalidInput(
            "the list has the machine's own hosts in another order; leave it away, since the job "
            "knows its hosts by name",
            field="hosts",
        )
    return names


def _words(text: str) -> Iterator[tuple[int, str]]:
    """Yields each list with the number of its line."""
    for number, line in enumerate(text.splitlines(), start=1):
        for word in line.partition("#")[0].split():
            yield number, word


def _read(read: Callable[[str], _T], number: int, word: str) -> _T:
    try:
        return read(word)
    except InvalidInput as error:
        raise InvalidInput(f"line {number}: {error.message}", field="hosts") from None


def _check_name(name: str, number: int, seen: Mapping[str, int]) -> None:
    if not is_host_name(name):
        raise InvalidInput(f"line {number}: {name[:60]!r} is not a host name", field="hosts")
    if name in seen:
        raise InvalidInput(
            f"line {number}: {name} stands on line {seen[name]} already", field="hosts"
        )


def known_devices(text: str, machine: Machine) -> Mapping[int, Device]:
    """Reads the machine's devices from the output of `ibnetdiscover`.

    Returns:
        Them by the machine's numbers: hosts, then switches.

    Raises:
        InvalidInput: It cannot be read, or is not the network of the machine.
    """
    try:
        fabric, guids = read_ib_discover(text), read_ib_guids(text)
    except InvalidInput as error:
        raise InvalidInput(error.message, field="fabric") from None
    if fabric.graph != machine.given_network or fabric.host_names != machine.host_names:
        raise InvalidInput(
            "this is not the network that the job's machine was imported from; import it with "
            "'hamtune topology convert' and tune on it",
            field="fabric",
        )
    return {node: Device(name, guids[name]) for node, name in enumerate(fabric.names)}


def known_ports(
    text: str, devices: Mapping[int, Device]
) -> Mapping[tuple[int, int], list[tuple[str, str]]]:
    """Where a fabric's cables are plugged in, by the pair of nodes that they join, lower one first.

    Args:
        text: Output of `ibnetdiscover`, out of which `known_devices` has read.
        devices: By the numbers of nodes that are wanted.
    """
    node_of = {device.name: node for node, device in devices.items()}
    ports: dict[tuple[int, int], list[tuple[str, str]]] = {}
    for one, other in read_ib_ports(text):
        (u, at_u), (v, at_v) = sorted((node_of[name], port) for name, port in (one, other))
        ports.setdefault((u, v), []).append((at_u, at_v))
    return {pair: sorted(at, key=_port_order) for pair, at in ports.items()}


def _port_order(ends: tuple[str, str]) -> list[tuple[str, int]]:
    return [(adapter, int(number)) for adapter, _, number in (end.rpartition("/") for end in ends)]
