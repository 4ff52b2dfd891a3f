"""The text of a key: `ht_<id>_<secret>`. Only the digest of the secret is ever stored.

The secret is 256 random bits, so that a plain SHA-256 of it tells nobody anything; slow digests are
for what people choose.
"""

from __future__ import annotations

import hashlib
import re
import secrets

__all__ = ["PATTERN", "PREFIX", "compose", "digest", "new_secret", "split"]

PREFIX = "ht_"
PATTERN = re.compile(r"ht_([0-9a-z]{16})_([0-9A-Za-z_-]{43})")


def new_secret() -> str:
    """A fresh secret."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """What is stored of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def compose(key_id: str, secret: str) -> str:
    """What the holder of a key sends."""
    return f"{PREFIX}{key_id}_{secret}"


def split(token: str) -> tuple[str, str] | None:
    """Id and secret of a key; None where it is none."""
    found = PATTERN.fullmatch(token)
    return None if found is None else (found[1], found[2])
