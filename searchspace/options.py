"""Parameters of methods and families: how many of what, an amount, numbers, or a name of some."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from searchspace.configuration import Scalar
from searchspace.errors import InvalidInput

__all__ = ["Amount", "Choice", "Numbers", "Option", "Whole"]


@dataclass(frozen=True)
class Option(ABC):
    """A parameter of a topology family or of a method.

    Attributes:
        name: Its name in job files and on the command line.
        description: One line for people.
    """

    name: str
    description: str

    @abstractmethod
    def read(self, value: Any) -> Scalar:
        """Brings a value into its one form.

        Raises:
            InvalidInput: It is not a value of this parameter.
        """

    @property
    @abstractmethod
    def initial(self) -> Scalar | None:
        """What it is when nothing is said; None when the size and degree decide."""

    @property
    @abstractmethod
    def allowed(self) -> str:
        """The values in words."""


class Defaulted(Option):
    """A parameter whose initial value stands in its description."""

    default: Scalar | None

    @property
    @override
    def initial(self) -> Scalar | None:
        return self.default


@dataclass(frozen=True)
class Whole(Defaulted):
    """A whole number."""

    low: int
    high: int = 1_000_000
    default: int | None = None

    @override
    def read(self, value: Any) -> Scalar:
        if isinstance(value, str) and re.fullmatch(r"\d{1,9}", value):
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise InvalidInput(f"must be a whole number, not {value!r}", field=self.name)
        if not self.low <= value <= self.high:
            raise InvalidInput(f"must be {self.allowed}, not {value}", field=self.name)
        return value

    @property
    @override
    def allowed(self) -> str:
        return f"a whole number from {self.low} to {self.high}"


@dataclass(frozen=True)
class Amount(Defaulted):
    """A number that need not be whole."""

    low: float
    high: float
    default: float

    @override
    def read(self, value: Any) -> Scalar:
        try:
            amount = float(value)
        except (TypeError, ValueError):
            amount = math.nan
        if isinstance(value, bool) or not self.low <= amount <= self.high:
            raise InvalidInput(f"must be {self.allowed}, not {value!r}", field=self.name)
        return amount

    @property
    @override
    def allowed(self) -> str:
        return f"a number from {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Numbers(Defaulted):
    """A list of whole numbers, written `8,8,4` or `8x8x4`."""

    low: int = 1
    default: str | None = None

    @override
    def read(self, value: Any) -> Scalar:
        text = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
        parts = re.split(r"[x,]", text.replace(" ", ""))
        if not all(re.fullmatch(r"\d{1,9}", part) for part in parts) or len(parts) > 64:
            raise InvalidInput(f"must be {self.allowed}, not {value!r}", field=self.name)
        numbers = [int(part) for part in parts]
        if min(numbers) < self.low:
            raise InvalidInput(
                f"each number must be at least {self.low}, not {min(numbers)}", field=self.name
            )
        return ",".join(map(str, numbers))

    @property
    @override
    def allowed(self) -> str:
        return "whole numbers like 8,8,4 or 8x8x4"


@dataclass(frozen=True)
class Choice(Option):
    """One of some names; the first one when nothing is said."""

    choices: tuple[str, ...]

    @override
    def read(self, value: Any) -> Scalar:
        if value not in self.choices:
            raise InvalidInput(f"unknown value {value!r}; allowed: {self.allowed}", field=self.name)
        return str(value)

    @property
    @override
    def initial(self) -> Scalar | None:
        return self.choices[0]

    @property
    @override
    def allowed(self) -> str:
        return ", ".join(self.choices)
