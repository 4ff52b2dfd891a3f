"""Database and broker over TLS: real servers, with certificates made here."""

from __future__ import annotations

import datetime
import os
import shutil
import socket
import ssl
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

import kombu.pools
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from deploy import servers
from storage.errors import Unavailable
from storage.messages import EVALUATE
from storage.storage import Storage
from workers.celery_app import make_app, waiting_messages


@dataclass(frozen=True)
class Authority:
    """Signs certificates for servers on loopback.

    Attributes:
        certificate: Its own, by which clients know what it signed.
        server: What a server shows.
        key: Of the server.
    """

    certificate: Path
    server: Path
    key: Path


def make_authority(folder: Path) -> Authority:
    """An authority and a server that it signed for, good for a day."""
    folder.mkdir()
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, folder.name)])
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
    made = []
    for name, key, is_authority in ((issuer, keys[0], True), (subject, keys[1], False)):
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .sign(keys[0], hashes.SHA256())
        )
        made.append(folder / f"{'authority' if is_authority else 'server'}.crt")
        made[-1].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_file = folder / "server.key"
    key_file.write_bytes(
        keys[1].private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    certificate_file, server_file = made
    return Authority(certificate_file, server_file, key_file)


class TlsPostgreSQL(servers.PostgreSQL):
    """PostgreSQL that only takes encrypted connections."""

    def __init__(self, authority: Authority) -> None:
        super().__init__()
        data = Path(self._data)
        for source in (authority.server, authority.key):
            copy = shutil.copy(source, data)
            os.chmod(copy, 0o600)  # noqa: PTH101
            if self._account is not None:
                shutil.chown(copy, self._account.pw_name, self._account.pw_gid)
        (data / "pg_hba.conf").write_text("hostssl all all 127.0.0.1/32 trust\n")

    def command(self) -> list[str]:
        """See `Server`."""
        more = ("ssl=on", "ssl_cert_file=server.crt", "ssl_key_file=server.key")
        return [*super().command(), *(word for setting in more for word in ("-c", setting))]

    def verified(self, authority: Authority) -> str:
        """The URL of somebody who trusts this authority alone."""
        return f"{self.url}?sslmode=verify-full&sslrootcert={authority.certificate}"


class TlsRedis(servers.Redis):
    """Redis that only takes encrypted connections."""

    def __init__(self, authority: Authority) -> None:
        super().__init__()
        self._authority = authority

    def command(self) -> list[str]:
        """See `Server`."""
        own = self._authority
        plain = super().command()
        plain[plain.index("--port") + 1] = "0"
        return [
            *plain, "--tls-port", str(self.port), "--tls-auth-clients", "no",
            "--tls-cert-file", str(own.server), "--tls-key-file", str(own.key),
            "--tls-ca-cert-file", str(own.certificate),
        ]  # fmt: skip

    def answers(self) -> bool:
        """See `Server`."""
        context = ssl.create_default_context(cafile=str(self._authority.certificate))
        try:
            with (
                socket.create_connection(("127.0.0.1", self.port), timeout=1.0) as plain,
                context.wrap_socket(plain, server_hostname="localhost") as connection,
            ):
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False

    def verified(self, authority: Authority) -> str:
        """The URL of somebody who trusts this authority alone."""
        address = self.url.replace("redis://", "rediss://")
        return f"{address}?ssl_cert_reqs=required&ssl_ca_certs={authority.certificate}"


@pytest.fixture
def ours(tmp_path: Path) -> Authority:
    """Whom the servers have their certificates from."""
    return make_authority(tmp_path / "ours")


@pytest.fixture
def others(tmp_path: Path) -> Authority:
    """Somebody else, who calls the same servers by name."""
    return make_authority(tmp_path / "others")


def test_the_database_is_who_it_says(tmp_path: Path, ours: Authority, others: Authority) -> None:
    with TlsPostgreSQL(ours) as server:
        storage = Storage.open(server.verified(ours), str(tmp_path / "artifacts"))
        storage.upgrade()
        assert storage.jobs.create(name="j", spec={}, seed=1).state == "queued"
        storage.close()
        for url in (server.verified(others), f"{server.url}?sslmode=disable"):
            stranger = Storage.open(url, str(tmp_path / "artifacts"))
            with pytest.raises(Unavailable):
                stranger.jobs.page()
            stranger.close()


def test_the_broker_is_who_it_says(ours: Authority, others: Authority) -> None:
    with TlsRedis(ours) as server:
        app = make_app(server.verified(ours))
        app.send_task(EVALUATE, args=("1",))
        assert waiting_messages(app) == 1
        app.close()
        kombu.pools.reset()  # which are shared by all of a process that go to one address
        stranger = make_app(server.verified(others))
        with pytest.raises(Exception, match="certificate verify failed"):
            waiting_messages(stranger)
        stranger.close()
