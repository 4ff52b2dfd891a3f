"""The OpenAPI description as one page that needs no script and no other host."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

__all__ = ["reference_page"]

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 3rem; border-bottom: 1px solid; } h3 { margin-top: 2rem; }
code, pre { font: 14px/1.4 ui-monospace, monospace; }
pre { padding: .75rem; overflow-x: auto; background: #8881; }
.method { font-weight: bold; }
th, td { text-align: left; padding: 0 1rem 0 0; vertical-align: top; }
:root { color-scheme: light dark; }
"""


def reference_page(document: Mapping[str, Any]) -> str:
    """Write an OpenAPI document as HTML, its operations grouped by tag."""
    info = document["info"]
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        f"<title>{escape(info['title'])} REST interface</title><style>{_STYLE}</style>",
        "</head><body>",
        f"<h1>{escape(info['title'])} {escape(info['version'])}: REST interface</h1>",
        _prose(info["description"]),
        "<p>For programs: <a href='openapi.json'>openapi.json</a>.</p>",
    ]
    for tag in document["tags"]:
        parts.append(f"<h2>{escape(tag['name'])}</h2><p>{escape(tag['description'])}</p>")
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                if tag["name"] in operation["tags"]:
                    parts.extend(_operation(method, path, operation))
    return "\n".join([*parts, "</body></html>"])


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield f"<h3 id='{escape(operation['operationId'])}'>{escape(operation['summary'])}</h3>"
    yield f"<p><code><span class='method'>{method.upper()}</span> {escape(path)}</code></p>"
    if "x-permission" in operation:
        yield f"<p>Needs <code>{escape(operation['x-permission'])}</code>.</p>"
    yield _prose(operation["description"])
    parameters = operation.get("parameters", [])
    if parameters:
        yield "<table><tr><th>parameter</th><th>in</th><th>meaning</th></tr>"
        for parameter in parameters:
            yield (
                f"<tr><td><code>{escape(parameter['name'])}</code></td>"
                f"<td>{escape(parameter['in'])}</td>"
                f"<td>{escape(parameter.get('description', ''))}</td></tr>"
            )
        yield "</table>"
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"<p>Body, <code>{escape(media)}</code>:</p>"
        for example in _examples(content):
            yield _shown(example)
    for status, response in operation["responses"].items():
        yield f"<p><b>{escape(status)}</b> {escape(response['description'])}</p>"
        if status.startswith("2"):
            for content in response.get("content", {}).values():
                for example in _examples(content):
                    yield _shown(example)


def _examples(content: Mapping[str, Any]) -> list[Any]:
    if "example" in content:
        return [content["example"]]
    return [example["value"] for example in content.get("examples", {}).values()]


def _shown(example: Any) -> str:
    text = example if isinstance(example, str) else json.dumps(example, indent=2)
    return f"<pre>{escape(text)}</pre>"


def _prose(text: str) -> str:
    return "".join(f"<p>{escape(part)}</p>" for part in text.split("\n\n") if part.strip())
