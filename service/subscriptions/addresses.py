"""Which addresses a webhook may lead to: users write the URLs, and the service stands inside.

Server-side request forgery is what this is against: a URL that leads to the service's own host, to
its neighbours, or to the metadata of its cloud. Names are looked up once, and the connection goes
to the address that was checked, so that a name which changes meanwhile gains nothing.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

from searchspace.errors import InvalidInput

__all__ = ["Allowed", "NotAllowed", "is_public", "resolve"]

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_GLOBAL_UNICAST = IPv6Network("2000::/3")
_TRANSLATED = IPv6Network("64:ff9b::/96")  # RFC 6052: the last 32 bits are an address of IPv4
_NEVER = (
    IPv6Network("2001::/23"),  # Teredo and other assignments of the IETF
    IPv6Network("2001:db8::/32"),
    IPv6Network("2002::/16"),  # 6to4
    IPv6Network("3fff::/20"),
    IPv4Network("192.0.0.0/24"),
    IPv4Network("192.88.99.0/24"),
)


class NotAllowed(Exception):
    """An address or a scheme that this service does not send to; the message is for users."""


def is_public(address: Address) -> bool:
    """Whether an address belongs to the public Internet, whatever form it is written in."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address in _TRANSLATED:
            return is_public(IPv4Address(int(address) & 0xFFFFFFFF))
        if address not in _GLOBAL_UNICAST:
            return False
    if any(address in network for network in _NEVER if network.version == address.version):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


@dataclass(frozen=True)
class Allowed:
    """What the operator allows beside public addresses.

    Attributes:
        hosts: Names, in lower case, that may lead anywhere.
        networks: Addresses that any name may lead to.
    """

    hosts: frozenset[str] = frozenset()
    networks: tuple[Network, ...] = ()

    @classmethod
    def parse(cls, text: str, *, field: str) -> Allowed:
        """Read names, addresses and networks, separated by commas.

        Raises:
            InvalidInput: One is none of these.
        """
        hosts, networks = set(), []
        for word in filter(None, (part.strip() for part in text.split(","))):
            try:
                networks.append(ip_network(word))
            except ValueError as error:
                name = word.lower()
                if "/" in word or not all(letter.isalnum() or letter in "-." for letter in name):
                    raise InvalidInput(
                        f"{word!r} is no host, address or network such as 10.1.0.0/16 ({error})",
                        field=field,
                    ) from None
                hosts.add(name)
        return cls(frozenset(hosts), tuple(networks))

    def names(self, host: str) -> bool:
        """Whether a host, as a URL writes it, is allowed by its name or as an address."""
        if host.lower() in self.hosts:
            return True
        try:
            return self._has(ip_address(host))
        except ValueError:
            return False

    def admits(self, host: str, address: Address) -> bool:
        """Whether a connection to an address is allowed that a host stands for."""
        return host.lower() in self.hosts or is_public(address) or self._has(address)

    def _has(self, address: Address) -> bool:
        plain = address.ipv4_mapped if isinstance(address, IPv6Address) else None
        found = address if plain is None else plain
        return any(found in one for one in self.networks if one.version == found.version)


def resolve(host: str, port: int, allowed: Allowed) -> Iterator[tuple[int, tuple[str, int]]]:
    """The addresses of a host that may be connected to, as family and address of a socket.

    Raises:
        NotAllowed: It has addresses, and may be connected to at none of them.
        OSError: It has none.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    except UnicodeError:  # a part of the name is empty or too long
        raise socket.gaierror from None
    any_of_them = False
    for family, _, _, _, where in found:
        text = str(where[0]).partition("%")[0]
        if allowed.admits(host, ip_address(text)):
            any_of_them = True
            yield family, (text, port)
    if not any_of_them:
        raise NotAllowed(
            "the host is at no public address; the operator of the service may allow others"
        )
