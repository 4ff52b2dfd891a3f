"""The cache of networks that take long to build: built once and kept by their description.

What a family builds depends on its description alone, and on the traffic that it is made for, so a
network that was kept by one job serves every other one that asks for the same.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from searchspace.configuration import sha256_of
from searchspace.graph import Graph
from searchspace.topology import FAMILIES, generate, read_options
from searchspace.traffic import Traffic

__all__ = ["NetworkCache", "generate_once", "network_key"]


class NetworkCache(Protocol):
    """A cache of networks by key; safe for many threads."""

    @property
    def scope(self) -> str:
        """Whose networks they are. Those of others must not be there sooner for their sake."""

    def once(self, key: str, build: Callable[[], Graph]) -> Graph:
        """The network kept under a key; where there is none, what `build` makes is kept there."""


def network_key(
    name: str,
    nodes: int,
    *,
    degree: int | None = None,
    seed: int = 0,
    traffic: Traffic | None = None,
    **options: Any,
) -> str:
    """The SHA-256 of a network's canonical description, with the version of its family.

    Descriptions that mean the same network have the same key: parameters have their one form,
    defaults are left out, and so are a degree, a seed and traffic that the family does not look at.

    Raises:
        InvalidInput: There is no such family or parameter.
    """
    read = read_options(name, options)
    family = FAMILIES[name]
    description: dict[str, Any] = {
        "family": name,
        "version": family.version,
        "nodes": nodes,
        "degree": degree if family.uses_degree else None,
        "seed": seed if family.uses_seed else None,
        "options": read,
    }
    if family.uses_traffic and traffic is not None:
        description["traffic"] = traffic.sha256
    return sha256_of(description)


def generate_once(
    cache: NetworkCache | None,
    name: str,
    nodes: int,
    *,
    degree: int | None = None,
    seed: int = 0,
    traffic: Traffic | None = None,
    **options: Any,
) -> Graph:
    """Builds a network as `generate` does, unless it is kept already.

    Those that take long are kept in `cache`, the last few hundred of all in memory.

    Raises:
        InvalidInput: There is no such family, none of its networks has these numbers, or it is made
            for traffic and there is none.
    """
    if name not in FAMILIES or not FAMILIES[name].uses_traffic:
        traffic = None
    given: dict[str, Any] = {"degree": degree, "seed": seed, **options}
    scope = "" if cache is None else cache.scope
    made_for = None if traffic is None else _MadeFor(traffic.sha256, [traffic])
    build = functools.partial(_generate, scope, name, nodes, made_for, **given)
    if cache is None or name not in FAMILIES or not FAMILIES[name].costly:
        return build()
    return cache.once(network_key(name, nodes, traffic=traffic, **given), build)


@dataclass(frozen=True)
class _MadeFor:
    """The identity of traffic, and itself until the network is built: it may be large."""

    sha256: str
    once: list[Traffic] = field(compare=False)


@functools.lru_cache(maxsize=256)
def _generate(
    scope: str, name: str, nodes: int, made_for: _MadeFor | None, **options: Any
) -> Graph:
    """A network for one of the scopes, each of which builds its own."""
    traffic = None if made_for is None else made_for.once.pop()
    return generate(name, nodes, traffic=traffic, **options)
