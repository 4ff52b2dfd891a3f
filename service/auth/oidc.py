"""Bearer tokens of an OpenID Connect issuer: JSON Web Tokens, verified by PyJWT.

OpenID Connect Core 1.0 and Discovery 1.0; RFC 8725 for what to insist on.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from searchspace.errors import InvalidInput
from service.auth.principal import ROLES, Principal

if TYPE_CHECKING:
    from jwt import PyJWKClient

__all__ = ["Issuer", "OidcSettings", "Rejected"]

# Signatures whose key only the issuer has. With a shared secret whoever verifies could also sign.
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA")
_REQUIRED = ("exp", "iat", "iss", "aud", "sub")
_LEEWAY_SECONDS = 30
_TIMEOUT_SECONDS = 5.0
_AWAY_SECONDS = 5.0  # for which an issuer that did not answer is not asked again
_AWAY = "the issuer of tokens cannot be reached; try again later"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Rejected(Exception):
    """A token is not accepted; the text says why."""


@dataclass(frozen=True, kw_only=True)
class OidcSettings:
    """Whose tokens are accepted.

    Args:
        issuer: URL of the issuer; https, except on loopback.
        audience: For whom a token must be made out.
        project_claim: The claim that names the project.
        role_claim: The claim that names the role.
    """

    issuer: str
    audience: str
    project_claim: str = "hamtune_project"
    role_claim: str = "hamtune_role"

    def __post_init__(self) -> None:
        """Refuse an issuer that anybody on the way could pretend to be."""
        url = urlsplit(self.issuer)
        safe = url.scheme == "https" or (url.scheme == "http" and url.hostname in _LOOPBACK)
        if not safe or not url.hostname:
            raise InvalidInput(f"{self.issuer!r} is not an https URL", field="HAMTUNE_OIDC_ISSUER")
        if not self.audience:
            raise InvalidInput(
                "say for whom tokens must be made out", field="HAMTUNE_OIDC_AUDIENCE"
            )


class Issuer:
    """Verifies the tokens of an issuer; its keys are fetched at the first one and kept a while."""

    def __init__(self, settings: OidcSettings) -> None:
        self._settings = settings
        self._keys: PyJWKClient | None = None
        self._lock = threading.Lock()
        self._away_until = 0.0

    def principal(self, token: str) -> Principal:
        """Who a token is about.

        Raises:
            Rejected: It is no valid token of the issuer for us, or does not say what we need.
        """
        claims = self._claims(token)
        project = claims.get(self._settings.project_claim)
        role = claims.get(self._settings.role_claim)
        if not isinstance(project, str):
            raise Rejected(f"the token has no claim {self._settings.project_claim!r}")
        if role not in ROLES:
            raise Rejected(
                f"the claim {self._settings.role_claim!r} of the token is none of "
                f"{', '.join(ROLES)}"
            )
        return Principal(name=f"oidc:{claims['sub']}", project=project, role=role)

    def _claims(self, token: str) -> dict[str, Any]:
        import jwt

        try:
            # Or whoever sends nonsense would keep a thread waiting for the issuer each time, and
            # all others behind it.
            if time.monotonic() < self._away_until and not self._has_key_of(token):
                raise Rejected(_AWAY)
            # The bare key: an issuer need not say by which algorithm of its kind it signs.
            claims: dict[str, Any] = jwt.decode(
                token,
                self._signing_keys().get_signing_key_from_jwt(token).key,
                algorithms=list(_ALGORITHMS),
                audience=self._settings.audience,
                issuer=self._settings.issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": list(_REQUIRED)},
            )
        except jwt.exceptions.PyJWKClientConnectionError:
            raise self._away() from None
        except jwt.exceptions.PyJWTError as error:
            raise Rejected(f"the token is not accepted: {error}") from None
        return claims

    def _has_key_of(self, token: str) -> bool:
        import jwt

        cache = None if self._keys is None else self._keys.jwk_set_cache
        known = None if cache is None else cache.get()
        kid = jwt.get_unverified_header(token).get("kid")
        return known is not None and any(key.key_id == kid for key in known.keys)

    def _away(self) -> Rejected:
        self._away_until = time.monotonic() + _AWAY_SECONDS
        return Rejected(_AWAY)

    def _signing_keys(self) -> PyJWKClient:
        import httpx
        import jwt

        with self._lock:
            if self._keys is None:
                url = self._settings.issuer.rstrip("/") + "/.well-known/openid-configuration"
                try:
                    found = httpx.get(url, timeout=_TIMEOUT_SECONDS).raise_for_status().json()
                    if found["issuer"] != self._settings.issuer:
                        raise Rejected("the issuer of tokens calls itself by another name")
                    address = str(found["jwks_uri"])
                except (httpx.HTTPError, ValueError, KeyError, TypeError):
                    raise self._away() from None
                self._keys = jwt.PyJWKClient(address, timeout=int(_TIMEOUT_SECONDS))
            return self._keys
