"""Lists of hosts as Slurm writes them: `n[01-03,7],login` stands for n01, n02, n03, n7, login."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator

from searchspace.errors import InvalidInput

__all__ = ["LONGEST_NAME", "MOST_NAMES", "count_names", "expand"]

LONGEST_NAME = 253
"""Characters of a host's name, as in the domain name system."""

MOST_NAMES = 65_536
"""Of a list: a little text stands for many. As many as a trace has ranks."""

_PART = re.compile(r"\[([^\[\]]*)\]|([^,\[\]]+)|(,)|(.)")
_RANGE = re.compile(r"\s*(\d{1,9})(?:-(\d{1,9}))?\s*")


def expand(text: str) -> list[str]:
    """Writes a list out.

    Raises:
        InvalidInput: A bracket is not closed, a range is not `low-high`, a name is longer than 253
            characters, or there are more than `MOST_NAMES`.
    """
    return [
        "".join(chosen)
        for group in _checked(text)
        for chosen in itertools.product(*map(_written, group))
    ]


def count_names(text: str) -> int:
    """How many names a list stands for, without writing them out.

    Raises:
        InvalidInput: As `expand`.
    """
    return sum(map(_count, _checked(text)))


# What a part of a name can be: itself, or numbers, in ranges of which each has a least width.
_Part = str | list[tuple[range, int]]


def _written(part: _Part) -> list[str]:
    if isinstance(part, str):
        return [part]
    return [str(number).zfill(width) for numbers, width in part for number in numbers]


def _count(group: list[_Part]) -> int:
    return math.prod(
        sum(len(numbers) for numbers, _ in part) for part in group if not isinstance(part, str)
    )


def _longest(part: _Part) -> int:
    if isinstance(part, str):
        return len(part)
    return max(max(len(str(numbers[-1])), width) for numbers, width in part)


def _checked(text: str) -> Iterator[list[_Part]]:
    """Yields what the parts of each name of a list can be, where that is not too much to write."""
    names = 0
    for group in _split(text):
        names += _count(group)
        if names > MOST_NAMES:
            raise _too_many(text)
        yield group


def _split(text: str) -> Iterator[list[_Part]]:
    """Yields what the parts of each name can be."""
    group: list[_Part] = []
    longest = 0
    for match in _PART.finditer(text):
        ranges, plain, comma, other = match.groups()
        if other is not None:
            raise InvalidInput(f"'{text[:60]}' has a bracket that is not closed")
        if comma is None:
            group.append(_ranges(ranges, text) if plain is None else plain)
            longest += _longest(group[-1])
        elif group:
            yield group
            group, longest = [], 0
        if longest > LONGEST_NAME:
            raise InvalidInput(
                f"'{text[:60]}' has a name of more than {LONGEST_NAME} characters, the most that "
                "the name of a host can have"
            )
    if group:
        yield group


def _ranges(text: str, whole: str) -> list[tuple[range, int]]:
    if text.count(",") >= MOST_NAMES:
        raise _too_many(whole)
    return [_range(part, whole) for part in text.split(",")]


def _range(part: str, text: str) -> tuple[range, int]:
    """The numbers of a range and how many digits they have at least."""
    found = _RANGE.fullmatch(part)
    if found is None:
        raise InvalidInput(f"'{part[:60]}' in '{text[:60]}' is not a number or a range like 1-8")
    low = found[1]
    high = found[2] or low
    if int(high) < int(low):
        raise InvalidInput(f"'{part[:60]}' in '{text[:60]}' is not a range from low to high")
    if int(high) - int(low) >= MOST_NAMES:
        raise _too_many(text)
    return range(int(low), int(high) + 1), len(low)


def _too_many(text: str) -> InvalidInput:
    return InvalidInput(
        f"'{text[:60]}' stands for more than {MOST_NAMES} names, the most that a list can have"
    )
