"""Where the bare system of another release is fetched from."""

from __future__ import annotations

import pytest

from deploy.portable import mirror_of

MIRROR = "http://mirror.example.org/debian"


@pytest.mark.parametrize(
    "listed",
    [
        f"deb {MIRROR} trixie main",
        f"deb [signed-by=/usr/share/keyrings/debian.gpg] {MIRROR} trixie main",
        f"deb [ arch=amd64 trusted=yes ] {MIRROR} trixie main",
        f"# deb http://elsewhere.example.org trixie main\ndeb {MIRROR} trixie main",
        f"Types: deb\nURIs: {MIRROR}\nSuites: trixie",
    ],
)
def test_the_mirror_is_found_in_either_format(listed: str) -> None:
    assert mirror_of(listed) == MIRROR


def test_no_mirror_is_none() -> None:
    assert mirror_of("# nothing\n") is None
