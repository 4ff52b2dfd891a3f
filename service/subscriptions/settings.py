"""What the operator says of messages: where they may go, and through which mail server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from searchspace.errors import InvalidInput
from searchspace.units import parse_duration
from service.subscriptions.addresses import Allowed

__all__ = ["ADDRESS", "MailServer", "NotifySettings"]

ADDRESS = re.compile(
    r"(?![^@]*=\?)"  # begins an encoded word (RFC 2047), which would be decoded to anything
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@"
    r"(?P<domain>[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
    r"(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*)"
)
"""An e-mail address, as HTML's forms take it: no spaces, quotes, commas, ends of lines or encoded
words."""

DEFAULT_TRIES = 15
DEFAULT_RETRY_SECONDS = 10.0
_PORTS = {"smtp": 587, "smtps": 465, "smtp+plain": 25}


@dataclass(frozen=True, kw_only=True)
class MailServer:
    """The server that mail is handed to.

    Attributes:
        scheme: `smtp` demands STARTTLS, `smtps` is TLS from the start, `smtp+plain` is neither.
        sender: The address that mail is from.
        domains: Domains that mail may go to; None for any.
    """

    scheme: str
    host: str
    port: int
    user: str | None
    password: str | None = field(repr=False)
    sender: str
    domains: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class NotifySettings:
    """How messages about jobs are sent.

    Attributes:
        allowed: Where webhooks may lead beside public addresses.
        mail: The mail server; None where no e-mail is sent.
        tries: How often a message is tried.
        retry_seconds: The pause after the first failure; it doubles with each.
    """

    allowed: Allowed = field(default_factory=Allowed)
    mail: MailServer | None = None
    tries: int = DEFAULT_TRIES
    retry_seconds: float = DEFAULT_RETRY_SECONDS

    @classmethod
    def from_environment(cls, values: Mapping[str, str]) -> NotifySettings:
        """Read `HAMTUNE_NOTIFY_*`, `HAMTUNE_SMTP_URL`, `HAMTUNE_MAIL_FROM`, `HAMTUNE_MAIL_TO`.

        Raises:
            InvalidInput: One holds something unusable; the message names it.
        """
        return cls(
            allowed=Allowed.parse(
                values.get("HAMTUNE_NOTIFY_ALLOW", ""), field="HAMTUNE_NOTIFY_ALLOW"
            ),
            mail=_mail(values),
            tries=_tries(values.get("HAMTUNE_NOTIFY_TRIES", "")),
            retry_seconds=_retry(values.get("HAMTUNE_NOTIFY_RETRY", "")),
        )


def _mail(values: Mapping[str, str]) -> MailServer | None:
    url = values.get("HAMTUNE_SMTP_URL")
    if not url:
        return None
    form = "use smtp://USER:PASSWORD@HOST:PORT, smtps://... or smtp+plain://HOST:PORT"
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        parts, port = urlsplit(""), 0
    if not port or not parts.hostname or parts.path.strip("/") or parts.query:
        # The URL may hold a password, and is not shown.
        raise InvalidInput(f"this is no URL of a mail server; {form}", field="HAMTUNE_SMTP_URL")
    if parts.scheme == "smtp+plain" and parts.password:
        raise InvalidInput(
            "smtp+plain would send the password unencrypted; use smtp or smtps",
            field="HAMTUNE_SMTP_URL",
        )
    sender = values.get("HAMTUNE_MAIL_FROM", "")
    if not ADDRESS.fullmatch(sender):
        raise InvalidInput(
            f"{sender!r} is no address; set it to the one that mail is to come from",
            field="HAMTUNE_MAIL_FROM",
        )
    domains = [name.strip().lower() for name in values.get("HAMTUNE_MAIL_TO", "").split(",")]
    return MailServer(
        scheme=parts.scheme,
        host=parts.hostname,
        port=port,
        user=None if parts.username is None else unquote(parts.username),
        password=None if parts.password is None else unquote(parts.password),
        sender=sender,
        domains=tuple(filter(None, domains)) or None,
    )


def _tries(text: str) -> int:
    if not text:
        return DEFAULT_TRIES
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 100):
        raise InvalidInput(f"{text!r} is not a number from 1 to 100", field="HAMTUNE_NOTIFY_TRIES")
    return int(text)


def _retry(text: str) -> float:
    if not text:
        return DEFAULT_RETRY_SECONDS
    try:
        seconds = parse_duration(text)
    except InvalidInput as error:
        raise InvalidInput(error.message, field="HAMTUNE_NOTIFY_RETRY") from error
    if seconds <= 0:
        raise InvalidInput(
            f"{text!r} is not a time above zero, such as 10s", field="HAMTUNE_NOTIFY_RETRY"
        )
    return seconds
