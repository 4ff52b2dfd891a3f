"""The receiver of the documentation, run as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from service.subscriptions.addresses import Allowed
from service.subscriptions.answer import Answer
from service.subscriptions.webhook import new_secret, post
from tests.service.subscriptions.test_sender import until

PAGE = Path(__file__).parents[3] / "docs/notifications.md"
HERE = Allowed.parse("127.0.0.1", field="F")
BODY = b'{"event": "completed", "best": {"trial": 31, "value": 0.5}}'


def test_it_checks_signatures_and_drops_doubles(reserve_port: Callable[[], int]) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    secret, port = new_secret(), reserve_port()
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, "SECRET": secret, "PORT": str(port)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:

        def send(identifier: str, with_secret: str = secret) -> Answer:
            return post(f"http://127.0.0.1:{port}/", with_secret, identifier, BODY, HERE)

        until(lambda: send("a").ok)
        assert send("a").ok
        assert send("b").ok
        assert send("c", new_secret()).said == "answered 401"
    finally:
        process.terminate()
        said, _ = process.communicate()
    assert said.splitlines() == ["completed {'trial': 31, 'value': 0.5}"] * 2
