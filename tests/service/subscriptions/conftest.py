"""Receivers of messages, and a certificate for them."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.runtime import Runtime
from service.settings import Settings
from tests.service.subscriptions.receivers import Hook, Mailbox, hook, mailbox


@pytest.fixture
def receiver() -> Iterator[Hook]:
    """A receiver of webhooks."""
    with hook() as kept:
        yield kept


@pytest.fixture
def post_office() -> Iterator[Mailbox]:
    """A mail server without TLS."""
    with mailbox() as kept:
        yield kept


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of `localhost`, which is its own authority, and its key."""
    folder = tmp_path_factory.mktemp("certificate")
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
            "-keyout", folder / "key.pem", "-out", folder / "certificate.pem",
        ],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return folder / "certificate.pem", folder / "key.pem"


@pytest.fixture
def server_context(certificate: tuple[Path, Path]) -> ssl.SSLContext:
    """What a server with that certificate needs."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return context


@pytest.fixture
def trusted(certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """This process trusts that certificate, as an operator's own authority is trusted."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))


@pytest.fixture
def runtime(tmp_path: Path, post_office: Mailbox) -> Iterator[Runtime]:
    """Storage in an empty directory; 127.0.0.1 is allowed, and mail goes to the post office."""
    environment = {
        "HAMTUNE_DATA": str(tmp_path / "data"),
        "HAMTUNE_NOTIFY_ALLOW": "127.0.0.1",
        "HAMTUNE_SMTP_URL": f"smtp+plain://127.0.0.1:{post_office.port}",
        "HAMTUNE_MAIL_FROM": "hamtune@example.org",
        "HAMTUNE_NOTIFY_TRIES": "4",
        "HAMTUNE_NOTIFY_RETRY": "1ms",
    }
    with Runtime(Settings.from_environment(environment), run=False) as started:
        yield started
