"""Whether and how the service asks who is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from searchspace.errors import InvalidInput
from service.auth.oidc import OidcSettings

__all__ = ["AuthSettings"]

DEFAULT_RATE = 200.0
_CLAIMS = {
    "project_claim": "HAMTUNE_OIDC_PROJECT_CLAIM",
    "role_claim": "HAMTUNE_OIDC_ROLE_CLAIM",
}


@dataclass(frozen=True, kw_only=True)
class AuthSettings:
    """What is asked of those who come.

    Args:
        required: Whether a key or token is asked for; without, only loopback may be listened on.
        oidc: Whose tokens are accepted beside keys.
        rate: Requests a second of each that comes, on each server; None for any number.
        hosts: Names under which the service answers; None for any.
    """

    required: bool = False
    oidc: OidcSettings | None = None
    rate: float | None = DEFAULT_RATE
    hosts: tuple[str, ...] | None = None

    @classmethod
    def from_environment(cls, values: Mapping[str, str]) -> AuthSettings:
        """Read `HAMTUNE_AUTH`, `HAMTUNE_OIDC_*`, `HAMTUNE_RATE_LIMIT` and `HAMTUNE_HOSTS`.

        Raises:
            InvalidInput: One holds something unusable; the message names it.
        """
        mode = values.get("HAMTUNE_AUTH") or "off"
        if mode not in ("off", "keys"):
            raise InvalidInput(f"{mode!r} is neither off nor keys", field="HAMTUNE_AUTH")
        oidc = None
        if values.get("HAMTUNE_OIDC_ISSUER"):
            if mode == "off":
                raise InvalidInput(
                    "tokens are only asked for with HAMTUNE_AUTH=keys", field="HAMTUNE_OIDC_ISSUER"
                )
            claims = {name: values[key] for name, key in _CLAIMS.items() if values.get(key)}
            oidc = OidcSettings(
                issuer=values["HAMTUNE_OIDC_ISSUER"],
                audience=values.get("HAMTUNE_OIDC_AUDIENCE", ""),
                **claims,
            )
        hosts = [name.strip() for name in values.get("HAMTUNE_HOSTS", "").split(",")]
        return cls(
            required=mode == "keys",
            oidc=oidc,
            rate=_rate(values.get("HAMTUNE_RATE_LIMIT", "")),
            hosts=tuple(filter(None, hosts)) or None,
        )


def _rate(text: str) -> float | None:
    if not text:
        return DEFAULT_RATE
    if text == "off":
        return None
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0.0 < rate < 1e6:
        raise InvalidInput(
            f"{text!r} is neither off nor a number of requests a second", field="HAMTUNE_RATE_LIMIT"
        )
    return rate
