import json
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from storage.storage import Storage

URL = "/api/v1/jobs"


@pytest.mark.parametrize(
    ("query", "headers"),
    [
        ("?after=-1", {}),
        ("?after=9999999999999999999999", {}),
        ("", {"Last-Event-ID": "the last one"}),
    ],
)
def test_a_wrong_cursor_is_refused(
    client: TestClient, create_job: Callable[..., str], query: str, headers: dict[str, str]
) -> None:
    response = client.get(f"{URL}/{create_job()}/events{query}", headers=headers)
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"


def test_a_finished_job_tells_its_story_and_ends(
    client: TestClient, storage: Storage, create_job: Callable[..., str]
) -> None:
    job_id = create_job()
    storage.events.append(job_id, "message", {"text": "zwei\nZeilen"})
    client.post(f"{URL}/{job_id}/cancel")

    def story(after: str = "", headers: dict[str, str] | None = None) -> list[dict[str, Any]]:
        response = client.get(f"{URL}/{job_id}/events{after}", headers=headers)
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-store"
        return [
            json.loads(line.removeprefix("data: "))
            for line in response.text.splitlines()
            if line.startswith("data: ")
        ]

    created, message, cancelled = story()
    assert created["data"]["state"] == "queued"
    assert message["data"] == {"text": "zwei\nZeilen"}
    assert (cancelled["kind"], cancelled["data"]["state"]) == ("job", "cancelled")
    assert story(f"?after={created['id']}") == [message, cancelled]
    # A browser that reconnects repeats its first URL; what it saw last counts.
    last = {"Last-Event-ID": str(message["id"])}
    assert story(f"?after={created['id']}", last) == [cancelled]
    assert story(f"?after={cancelled['id']}") == []
