"""Slurm's `topology.conf`: a tree of switches with the nodes below them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from searchspace.errors import InvalidInput
from searchspace.formats.fabric import Fabric, build_fabric
from searchspace.formats.host_list import MOST_NAMES, expand

__all__ = ["read_slurm_topology"]

_KEYS = {"switchname", "nodes", "switches", "linkspeed", "comment"}
# Matched where the pair before it ends: a search begins at every letter of a long word.
_PAIR = re.compile(r'(\w+)=("[^"]*"|\S+)\s*')


def read_slurm_topology(text: str) -> Fabric:
    """Reads the tree: `SwitchName=s0 Nodes=n[0-7]`, `SwitchName=top Switches=s[0-3]`.

    Raises:
        InvalidInput: A line is not of a tree or has an empty list, a switch is not described or
            stands twice, a node or switch hangs below two others, or there are more of them than
            a list may name; names the line.
    """
    tree = _Tree()
    for number, line in _lines(text):
        fields = _fields(number, line)
        name = fields.get("switchname")
        if name is None:
            raise InvalidInput(f"line {number} is not 'SwitchName=... Nodes=...': {line[:60]!r}")
        if ("nodes" in fields) == ("switches" in fields):
            raise InvalidInput(f"line {number}: a switch has either Nodes= or Switches=")
        for switch in _expanded(number, name):
            tree.add(number, switch, fields)
    tree.check()
    return build_fabric(tree.hosts, list(tree.switches), tree.parent.items())


class _Tree:
    """What the lines read so far say."""

    def __init__(self) -> None:
        self.hosts: list[str] = []
        self.switches: dict[str, int] = {}  # and their lines
        self.parent: dict[str, str] = {}
        self._wanted: dict[str, int] = {}  # switches that a line names below another

    def add(self, number: int, switch: str, fields: dict[str, str]) -> None:
        if switch in self.switches:
            first = self.switches[switch]
            raise InvalidInput(f"line {number} describes the switch {switch} of line {first} again")
        self.switches[switch] = number
        for below in _expanded(number, fields.get("nodes", fields.get("switches", ""))):
            if below in self.parent:
                raise InvalidInput(
                    f"line {number} puts {below} below {switch}; it is below {self.parent[below]}"
                )
            self.parent[below] = switch
            if len(self.parent) > MOST_NAMES:
                raise InvalidInput(
                    f"line {number}: more than {MOST_NAMES} nodes and switches are below others, "
                    "the most that can be read"
                )
            if "nodes" in fields:
                self.hosts.append(below)
            else:
                self._wanted[below] = number

    def check(self) -> None:
        for switch, number in self._wanted.items():
            if switch not in self.switches:
                raise InvalidInput(
                    f"line {number} names the switch {switch}, which is not described"
                )
        for host in self.hosts:
            if host in self.switches:
                raise InvalidInput(f"line {self.switches[host]}: {host} is a node and a switch")
        if not self.switches:
            raise InvalidInput("the file describes no switch")


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yields lines with their number; a backslash at the end joins the next one."""
    parts: list[str] = []
    first = 0
    for number, line in enumerate((*text.splitlines(), ""), start=1):
        line = line.partition("#")[0].rstrip()
        first = first if parts else number
        if line.endswith("\\"):
            parts.append(line[:-1])
            continue
        joined = " ".join((*parts, line)).strip()
        if joined:
            yield first, joined
        parts = []


def _fields(number: int, line: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    at = 0
    while at < len(line):
        pair = _PAIR.match(line, at)
        if pair is None or pair[1].lower() not in _KEYS:
            raise InvalidInput(
                f"line {number} is not known: {line[:60]!r}; a tree has SwitchName=, Nodes=, "
                f"Switches=, LinkSpeed="
            )
        fields[pair[1].lower()] = pair[2].strip('"')
        at = pair.end()
    return fields


def _expanded(number: int, names: str) -> list[str]:
    try:
        expanded = expand(names)
    except InvalidInput as error:
        raise InvalidInput(f"line {number}: {error}") from None
    if not expanded:
        raise InvalidInput(
            f"line {number} has an empty list; name what is in it, or take the line away"
        )
    return expanded
