"""Messages as e-mail, handed to the operator's mail server."""

from __future__ import annotations

import contextlib
import smtplib
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.errors import MessageError
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate

from searchspace.errors import InvalidInput
from service.subscriptions.answer import SEND_SECONDS, Answer, failed
from service.subscriptions.deadline import connect, cut_off
from service.subscriptions.settings import ADDRESS, MailServer

__all__ = ["check_address", "compose", "send"]

_LONGEST_ADDRESS = 254  # RFC 5321, section 4.5.3.1.3
_LONGEST_SUBJECT = 200


def check_address(address: str, server: MailServer | None) -> None:
    """Refuse an address that no mail would be sent to.

    Raises:
        InvalidInput: What is wrong with it.
    """
    found = ADDRESS.fullmatch(address)
    if found is None or len(address) > _LONGEST_ADDRESS:
        raise InvalidInput(
            "use a URL such as https://example.org/hook, or one address such as ada@example.org",
            field="target",
        )
    if server is None:
        raise InvalidInput(
            "this service sends no e-mail: its operator has not set HAMTUNE_SMTP_URL; "
            "use a webhook's URL",
            field="target",
        )
    domain = found["domain"].lower()
    if server.domains is not None and domain not in server.domains:
        raise InvalidInput(
            f"this service sends e-mail to {', '.join(server.domains)} only", field="target"
        )


def compose(server: MailServer, to: str, identifier: str, subject: str, text: str) -> EmailMessage:
    """A mail. What users have written into the subject cannot begin a header.

    Args:
        server: It says who it is from.
        to: The receiver.
        identifier: Of the delivery; mail that comes twice has the same `Message-ID`.
        subject: One line of it is left.
        text: The body.
    """
    plain = "".join(letter if letter.isprintable() else " " for letter in subject)
    # An encoded word (RFC 2047) is decoded where a header is set, to ends of lines as well.
    plain = plain.replace("=?", "= ?")
    mail = EmailMessage(policy=SMTP)
    mail["From"] = server.sender
    mail["To"] = to
    mail["Subject"] = plain[:_LONGEST_SUBJECT]
    mail["Date"] = formatdate(usegmt=True)
    mail["Message-ID"] = f"<{identifier}@{server.sender.rpartition('@')[2]}>"
    mail["Auto-Submitted"] = "auto-generated"  # RFC 3834: no answers of robots
    mail.set_content(text)
    return mail


def send(server: MailServer, to: str, identifier: str, subject: str, text: str) -> Answer:
    """Hand a mail over, to one receiver, and tell what came of it.

    Args:
        server: Who takes it.
        to: The receiver, accepted by `check_address`.
        identifier: Of the delivery.
        subject: See `compose`.
        text: The body.
    """
    try:
        mail = compose(server, to, identifier, subject, text)
        with _connected(server) as connection:
            connection.send_message(mail, from_addr=server.sender, to_addrs=[to])
    except (OSError, smtplib.SMTPException) as error:  # some are ValueErrors as well
        return _judged(error)
    except (MessageError, ValueError):
        return failed("it cannot be written as a mail", final=True)
    return Answer(True, "the mail server took it")


def _judged(error: Exception) -> Answer:
    final = False
    match error:
        case smtplib.SMTPRecipientsRefused():
            code, words = next(iter(error.recipients.values()))
            why, final = _refusal(code, words), _for_good(code)
        case smtplib.SMTPDataError():
            why, final = _refusal(error.smtp_code, error.smtp_error), _for_good(error.smtp_code)
        case smtplib.SMTPResponseException():
            # Of the greeting, the login or the sender: it is the operator who can mend it.
            why = _refusal(error.smtp_code, error.smtp_error)
        case smtplib.SMTPNotSupportedError():
            why = "the mail server offers no STARTTLS, or takes no password"
        case TimeoutError():
            why = f"the mail server did not answer within {SEND_SECONDS:.0f} s"
        case ssl.SSLError():
            why = f"no TLS connection to the mail server: {error.reason}"
        case _:
            why_not = getattr(error, "strerror", None) or "it broke"
            why = f"no connection to the mail server: {why_not}".lower()
    return failed(why, final=final)


def _refusal(code: int, words: bytes | str) -> str:
    return f"the mail server refused it: {code} {_text(words)}"


def _for_good(code: int) -> bool:
    return 500 <= code < 600


def _text(words: bytes | str) -> str:
    return words.decode(errors="replace") if isinstance(words, bytes) else words


class _Connection(smtplib.SMTP):
    """Speaks over a socket that is open already.

    Args:
        opened: The socket.
        server: What is at its other end.
    """

    def __init__(self, opened: socket.socket, server: MailServer) -> None:
        self._opened = opened
        # Its own name is not looked up, which may take long.
        super().__init__(server.host, server.port, socket.gethostname())

    def _get_socket(self, *_: object) -> socket.socket:
        return self._opened


@contextmanager
def _connected(server: MailServer) -> Iterator[smtplib.SMTP]:
    """A connection that takes mail; it is cut off when the time is over."""
    until = time.monotonic() + SEND_SECONDS
    context = ssl.create_default_context()
    plain = connect(_addresses(server), until)
    with plain, cut_off(plain, until) as over:
        try:
            opened = (
                context.wrap_socket(plain, server_hostname=server.host)
                if server.scheme == "smtps"
                else plain
            )
            with contextlib.closing(_Connection(opened, server)) as connection:
                if server.scheme == "smtp":
                    connection.starttls(context=context)
                if server.user is not None:
                    connection.login(server.user, server.password or "")
                yield connection
                # What was taken is taken, however the server parts.
                with contextlib.suppress(OSError, smtplib.SMTPException):
                    connection.quit()
        except (OSError, smtplib.SMTPException):
            if over.is_set() or time.monotonic() >= until:
                raise TimeoutError from None
            raise


def _addresses(server: MailServer) -> Iterator[tuple[int, tuple[str, int]]]:
    try:
        found = socket.getaddrinfo(
            server.host, server.port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
        )
    except UnicodeError:  # a part of the name is empty or too long
        raise socket.gaierror(socket.EAI_NONAME, "there is no host of this name") from None
    for family, _, _, _, where in found:
        yield family, (str(where[0]), server.port)
