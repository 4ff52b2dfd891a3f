"""Serves the page that `setup.sh` builds of the sources beside this file."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from service.auth.access import OPEN_TO_ALL
from service.problems import ProblemError

__all__ = ["BUILT", "POLICY", "router"]

BUILT = Path(__file__).parent / "dist"
"""Where the build puts the page."""

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    )
)
"""The page loads its own files and talks to its own service; nothing else."""

_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
# Names hold the hash of their content, so an asset never changes.
_ASSET = re.compile(r"[a-z]+-[0-9A-Z]{8}\.(js|css|svg)")
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_FOREVER = "public, max-age=31536000, immutable"
_NOT_BUILT = (
    "<!doctype html><html lang='en'><title>Hamtune</title><p>The page is not built yet; run "
    "<code>./setup.sh</code> and load it again. The <a href='/api/v1/docs'>REST interface</a> "
    "works.</p></html>"
)

router = APIRouter(include_in_schema=False)


@router.get("/", dependencies=[OPEN_TO_ALL])
def page() -> HTMLResponse:
    """The page, looked for anew each time: a new build is seen at once."""
    headers = {**_HEADERS, "Cache-Control": "no-cache"}
    try:
        document = (BUILT / "index.html").read_text()
    except FileNotFoundError:
        return HTMLResponse(_NOT_BUILT, 503, headers={**headers, "Retry-After": "60"})
    return HTMLResponse(document, headers={**headers, "Content-Security-Policy": _policy(document)})


def _policy(document: str) -> str:
    """The policy that also allows the scripts in the document itself, by their digests."""
    digests = [sha256(script.encode()).digest() for script in _INLINE.findall(document)]
    allowed = " ".join(
        ["script-src 'self'", *(f"'sha256-{b64encode(d).decode()}'" for d in digests)]
    )
    return POLICY.replace("script-src 'self'", allowed)


@router.get("/assets/{name}", dependencies=[OPEN_TO_ALL])
def asset(name: str, request: Request) -> Response:
    """A file of the page, compressed for those who can read that."""
    path = BUILT / name
    if not _ASSET.fullmatch(name) or not path.is_file():
        raise ProblemError(404, f"the page has no file {name!r}; load it again")
    headers = {**_HEADERS, "Cache-Control": _FOREVER, "Vary": "Accept-Encoding"}
    packed = path.with_name(f"{name}.gz")
    if "gzip" in request.headers.get("accept-encoding", "") and packed.is_file():
        headers["Content-Encoding"] = "gzip"
        path = packed
    media_type = _TYPES["." + name.rpartition(".")[2]]
    return Response(path.read_bytes(), media_type=media_type, headers=headers)
