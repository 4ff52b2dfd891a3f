"""Where the service may listen."""

from __future__ import annotations

import socket
from ipaddress import ip_address

from searchspace.errors import InvalidInput

__all__ = ["LOOPBACK_NAMES", "check_host"]

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


def check_host(host: str) -> None:
    """Refuse addresses that other machines can reach: the service asks nobody for a key.

    Raises:
        InvalidInput: The host is unknown or has an address that is not loopback.
    """
    try:
        found = socket.getaddrinfo(
            host or None, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except OSError as error:
        raise InvalidInput(
            f"{host!r} is not an address of this machine ({error.strerror})", field="host"
        ) from None
    for address in sorted({str(entry[4][0]) for entry in found}):
        if not ip_address(address.partition("%")[0]).is_loopback:
            raise InvalidInput(
                f"{address} can be reached by other machines, and the service has no "
                "authentication yet; use 127.0.0.1, and a tunnel to reach it from elsewhere",
                field="host",
            )
