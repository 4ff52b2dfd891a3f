"""What the OpenAPI description says of every operation: examples, and the errors it can answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel

from service.auth.principal import Permission
from service.auth.routes import permissions
from service.bodies import JSON_TYPES, YAML_TYPES
from service.problems import KINDS, MEDIA_TYPE, TYPE_PREFIX, Problem

__all__ = ["answers", "body", "describe"]

_KEPT = "x-example"
_MODEL = "x-model"
_MODELS: dict[str, type[BaseModel]] = {}  # of bodies; their schemas are made with the document

_DETAILS = {
    400: "not JSON: Expecting value at line 1 column 1",
    401: "send a key as 'Authorization: Bearer ht_...'",
    403: "key:nightly may not write jobs: its role is viewer",
    404: "there is no job 0k3v9m2x7q1zt8ab",
    409: "job 0k3v9m2x7q1zt8ab is completed; it cannot be paused",
    413: "the body is larger than the 1 MiB accepted here",
    415: "content type text/plain is not accepted here; send application/json or application/yaml",
    422: "budget.trials: 0 is not above 0",
    429: "too many requests with this key; wait 1 s",
    500: "the server failed; its log says why under incident 5f0c2a9be1d3",
    503: "the database cannot be used now: connection refused",
    507: "the disk of this host came to be full while what was sent was written; make room there, "
    "or set TMPDIR to a directory on another disk",
}


def answers(
    example: Any,
    *errors: int,
    status: int = 200,
    description: str = "Done.",
    media: str = "application/json",
    headers: Mapping[str, str] | None = None,
) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route.

    Args:
        example: The body of the successful response.
        errors: Statuses of the problems it can answer beside it.
        status: Status of the successful response.
        description: What the successful response tells.
        media: Its content type.
        headers: Its further headers, with what they mean.
    """
    responses: dict[int | str, dict[str, Any]] = {
        status: {"description": description, "content": {media: _kept(example)}}
    }
    if headers:
        responses[status]["headers"] = {
            name: {"description": meaning, "schema": {"type": "string"}}
            for name, meaning in headers.items()
        }
    for error in (*errors, 500, 503):
        responses[error] = _problem(error)
    return responses


def body(
    document: type[BaseModel] | Mapping[str, Any],
    examples: Mapping[str, Any],
    *,
    required: bool = True,
) -> dict[str, Any]:
    """The `openapi_extra` of a route that reads JSON or YAML by itself.

    Args:
        document: Model or JSON schema of the document.
        examples: Documents by what they show.
        required: Whether there must be a body.
    """
    shown = {
        name.lower().replace(" ", "-"): _kept(value, summary=name)
        for name, value in examples.items()
    }
    if isinstance(document, type):
        _MODELS[document.__name__] = document
        document = {_MODEL: document.__name__}
    return {
        "requestBody": {
            "required": required,
            "content": {
                media: {"schema": dict(document), "examples": shown}
                for media in (JSON_TYPES[0], YAML_TYPES[0])
            },
        }
    }


def describe(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document of `app`, made once."""
    if app.openapi_schema is None:
        document = FastAPI.openapi(app)
        schemas = document["components"]["schemas"]
        # FastAPI describes its own form of validation errors, which this service never sends.
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        problem = _schema(Problem)
        schemas.update(problem.pop("$defs"), Problem=problem)
        document["components"]["securitySchemes"] = {
            "key": {
                "type": "http",
                "scheme": "bearer",
                "description": "A key, or a token of the configured issuer; where the service "
                "asks for none, nothing.",
            }
        }
        needed = permissions(app)
        for path, item in document["paths"].items():
            for method, operation in item.items():
                permission = needed[path, method.upper()]
                if permission is not None:
                    _guard(operation, permission)
                for content in _contents(operation):
                    schemas.update(_spell_out(content))
        app.openapi_schema = document
    return app.openapi_schema


def _guard(operation: dict[str, Any], permission: Permission) -> None:
    """Say of an operation that it asks for a key, what that must allow, and how it refuses."""
    operation["x-permission"] = permission.scope
    operation["security"] = [{"key": []}, {}]
    for status in (401, 403, 429):
        operation["responses"][str(status)] = _problem(status)


def _contents(operation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What an operation takes and answers, by media type."""
    for part in (operation.get("requestBody", {}), *operation["responses"].values()):
        yield from part.get("content", {}).values()


def _spell_out(content: dict[str, Any]) -> dict[str, Any]:
    """Put schema and examples in their places, and return the schemas that this one refers to."""
    if _MODEL in content.get("schema", {}):
        content["schema"] = _schema(_MODELS[content["schema"][_MODEL]])
    definitions: dict[str, Any] = content.get("schema", {}).pop("$defs", {})
    _restore(content, "example")
    for example in content.get("examples", {}).values():
        _restore(example, "value")
    return definitions


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema(ref_template="#/components/schemas/{model}")


def _kept(example: Any, **beside: Any) -> dict[str, Any]:
    """An example as text: FastAPI drops what is null on its way into the document."""
    return {**beside, _KEPT: json.dumps(example)}


def _restore(place: dict[str, Any], name: str) -> None:
    if _KEPT in place:
        place[name] = json.loads(place.pop(_KEPT))


def _problem(status: int) -> dict[str, Any]:
    kind, title = KINDS[status]
    example: dict[str, Any] = {
        "type": TYPE_PREFIX + kind,
        "title": title,
        "status": status,
        "detail": _DETAILS[status],
        "instance": "/api/v1/jobs",
    }
    if status == 422:
        example["errors"] = [{"field": "budget.trials", "message": "0 is not above 0"}]
    return {
        "description": f"{title}.",
        "content": {
            MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}, "example": example}
        },
    }
