"""Mutation of files, byte by byte and token by token, from one seed."""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Iterator, Sequence

__all__ = ["mutants"]

_NUMBERS = (b"0", b"-1", b"1e999", b"nan", b"4294967296", b"18446744073709551616", b"9" * 40, b"")
_WORDS = (b"<!DOCTYPE x [<!ENTITY a \"b\">]>", b"&a;", b"&a *a", b"!!python/object:x", b"\x00",
          b"\xff\xfe", b"\r", b"../../x", b"[" * 300, b"{\"a\":" * 300, b"(" * 50)  # fmt: skip
_TOKEN = re.compile(rb"[0-9.eE+-]+|[A-Za-z_]+|[^\sA-Za-z0-9]")
_WIDE = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def mutants(seeds: Sequence[bytes], count: int, seed: int) -> Iterator[bytes]:
    """So many files, each a few mutations away from one of the seeds."""
    generator = random.Random(seed)
    for _ in range(count):
        content = generator.choice(seeds)
        for _ in range(generator.choice((1, 1, 2, 4))):
            content = _mutate(content, seeds, generator)
        yield content


def _mutate(content: bytes, seeds: Sequence[bytes], generator: random.Random) -> bytes:
    at = generator.randrange(len(content) + 1)
    to = min(len(content), at + generator.choice((1, 2, 4, 16, 256)))
    match generator.randrange(9):
        case 0:  # one bit
            at = min(at, len(content) - 1)
            if at < 0:
                return b"\x00"
            flipped = content[at] ^ (1 << generator.randrange(8))
            return content[:at] + bytes([flipped]) + content[at + 1 :]
        case 1:
            return content[:at] + generator.randbytes(to - at) + content[to:]
        case 2:
            return content[:at] + content[to:]
        case 3:
            return content[:at] + content[at:to] * generator.choice((2, 3, 50)) + content[to:]
        case 4:
            other = generator.choice(seeds)
            return content[:at] + other[generator.randrange(len(other) + 1) :]
        case 5:
            return content[:at]
        case 6:
            number = struct.pack("<I", generator.choice(_WIDE))
            return content[:at] + number + content[at + 4 :]
        case 7:
            return content[:at] + generator.choice(_WORDS) + content[at:]
    tokens = list(_TOKEN.finditer(content[: 1 << 16]))
    if not tokens:
        return content
    token = generator.choice(tokens)
    is_number = token[0][:1].isdigit()
    word = generator.choice(_NUMBERS if is_number else (*_WORDS, generator.choice(tokens)[0]))
    return content[: token.start()] + word + content[token.end() :]
