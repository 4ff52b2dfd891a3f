"""Lists of hosts as Slurm writes them: `n[01-03,7],login` stands for n01, n02, n03, n7, login."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from searchspace.errors import InvalidInput

__all__ = ["expand"]

_MOST = 1 << 20
_PART = re.compile(r"\[([^\[\]]*)\]|([^,\[\]]+)|(,)|(.)")


def expand(text: str) -> list[str]:
    """Writes a list out.

    Raises:
        InvalidInput: A bracket is not closed, a range is not `low-high`, or there are too many.
    """
    names: list[str] = []
    for group in _split(text):
        for parts in itertools.product(*group):
            names.append("".join(parts))
        _check_count(len(names), text)
    return names


def _check_count(count: int, text: str) -> None:
    if count > _MOST:
        raise InvalidInput(f"'{text[:60]}' stands for more than {_MOST} names")


def _split(text: str) -> Iterator[list[list[str]]]:
    """Yields for each name of the list what its parts can be."""
    group: list[list[str]] = []
    combinations = 1
    for match in _PART.finditer(text):
        ranges, plain, comma, other = match.groups()
        if other is not None:
            raise InvalidInput(f"'{text[:60]}' has a bracket that is not closed")
        if comma is not None:
            if group:
                yield group
            group, combinations = [], 1
        elif plain is not None:
            group.append([plain])
        else:
            numbers: list[str] = []
            for part in ranges.split(","):
                found, width = _range(part, text)
                _check_count(combinations * (len(numbers) + len(found)), text)
                numbers += (str(number).zfill(width) for number in found)
            combinations *= len(numbers)
            group.append(numbers)
    if group:
        yield group


def _range(part: str, text: str) -> tuple[range, int]:
    """The numbers of a range and how many digits they have at least."""
    found = re.fullmatch(r"\s*(\d{1,9})(?:-(\d{1,9}))?\s*", part)
    if found is None:
        raise InvalidInput(f"'{part}' in '{text[:60]}' is not a number or a range like 1-8")
    low = found[1]
    high = found[2] or low
    if int(high) < int(low) or int(high) - int(low) >= _MOST:
        raise InvalidInput(f"'{part}' in '{text[:60]}' is not a range from low to high")
    return range(int(low), int(high) + 1), len(low)
