from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

from searchspace.errors import InvalidInput
from service.auth.buckets import Buckets
from service.auth.settings import AuthSettings
from service.headers import SECURITY_HEADERS
from tests.service.auth.conftest import Guarded
from tests.service.conftest import SPEC

KEY = {"name": "nightly", "role": "submitter", "scopes": ["jobs:write"], "expires_in": 3600.0}


def test_a_key_is_made_used_rotated_and_revoked(guarded: Guarded) -> None:
    client, admin = guarded.client, guarded.key()
    made = client.post("/api/v1/keys", json=KEY, headers=admin)
    assert made.status_code == 201
    key = made.json()
    assert made.headers["location"] == f"/api/v1/keys/{key['id']}"
    bearer = {"Authorization": f"Bearer {key['key']}"}
    assert client.get("/api/v1/machines", headers=bearer).status_code == 403  # not in its scopes
    job = client.post("/api/v1/jobs", json=SPEC, headers=bearer).json()
    assert (job["project"], job["owner"]) == ("ours", "key:nightly")

    turned = client.post(f"/api/v1/keys/{key['id']}/rotate", headers=admin).json()
    assert turned["key"] != key["key"]
    assert client.get("/api/v1/jobs", headers=bearer).status_code == 401
    bearer = {"Authorization": f"Bearer {turned['key']}"}
    assert client.get("/api/v1/jobs", headers=bearer).status_code == 200

    shown = client.get(f"/api/v1/keys/{key['id']}", headers=admin).json()
    assert shown["used_at"] is not None
    assert "key" not in shown
    assert client.delete(f"/api/v1/keys/{key['id']}", headers=admin).json()["revoked_at"]
    answer = client.get("/api/v1/jobs", headers=bearer)
    assert answer.status_code == 401
    assert "was revoked" in answer.json()["detail"]

    told = client.get("/api/v1/audit", headers=admin).json()["items"]
    assert [entry["action"] for entry in reversed(told)] == [
        "create_key", "list_machines", "create_job", "rotate_key", "revoke_key",
    ]  # fmt: skip
    assert {entry["actor"] for entry in told} == {"key:admin", "key:nightly"}


def test_an_administrator_makes_keys_of_their_own_project_only(guarded: Guarded) -> None:
    admin = guarded.key("ours")
    answer = guarded.client.post("/api/v1/keys", json={**KEY, "project": "theirs"}, headers=admin)
    assert answer.status_code == 422
    assert "one's own project" in answer.json()["detail"]
    for wrong in ({"role": "root"}, {"scopes": ["all"]}, {"name": ""}, {"expires_in": -1}):
        answer = guarded.client.post("/api/v1/keys", json={**KEY, **wrong}, headers=admin)
        assert answer.status_code == 422, wrong


def test_who_one_is(guarded: Guarded, client: TestClient) -> None:
    assert guarded.client.get("/api/v1/session", headers=guarded.key(role="viewer")).json() == {
        "name": "key:viewer", "project": "ours", "role": "viewer", "scopes": [], "required": True,
        "keep_deleted_seconds": 30 * 86400.0,
    }  # fmt: skip
    local = client.get("/api/v1/session").json()
    assert (local["name"], local["required"]) == ("local", False)


def test_secrets_are_stored_nowhere_and_logged_nowhere(
    guarded: Guarded, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        admin = guarded.key()
        key = guarded.client.post("/api/v1/keys", json=KEY, headers=admin).json()["key"]
        guarded.client.get("/api/v1/jobs", headers={"Authorization": f"Bearer {key}x"})
    secret = key[-43:]
    assert secret not in caplog.text
    database = guarded.storage._database.engine.url.database or ""
    for suffix in ("", "-wal"):
        with open(database + suffix, "rb") as file:  # noqa: PTH123
            assert secret.encode() not in file.read()


def test_many_wrong_keys_from_one_address_have_to_wait(guarded: Guarded) -> None:
    failures = guarded.client.app.state.access._failures  # type: ignore[attr-defined]
    failures._clock = lambda: 0.0  # or a slow machine would have waited already
    statuses = [guarded.client.get("/api/v1/jobs").status_code for _ in range(40)]
    assert statuses[:20] == [401] * 20
    assert 429 in statuses
    answer = guarded.client.get("/api/v1/jobs")
    assert int(answer.headers["retry-after"]) >= 1
    assert answer.json()["type"] == "urn:problem:hamtune:too-many-requests"


def test_wrong_keys_do_not_lock_out_right_ones_from_the_same_address(guarded: Guarded) -> None:
    """A cluster behind one address has many users, one of whom may be hostile."""
    failures = guarded.client.app.state.access._failures  # type: ignore[attr-defined]
    failures._clock = lambda: 0.0
    wrong = {"Authorization": "Bearer ht_0123456789abcdef_wrong"}
    statuses = [guarded.client.get("/api/v1/jobs", headers=wrong).status_code for _ in range(30)]
    assert statuses[-1] == 429
    assert guarded.client.get("/api/v1/jobs", headers=guarded.key()).status_code == 200
    assert guarded.client.get("/api/v1/jobs", headers=wrong).status_code == 429


def test_requests_of_a_key_are_limited(guard: Callable[..., Guarded]) -> None:
    guarded = guard(rate=0.01)  # and one at once
    ours, theirs = guarded.key("ours"), guarded.key("theirs")
    assert guarded.client.get("/api/v1/jobs", headers=ours).status_code == 200
    assert guarded.client.get("/api/v1/jobs", headers=ours).status_code == 429
    assert guarded.client.get("/api/v1/jobs", headers=theirs).status_code == 200


def test_buckets_fill_with_time() -> None:
    now = [0.0]
    buckets = Buckets(2.0, 3.0, clock=lambda: now[0])
    assert [buckets.take("a") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    assert buckets.take("b") == 0.0
    now[0] = 0.5
    assert buckets.take("a") == 0.0
    assert buckets.take("a") == 0.5
    now[0] = 100.0
    assert [buckets.take("a") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]


def test_answers_tell_browsers_to_be_careful_and_let_no_other_site_in(guarded: Guarded) -> None:
    for path in ("/healthz", "/api/v1/docs", "/api/v1/jobs", "/nothing"):
        headers = guarded.client.get(path, headers={"Origin": "https://evil.example"}).headers
        for name, value in SECURITY_HEADERS.items():
            assert headers[name] == value
        assert not [name for name in headers if name.startswith("access-control-")]
    preflight = guarded.client.options(
        "/api/v1/jobs",
        headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"},
    )
    assert preflight.status_code in (401, 405)
    assert "access-control-allow-origin" not in preflight.headers


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"HAMTUNE_AUTH": "yes"}, "neither off nor keys"),
        ({"HAMTUNE_OIDC_ISSUER": "https://id.example"}, "only asked for with HAMTUNE_AUTH=keys"),
        ({"HAMTUNE_AUTH": "keys", "HAMTUNE_OIDC_ISSUER": "http://id.example"}, "https URL"),
        ({"HAMTUNE_AUTH": "keys", "HAMTUNE_OIDC_ISSUER": "https://id.example"}, "for whom"),
        ({"HAMTUNE_RATE_LIMIT": "-1"}, "number of requests a second"),
    ],
)
def test_unusable_settings_are_named(variables: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        AuthSettings.from_environment(variables)


@pytest.mark.parametrize(
    ("asked", "kept", "action"),
    [
        ("", 60.0, "delete_job"),
        ("?now=true", 60.0, "delete_job_for_good"),
        ("", 0.0, "delete_job_for_good"),
    ],
)
def test_the_audit_log_tells_what_is_gone_for_good(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch, asked: str, kept: float, action: str
) -> None:
    runtime = guarded.client.app.state.runtime  # type: ignore[attr-defined]
    monkeypatch.setattr(runtime, "settings", replace(runtime.settings, keep_deleted=kept))
    admin = guarded.key("ours")
    job = guarded.client.post("/api/v1/jobs", json=SPEC, headers=admin).json()["id"]
    guarded.client.post(f"/api/v1/jobs/{job}/cancel", headers=admin)
    answer = guarded.client.delete(f"/api/v1/jobs/{job}{asked}", headers=admin)
    assert answer.status_code == 200, answer.text
    assert (answer.json()["restore"] is None) == action.endswith("for_good")
    last = guarded.client.get("/api/v1/audit", headers=admin).json()["items"][0]
    assert (last["action"], last["target"]) == (action, f"/api/v1/jobs/{job}")
