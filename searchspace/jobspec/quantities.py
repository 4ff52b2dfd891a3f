"""Quantities in a job file: numbers in SI units, or text such as `10min` and `4GiB`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from searchspace.errors import InvalidInput
from searchspace.units import LEAST_STORED_MEMORY, memory_limit, parse_duration, parse_part

__all__ = ["Bytes", "Delay", "Part", "Seconds"]


def _read_seconds(value: Any) -> float:
    try:
        seconds = parse_duration(value)
    except InvalidInput as error:
        raise ValueError(error.message) from error
    if seconds == 0:
        raise ValueError("must be greater than 0")
    return seconds


def _read_part(value: Any) -> float:
    try:
        return parse_part(value)
    except InvalidInput as error:
        raise ValueError(error.message) from error


def _read_bytes(value: Any) -> int:
    try:
        size = memory_limit(value, least=LEAST_STORED_MEMORY)
    except InvalidInput as error:
        raise ValueError(error.message) from error
    if size == 0:
        raise ValueError("must be greater than 0")
    return size


def _read_delay(value: Any) -> float:
    try:
        return parse_duration(value)
    except InvalidInput as error:
        raise ValueError(error.message) from error


Delay = Annotated[
    float,
    BeforeValidator(_read_delay),
    WithJsonSchema({"type": ["number", "string"], "examples": ["50ms"]}),
]
Seconds = Annotated[
    float,
    BeforeValidator(_read_seconds),
    WithJsonSchema({"type": ["number", "string"], "examples": ["10min"]}),
]
Part = Annotated[
    float,
    BeforeValidator(_read_part),
    WithJsonSchema({"type": ["number", "string"], "examples": ["1%"]}),
]
Bytes = Annotated[
    int,
    BeforeValidator(_read_bytes),
    WithJsonSchema({"type": ["integer", "string"], "examples": ["4GiB"]}),
]
