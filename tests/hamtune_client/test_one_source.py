"""The two clients are one: the synchronous one is written from the other."""

from __future__ import annotations

import pytest

from deploy.client import CLIENT, main, synchronous


def test_the_synchronous_client_is_that_of_the_asynchronous_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--check"]) == 0, f"run python -m deploy.client: {capsys.readouterr().out}"


@pytest.mark.parametrize("source", sorted(CLIENT.glob("asynchronous*.py")), ids=lambda p: p.stem)
def test_nothing_is_awaited_there(source: str) -> None:
    written = synchronous(CLIENT / source)
    body = written.partition("from __future__")[2]
    assert not [word for word in ("async", "await", "Async", "aclose") if word in body]
