"""Where the service may listen."""

from __future__ import annotations

import socket
from ipaddress import ip_address

from searchspace.errors import InvalidInput

__all__ = ["LOOPBACK_NAMES", "check_host"]

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


def check_host(host: str, *, authenticates: bool = False) -> None:
    """Refuse addresses that other machines can reach where nobody is asked for a key.

    Args:
        host: To listen on.
        authenticates: Whether the service asks who is there.

    Raises:
        InvalidInput: The host is unknown, or has an address that is not loopback and anybody
            who comes would be let in.
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
        if not authenticates and not ip_address(address.partition("%")[0]).is_loopback:
            raise InvalidInput(
                f"{address} can be reached by other machines, and the service runs without "
                "authentication; make a key with 'hamtune keys create' and set HAMTUNE_AUTH=keys, "
                "or use 127.0.0.1",
                field="host",
            )
