"""Receivers of messages that speak HTTP and SMTP over real sockets, and keep what they got."""

from __future__ import annotations

import json
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SECONDS = 60.0


@dataclass(frozen=True)
class Request:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> Any:
        """Its body as JSON."""
        return json.loads(self.body)


@dataclass
class Hook:
    """A receiver of webhooks.

    Attributes:
        answers: Statuses of the next answers; 204 when there is none left.
        headers: What all answers have.
        gate: No request is answered before it is set.
    """

    url: str = ""
    answers: list[int] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)
    news: threading.Condition = field(default_factory=threading.Condition)

    def wait_for(self, count: int) -> list[Request]:
        """The requests, once there are so many."""
        with self.news:
            assert self.news.wait_for(lambda: len(self.requests) >= count, SECONDS), self.requests
            return list(self.requests)


@contextmanager
def hook(context: ssl.SSLContext | None = None) -> Iterator[Hook]:
    """A receiver of webhooks on a free port of the loopback address."""
    kept = Hook()
    kept.gate.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            with kept.news:
                kept.requests.append(Request(self.path, headers, body))
                status = kept.answers.pop(0) if kept.answers else 204
                kept.news.notify_all()
            kept.gate.wait(SECONDS)
            self.send_response(status)
            for name, value in kept.headers.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Tests say themselves what came."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    scheme, host = ("http", "127.0.0.1") if context is None else ("https", "localhost")
    kept.url = f"{scheme}://{host}:{server.server_address[1]}/hook?team=7"
    with _serving(server):
        yield kept


@dataclass
class Mailbox:
    """A mail server.

    Attributes:
        port: Where it listens.
        greeting: What it says first.
        refusals: Answers to the next receivers that are named, such as `451 later`.
        refused: Answers to verbs that are not done, such as `{"DATA": "554 no"}`.
        mails: What came: receivers and mail.
    """

    port: int = 0
    greeting: str = "220 tests ready"
    refusals: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    mails: list[tuple[list[str], Message]] = field(default_factory=list)
    news: threading.Condition = field(default_factory=threading.Condition)

    def wait_for(self, count: int) -> list[tuple[list[str], Message]]:
        """The mails, once there are so many."""
        with self.news:
            assert self.news.wait_for(lambda: len(self.mails) >= count, SECONDS), self.mails
            return list(self.mails)


@contextmanager
def mailbox(
    context: ssl.SSLContext | None = None, *, tls_at_once: bool = False
) -> Iterator[Mailbox]:
    """A mail server (RFC 5321) on a free port; with a context it offers STARTTLS (RFC 3207), or
    speaks TLS from the start (RFC 8314)."""
    kept = Mailbox()

    class Handler(socketserver.StreamRequestHandler):
        to: list[str]

        def handle(self) -> None:
            self.to = []
            self.say(kept.greeting)
            while line := self.rfile.readline():
                words = line.decode("ascii").strip()
                verb = words.split(" ")[0].split(":")[0].upper()
                answer = _VERBS.get(verb)
                if verb in kept.refused:
                    self.say(kept.refused[verb])
                elif answer is None:
                    self.say("502 unknown")
                elif not answer(self, words):
                    return

        def say(self, line: str) -> None:
            self.wfile.write(line.encode() + b"\r\n")

        def hello(self, _words: str) -> bool:
            secure = isinstance(self.request, ssl.SSLSocket)
            if context is not None and not secure:
                self.say("250-tests")
                self.say("250 STARTTLS")
            else:
                self.say("250-tests")
                self.say("250 AUTH PLAIN")
            return True

        def begin_tls(self, _words: str) -> bool:
            assert context is not None
            self.say("220 go on")
            try:
                self.request = context.wrap_socket(self.request, server_side=True)
            except ssl.SSLError:  # whoever called does not trust the certificate
                return False
            self.setup()
            return True

        def begin(self, _words: str) -> bool:
            self.to = []
            self.say("250 ok")
            return True

        def receiver(self, words: str) -> bool:
            if kept.refusals:
                self.say(kept.refusals.pop(0))
            else:
                self.to.append(words.partition("<")[2].partition(">")[0])
                self.say("250 ok")
            return True

        def data(self, _words: str) -> bool:
            self.say("354 go on")
            lines = []
            while (line := self.rfile.readline()) != b".\r\n":
                lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
            mail = message_from_bytes(b"".join(lines), policy=default)
            with kept.news:
                kept.mails.append((self.to, mail))
                kept.news.notify_all()
            self.say("250 taken")
            return True

        def end(self, _words: str) -> bool:
            self.say("221 bye")
            return False

    _VERBS: dict[str, Callable[[Handler, str], bool]] = {
        "EHLO": Handler.hello,
        "HELO": Handler.hello,
        "STARTTLS": Handler.begin_tls,
        "MAIL": Handler.begin,
        "RCPT": Handler.receiver,
        "DATA": Handler.data,
        "RSET": Handler.begin,
        "QUIT": Handler.end,
    }

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    if tls_at_once:
        assert context is not None
        server.socket = context.wrap_socket(server.socket, server_side=True)
    kept.port = server.server_address[1]
    with _serving(server):
        yield kept


@contextmanager
def _serving(server: socketserver.BaseServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
