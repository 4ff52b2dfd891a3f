"""Messages as POST requests, signed as the Standard Webhooks specification 1.0 has it.

The three headers are `webhook-id`, `webhook-timestamp` and `webhook-signature`, which is `v1,` and
the HMAC-SHA256 of `ID.TIMESTAMP.BODY` in base 64, so that receivers may use its libraries.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import http.client
import re
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv6Address
from urllib.parse import SplitResult, urlsplit

from searchspace.errors import InvalidInput
from service.subscriptions.addresses import Allowed, NotAllowed, resolve
from service.subscriptions.answer import SEND_SECONDS, Answer, failed
from service.subscriptions.deadline import connect, cut_off
from service.version import VERSION

__all__ = ["check_url", "new_secret", "post", "shown", "signature"]

_PREFIX = "whsec_"
_SECRET_BYTES = 32
_LONGEST_URL = 2_000
_LONGEST_NAME = 254  # RFC 1035, section 2.3.4, with the dot of the root
_NAME = re.compile(r"(?:[A-Za-z0-9_-]{1,63}\.)*[A-Za-z0-9_-]{1,63}\.?")
_MOST_READ = 64 * 1024  # of an answer, which is then dropped
_GONE = 410  # the receiver wants no more


def new_secret() -> str:
    """A secret to sign with."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def signature(secret: str, identifier: str, timestamp: int, body: bytes) -> str:
    """The signature of a message, as its header has it."""
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    signed = f"{identifier}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def check_url(url: str, allowed: Allowed) -> None:
    """Refuse a URL that nothing would be sent to; where its name leads is seen when it is.

    Raises:
        InvalidInput: What is wrong with it.
    """
    if len(url) > _LONGEST_URL or not all("!" <= letter <= "~" for letter in url):
        raise InvalidInput(
            f"a URL has up to {_LONGEST_URL} characters of ASCII, and no spaces", field="target"
        )
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname
        if host and "[" in parts.netloc:
            IPv6Address(host)
    except ValueError:
        raise InvalidInput("this is no URL", field="target") from None
    if parts.scheme not in ("https", "http") or not host or port == 0:
        raise InvalidInput("use a URL such as https://example.org/hook", field="target")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise InvalidInput(
            "leave user, password and fragment out of the URL; messages are signed", field="target"
        )
    if "[" not in parts.netloc and (len(host) > _LONGEST_NAME or not _NAME.fullmatch(host)):
        raise InvalidInput("the URL's host is no name, such as example.org", field="target")
    if parts.scheme == "http" and not allowed.names(host):
        raise InvalidInput(
            "use https; http is for hosts that the operator of the service allows", field="target"
        )


def shown(url: str) -> str:
    """A URL without its path, which for many receivers is a secret."""
    parts = urlsplit(url)
    hidden = "/..." if parts.path.strip("/") or parts.query else ""
    return f"{parts.scheme}://{parts.netloc}{hidden}"


def post(url: str, secret: str, identifier: str, body: bytes, allowed: Allowed) -> Answer:
    """Send a message and tell what came of it; redirects are not followed.

    Args:
        url: Of the receiver, accepted by `check_url`.
        secret: To sign with.
        identifier: By which the receiver knows a message that comes twice.
        body: JSON.
        allowed: Where it may go.
    """
    parts = urlsplit(url)
    now = int(time.time())
    headers = {
        "Host": parts.netloc,
        "Content-Type": "application/json",
        "User-Agent": f"Hamtune/{VERSION}",
        "webhook-id": identifier,
        "webhook-timestamp": str(now),
        "webhook-signature": signature(secret, identifier, now, body),
        "Connection": "close",
    }
    path = parts.path or "/"
    try:
        with _connected(parts, allowed) as (connection, over):
            connection.request(
                "POST", f"{path}?{parts.query}" if parts.query else path, body, headers
            )
            response = connection.getresponse()
            if over.is_set():
                raise TimeoutError  # its headers ended only because it was cut off
            return _judged(response)
    except (NotAllowed, OSError, http.client.HTTPException, ValueError) as error:
        return failed(_reason(error), final=isinstance(error, NotAllowed))


def _reason(error: Exception) -> str:
    """Why a message was not answered, in words for the subscriber."""
    match error:
        case NotAllowed():
            why = str(error)
        case TimeoutError():
            why = f"no answer within {SEND_SECONDS:.0f} s"
        case socket.gaierror():
            why = "there is no host of this name"
        case ssl.SSLCertVerificationError():
            why = f"no TLS connection: {error.verify_message}"
        case ssl.SSLError():
            why = "no TLS connection"
        case ConnectionResetError() | BrokenPipeError():
            why = "the connection was closed without an answer"
        case OSError():
            why = f"no connection: {error.strerror or 'it broke'}".lower()
        case _:
            why = "the answer is no HTTP"
    return why


def _judged(response: http.client.HTTPResponse) -> Answer:
    with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
        response.read(_MOST_READ)  # the receiver ends undisturbed, unless it goes on and on
    said = f"answered {response.status}"
    if 200 <= response.status < 300:
        return Answer(True, said)
    if 300 <= response.status < 400:
        said += "; redirects are not followed"
    return failed(said, final=response.status == _GONE)


@contextmanager
def _connected(
    parts: SplitResult, allowed: Allowed
) -> Iterator[tuple[http.client.HTTPConnection, threading.Event]]:
    """A connection to the first address that takes one; it is cut off when the time is over."""
    assert parts.hostname is not None, "it was checked"
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    until = time.monotonic() + SEND_SECONDS
    plain = connect(resolve(parts.hostname, port, allowed), until)
    with plain, cut_off(plain, until) as over:
        connection = http.client.HTTPConnection(parts.hostname, port)
        try:
            connection.sock = (
                ssl.create_default_context().wrap_socket(plain, server_hostname=parts.hostname)
                if secure
                else plain
            )
            yield connection, over
        except (OSError, http.client.HTTPException, ValueError):
            if over.is_set():
                raise TimeoutError from None
            raise
        finally:
            connection.close()
