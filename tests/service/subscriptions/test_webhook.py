"""Webhooks at a real receiver: signed, cut off when they take too long, and never led astray."""

from __future__ import annotations

import base64
import hashlib
import hmac
import socket
import ssl
import struct
import threading
from collections.abc import Callable

import pytest

from searchspace.errors import InvalidInput
from service.subscriptions import webhook
from service.subscriptions.addresses import Allowed
from service.subscriptions.webhook import check_url, new_secret, post, shown, signature
from tests.service.subscriptions.receivers import Hook, hook

HERE = Allowed.parse("127.0.0.1", field="F")
BY_NAME = Allowed.parse("localhost", field="F")


def test_the_receiver_can_check_who_sent_it(receiver: Hook) -> None:
    secret = new_secret()
    assert post(receiver.url, secret, "0k3v", b'{"event": "test"}', HERE) == (
        True, "answered 204", False,
    )  # fmt: skip
    (request,) = receiver.requests
    assert request.path == "/hook?team=7"
    assert request.message == {"event": "test"}
    assert request.headers["content-type"] == "application/json"
    assert request.headers["webhook-id"] == "0k3v"
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = b"0k3v." + request.headers["webhook-timestamp"].encode() + b"." + request.body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert request.headers["webhook-signature"] == f"v1,{expected}"


def test_the_signature_is_that_of_the_specification() -> None:
    # The example of the specification of Standard Webhooks.
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    body = b'{"test": 2432232314}'
    made = signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_redirects_are_not_followed(receiver: Hook) -> None:
    with hook() as other:
        receiver.answers = [302, 307]
        receiver.headers = {"Location": other.url}
        for status in (302, 307):
            answer = post(receiver.url, new_secret(), "1", b"{}", HERE)
            assert answer == (False, f"answered {status}; redirects are not followed", False)
        assert other.requests == []


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "127.1", "169.254.169.254", "0x7f.1"],
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_nothing_inside_is_reached(receiver: Hook, scheme: str, host: str) -> None:
    port = receiver.url.split(":")[2].partition("/")[0]
    url = f"{scheme}://{host}:{port}/"
    answer = post(url, new_secret(), "1", b"{}", Allowed())
    assert answer.ok is False
    assert answer.final
    assert "no public address" in answer.said
    assert receiver.requests == []


def test_the_address_that_was_checked_is_the_one_that_is_used(
    receiver: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that is public when it is looked up first, and loopback the second time."""
    port = int(receiver.url.split(":")[2].partition("/")[0])
    looked_up = []

    def changing(host: str, port: int, **_options: object) -> list[object]:
        looked_up.append(host)
        where = "192.0.2.1" if len(looked_up) == 1 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (where, port))]

    monkeypatch.setattr(webhook, "SEND_SECONDS", 0.2)
    monkeypatch.setattr(socket, "getaddrinfo", changing)
    allowed = Allowed.parse("192.0.2.0/24", field="F")
    assert not post(f"https://hook.example:{port}/", new_secret(), "1", b"{}", allowed).ok
    assert looked_up == ["hook.example"]
    assert receiver.requests == []


def test_over_tls_the_certificate_must_be_of_the_host(
    server_context: ssl.SSLContext, trusted: None
) -> None:
    with hook(server_context) as secure:
        assert post(secure.url, new_secret(), "1", b"{}", BY_NAME).ok
        assert len(secure.requests) == 1


def test_a_certificate_that_nobody_vouches_for_is_refused(server_context: ssl.SSLContext) -> None:
    with hook(server_context) as secure:
        answer = post(secure.url, new_secret(), "1", b"{}", BY_NAME)
        assert answer.said == "no TLS connection: self-signed certificate"
        assert secure.requests == []


def test_a_refused_connection_may_be_tried_again(reserve_port: Callable[[], int]) -> None:
    answer = post(f"http://127.0.0.1:{reserve_port()}/", new_secret(), "1", b"{}", HERE)
    assert answer == (False, "no connection: connection refused", False)


@pytest.mark.parametrize(
    ("spoken", "said"),
    [
        (b"SSH-2.0-OpenSSH\r\n", "the answer is no HTTP"),
        (b"", "the connection was closed without an answer"),
        (b"HTTP/1.1 410 Gone\r\n\r\n", "answered 410"),
    ],
)
def test_what_is_no_answer_is_told(spoken: bytes, said: str) -> None:
    with _speaking(lambda connection: connection.sendall(spoken)) as url:
        answer = post(url, new_secret(), "1", b"{}", HERE)
    assert (answer.ok, answer.said, answer.final) == (False, said, "410" in said)


def test_a_connection_that_is_reset_is_told_as_closed() -> None:
    def reset(connection: socket.socket) -> None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    with _speaking(reset) as url:
        answer = post(url, new_secret(), "1", b"{}", HERE)
    assert answer == (False, "the connection was closed without an answer", False)


@pytest.mark.parametrize("beginning", [b"HTTP/1.1 200 OK\r\nX: ", b""])
def test_a_receiver_that_drips_is_cut_off(
    beginning: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "SEND_SECONDS", 0.5)
    gone = threading.Event()

    def drip(connection: socket.socket) -> None:
        connection.sendall(beginning)
        try:
            while True:
                gone.wait(0.05)
                connection.sendall(b"x" if beginning else b"")
        except OSError:
            return

    with _speaking(drip if beginning else lambda _connection: gone.wait(60)) as url:
        answer = post(url, new_secret(), "1", b"{}", HERE)
        gone.set()
    assert answer.said.startswith("no answer within")


def test_an_endless_body_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def pour(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            while True:
                connection.sendall(b"secret of a neighbour " * 1000)
        except OSError:
            return

    with _speaking(pour) as url:
        assert post(url, new_secret(), "1", b"{}", HERE) == (True, "answered 200", False)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("ftp://example.org/", "use a URL such as"),
        ("https:///hook", "use a URL such as"),
        ("https://example.org:0/", "use a URL such as"),
        ("https://example.org:99999/", "this is no URL"),
        ("https://[::1/", "this is no URL"),
        ("https://ada:secret@example.org/", "leave user, password"),
        ("https://example.org/#part", "leave user, password"),
        ("http://example.org/hook", "use https"),
        ("http://localhost/hook", "use https"),
        ("https://example.org/a b", "no spaces"),
        ("https://example.org/\r\nX-Evil: 1", "no spaces"),
        ("https://exämple.org/", "ASCII"),
        ("https://example.org/" + "a" * 2000, "up to 2000"),
        ("https://.x/", "host is no name"),
        ("https://x..y/", "host is no name"),
        ("https://./", "host is no name"),
        ("https://example.org../", "host is no name"),
        ("https://" + "a" * 64 + ".org/", "host is no name"),
        ("https://" + ".".join(["a" * 60] * 5) + "/", "host is no name"),
        ("https://a%20b/", "host is no name"),
        ("https://a,b/", "host is no name"),
        ("https://[example.org]/", "this is no URL"),
    ],
)
def test_a_url_that_leads_nowhere_is_refused(url: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=f"target: .*{why}"):
        check_url(url, Allowed())


def test_http_is_for_hosts_that_the_operator_allows() -> None:
    check_url("http://127.0.0.1:8000/hook", HERE)
    check_url("http://localhost/hook", BY_NAME)
    check_url("https://example.org/hook", Allowed())


@pytest.mark.parametrize(
    "host", ["example.org.", "my_hook.example.org", "192.0.2.1", "[2001:db8::1]", "a" * 63 + ".org"]
)
def test_hosts_that_may_be_reached_are_taken(host: str) -> None:
    check_url(f"https://{host}/hook", Allowed())
    check_url(f"https://{host}:8443/hook", Allowed())


def test_the_path_of_a_url_is_not_shown() -> None:
    assert shown("https://hooks.example.org/services/T0/B0/XXXX") == "https://hooks.example.org/..."
    assert shown("https://example.org?token=1") == "https://example.org/..."
    assert shown("https://example.org:8443/") == "https://example.org:8443"


class _speaking:
    """A listener on the loopback address that answers each request in its own way."""

    def __init__(self, speak: Callable[[socket.socket], object]) -> None:
        self._speak = speak
        self._listener = socket.create_server(("127.0.0.1", 0))

    def __enter__(self) -> str:
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}/"

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        self._thread.join(60)

    def _run(self) -> None:
        connection, _ = self._listener.accept()
        with connection:
            self._read(connection)
            self._speak(connection)

    @staticmethod
    def _read(connection: socket.socket) -> None:
        """Take in head and body: closing with some unread would reset the connection."""
        request = b""
        while not request.endswith(b"{}") and (more := connection.recv(65536)):
            request += more
