"""Finite fields of any prime-power order, for constructions that need one."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

__all__ = ["Field", "field_of", "prime_power"]


def prime_power(number: int) -> tuple[int, int] | None:
    """The prime p and exponent e >= 1 with p ** e == number, or None."""
    for prime in range(2, number + 1):
        if number % prime == 0:
            exponent = 0
            while number % prime == 0:
                number //= prime
                exponent += 1
            return (prime, exponent) if number == 1 else None
        if prime * prime > number:
            return number, 1
    return None


@dataclass(frozen=True)
class Field:
    """A finite field; its elements are the numbers 0 to order - 1, 0 and 1 being what they say.

    Attributes:
        sums: sums[a][b] is a + b.
        negatives: negatives[a] is -a.
        products: products[a][b] is a b.
        primitive: An element whose powers are all elements but 0.
    """

    order: int
    sums: tuple[tuple[int, ...], ...]
    negatives: tuple[int, ...]
    products: tuple[tuple[int, ...], ...]
    primitive: int

    def powers(self) -> list[int]:
        """The powers 0 to order - 2 of the primitive element."""
        found = [1]
        while len(found) < self.order - 1:
            found.append(self.products[found[-1]][self.primitive])
        return found


def field_of(order: int) -> Field:
    """Builds a field: polynomials over the integers modulo p, modulo an irreducible one.

    An element is the number whose digits in base p are its coefficients. The modulus is the first
    monic polynomial that yields a field: one without zero divisors.

    Raises:
        ValueError: The order is not a prime power.
    """
    found = prime_power(order)
    if found is None:
        raise ValueError(f"{order} is not a prime power")
    prime, exponent = found
    digits = [tuple(n // prime**i % prime for i in range(exponent)) for n in range(order)]
    number = {coefficients: index for index, coefficients in enumerate(digits)}
    sums = tuple(
        tuple(number[tuple((x + y) % prime for x, y in zip(a, b, strict=True))] for b in digits)
        for a in digits
    )
    negatives = tuple(number[tuple(-x % prime for x in a)] for a in digits)
    for modulus in digits:
        products = tuple(
            tuple(number[_product(a, b, modulus, prime)] for b in digits) for a in digits
        )
        if all(products[a][b] for a, b in itertools.product(range(1, order), repeat=2)):
            break
    primitive = next(a for a in range(1, order) if _period(a, products) == order - 1)
    return Field(order, sums, negatives, products, primitive)


def _product(
    a: tuple[int, ...], b: tuple[int, ...], modulus: tuple[int, ...], prime: int
) -> tuple[int, ...]:
    """Multiplies modulo x ** len(modulus) + modulus."""
    size = len(modulus)
    long = [0] * (2 * size - 1)
    for (i, x), (j, y) in itertools.product(enumerate(a), enumerate(b)):
        long[i + j] += x * y
    for top in range(2 * size - 2, size - 1, -1):
        for i, m in enumerate(modulus):
            long[top - size + i] -= long[top] * m
    return tuple(x % prime for x in long[:size])


def _period(element: int, products: tuple[tuple[int, ...], ...]) -> int:
    power, period = element, 1
    while power != 1:
        power = products[power][element]
        period += 1
    return period
