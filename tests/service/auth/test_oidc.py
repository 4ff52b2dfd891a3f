"""Tokens of a real issuer on the loopback interface."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from service.auth.oidc import OidcSettings
from tests.service.auth.conftest import Guarded


class LocalIssuer:
    """An OpenID Connect issuer: its discovery document, its keys, and tokens signed with one."""

    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = json.dumps(issuer.documents[self.path]).encode()
                self.send_response(200)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        public = json.loads(ECAlgorithm.to_jwk(self.key.public_key()))
        self.documents: dict[str, Any] = {
            "/.well-known/openid-configuration": {
                "issuer": self.url,
                "jwks_uri": f"{self.url}/keys",
            },
            "/keys": {"keys": [{**public, "kid": "one", "alg": "ES256", "use": "sig"}]},
        }

    def token(
        self, key: Any = None, algorithm: str = "ES256", kid: str = "one", **changes: Any
    ) -> dict[str, str]:
        now = time.time()
        claims = {
            "iss": self.url,
            "aud": "hamtune",
            "sub": "ada",
            "iat": now,
            "exp": now + 60,
            "hamtune_project": "ours",
            "hamtune_role": "submitter",
            **changes,
        }
        claims = {name: value for name, value in claims.items() if value is not None}
        signed = jwt.encode(claims, key or self.key, algorithm, headers={"kid": kid})
        return {"Authorization": f"Bearer {signed}"}


@pytest.fixture
def issuer() -> Iterator[LocalIssuer]:
    local = LocalIssuer()
    thread = threading.Thread(target=local.server.serve_forever, args=(0.01,))
    thread.start()
    yield local
    local.server.shutdown()
    thread.join()
    local.server.server_close()


@pytest.fixture
def guarded(guard: Callable[..., Guarded], issuer: LocalIssuer) -> Guarded:
    return guard(rate=None, oidc=OidcSettings(issuer=issuer.url, audience="hamtune"))


def test_a_token_of_the_issuer_is_as_good_as_a_key(guarded: Guarded, issuer: LocalIssuer) -> None:
    guarded.storage.projects.add("ours")
    session = guarded.client.get("/api/v1/session", headers=issuer.token())
    assert session.json() == {
        "name": "oidc:ada", "project": "ours", "role": "submitter", "scopes": [], "required": True,
        "keep_deleted_seconds": 30 * 86400.0,
    }  # fmt: skip
    assert guarded.client.get("/api/v1/keys", headers=issuer.token()).status_code == 403
    assert guarded.client.get("/api/v1/jobs", headers=guarded.key()).status_code == 200


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"exp": 1.0}, "expired"),
        ({"exp": None}, "exp"),
        ({"aud": "others"}, "[Aa]udience"),
        ({"iss": "https://id.example"}, "[Ii]ssuer"),
        ({"sub": None}, "sub"),
        ({"hamtune_role": "root"}, "none of viewer"),
        ({"hamtune_role": None}, "none of viewer"),
        ({"hamtune_project": None}, "no claim 'hamtune_project'"),
        ({"hamtune_project": "nobody"}, "no project 'nobody'"),
        ({"algorithm": "HS256", "key": "s" * 32}, "alg"),
        ({"key": ec.generate_private_key(ec.SECP256R1())}, "[Ss]ignature"),
    ],
)
def test_other_tokens_are_refused(
    guarded: Guarded, issuer: LocalIssuer, changes: dict[str, Any], message: str
) -> None:
    guarded.storage.projects.add("ours")
    answer = guarded.client.get("/api/v1/session", headers=issuer.token(**changes))
    assert answer.status_code == 401
    assert re.search(message, answer.json()["detail"])


def test_an_unsigned_token_and_garbage_are_refused(guarded: Guarded, issuer: LocalIssuer) -> None:
    header, claims, _ = issuer.token()["Authorization"].removeprefix("Bearer ").split(".")
    for token in (f"{header}.{claims}.", "a.b.c", "x", header):
        headers = {"Authorization": f"Bearer {token}"}
        assert guarded.client.get("/api/v1/session", headers=headers).status_code == 401


def test_without_the_issuer_nobody_is_let_in(guard: Callable[..., Guarded]) -> None:
    gone = OidcSettings(issuer="http://127.0.0.1:9", audience="hamtune")
    guarded = guard(rate=None, oidc=gone)
    answer = guarded.client.get("/api/v1/session", headers={"Authorization": "Bearer a.b.c"})
    assert answer.status_code == 401
    assert "cannot be reached" in answer.json()["detail"]


def test_an_issuer_that_is_away_is_not_asked_for_every_token(
    guard: Callable[..., Guarded], issuer: LocalIssuer
) -> None:
    """Each would hold a thread until its answer is given up; those of the cache go on."""
    asked: list[str] = []
    known = issuer.documents
    issuer.documents = _Asked({}, asked)
    settings = OidcSettings(issuer=issuer.url, audience="hamtune")
    guarded = guard(rate=None, oidc=settings)
    guarded.storage.projects.add("ours")
    access = guarded.client.app.state.access  # type: ignore[attr-defined]
    for _ in range(5):
        answer = guarded.client.get("/api/v1/session", headers=issuer.token())
        assert (answer.status_code, "cannot be reached" in answer.text) == (401, True)
    assert len(asked) == 1

    issuer.documents = known
    access._issuer._away_until = 0.0  # some seconds later
    assert guarded.client.get("/api/v1/session", headers=issuer.token()).status_code == 200
    access._issuer._away_until = float("inf")
    assert guarded.client.get("/api/v1/session", headers=issuer.token()).status_code == 200
    access._issuer._keys.cooldown_duration = 0.0
    asked.clear()
    issuer.documents = _Asked(known, asked)
    answer = guarded.client.get("/api/v1/session", headers=issuer.token(kid="another"))
    assert (answer.status_code, "cannot be reached" in answer.text) == (401, True)
    assert not asked


class _Asked(dict[str, Any]):
    """Documents that note what is asked for."""

    def __init__(self, documents: dict[str, Any], asked: list[str]) -> None:
        super().__init__(documents)
        self._asked = asked

    def __getitem__(self, path: str) -> Any:
        self._asked.append(path)
        return super().__getitem__(path)
