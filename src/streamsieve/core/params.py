"""Parameters: default, domain, meaning. A domain validates, coerces NumPy scalars and prints itself."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


class Domain(Protocol):
    def __str__(self) -> str:
        """The domain as text for docstrings, errors and `--help`."""

    def accept(self, value: Any) -> Any:
        """The value, with NumPy scalars converted to Python; ValueError if it is outside the domain."""


class ParamError(ValueError):
    """A parameter outside its domain. Callers with other names for it can format `name` and `value` again."""

    def __init__(self, name: str, value: Any, expected: str) -> None:
        super().__init__(f"{name}={value!r}; {expected}")
        self.name, self.value, self.expected = name, value, expected

    def __reduce__(self) -> Any:
        return type(self), (self.name, self.value, self.expected)


class Advice:
    """Advice to set parameters: each {} of the text is a parameter.

    `str` uses Python's names of the parameters; `render` uses other names.
    """

    def __init__(self, text: str, *params: tuple[str, Any] | str) -> None:
        self.text = text
        self.params = [param if isinstance(param, tuple) else (param, None) for param in params]

    def render(self, name: Callable[[str, Any], str]) -> str:
        """The text with each parameter formatted by `name(parameter, value)`; None: any value."""
        return self.text.format(*(name(param, value) for param, value in self.params))

    def __str__(self) -> str:
        return self.render(lambda name, value: name if value is None else f"{name}={value!r}")


@dataclass(frozen=True)
class Int:
    """Whole numbers from `least` to `most`, except bool."""

    least: int | None = None
    most: int | None = None

    def __str__(self) -> str:
        if self.least is not None and self.least == self.most:
            return str(self.least)
        return "int" + _bounds(self.least, self.most)

    def accept(self, value: Any) -> int:
        if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
            raise ValueError
        number = int(value)
        if (self.least is not None and number < self.least) or (self.most is not None and number > self.most):
            raise ValueError
        if self.most is None and number >= 2**63:
            raise ValueError(f"{self} below 2^63")  # limit of the kernels
        return number


@dataclass(frozen=True)
class Real:
    """Finite numbers from `least` to `most`, or strictly `above` and `below`."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None

    def __str__(self) -> str:
        low = f"({self.above:g}" if self.above is not None else f"[{self.least or 0:g}"
        if self.below is not None or self.most is not None:
            high = f"{self.below:g})" if self.below is not None else f"{self.most:g}]"
            return f"float in {low}, {high}"
        return "float" + (f" > {self.above:g}" if self.above is not None else _bounds(self.least, None))

    def accept(self, value: Any) -> float:
        if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
            raise ValueError
        try:
            number = float(value)
        except OverflowError:
            raise ValueError(f"a finite {self}") from None
        if not math.isfinite(number):
            raise ValueError
        low = (self.least is None or number >= self.least) and (self.above is None or number > self.above)
        high = (self.most is None or number <= self.most) and (self.below is None or number < self.below)
        if not (low and high):
            raise ValueError
        return number


@dataclass(frozen=True)
class Bool:
    def __str__(self) -> str:
        return "bool"

    def accept(self, value: Any) -> bool:
        if not isinstance(value, bool | np.bool_):
            raise ValueError
        return bool(value)


class Bytes:
    """A number of bytes, at least `least`, or a text such as '256MB'; powers of 1024."""

    def __init__(self, least: int) -> None:
        self.least = least

    def __str__(self) -> str:
        return f"int >= {self.least} or str such as '256MB'"

    def accept(self, value: Any) -> int | str:
        if size_of(value) < self.least:
            raise ValueError
        return value if isinstance(value, str) else int(value)


def size_of(value: Any) -> int:
    """Bytes from a number or a text; ValueError for anything else."""
    if not isinstance(value, str):
        return Int().accept(value)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMG]?)B?\s*", value.upper())
    if match is None:
        raise ValueError
    return int(float(match[1]) * 1024 ** " KMG".index(match[2] or " "))


class OneOf:
    """One of a few words."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def __str__(self) -> str:
        return "{" + ", ".join(map(repr, self.words)) + "}"

    def accept(self, value: Any) -> str:
        if not isinstance(value, str) or value not in self.words:
            raise ValueError
        return str(value)


class Or:
    """One of several domains, words or None."""

    def __init__(self, *choices: Domain | str | None) -> None:
        self.choices = choices

    def __str__(self) -> str:
        domains = [str(choice) for choice in self.choices if not isinstance(choice, str | None)]
        words = [repr(choice) for choice in self.choices if isinstance(choice, str | None)]
        return " or ".join(domains + words)

    def accept(self, value: Any) -> Any:
        closer = ""
        for choice in self.choices:
            if isinstance(choice, str | None):
                if value is None if choice is None else isinstance(value, str) and value == choice:
                    return choice
                continue
            try:
                return choice.accept(value)
            except ValueError as error:
                closer = str(error) or closer
        raise ValueError(closer)


@dataclass(frozen=True)
class Kind:
    """Values of some Python types, for parameters without a narrower domain: callables, lists of names."""

    name: str
    types: tuple[type, ...] = ()
    callable: bool = False

    def __str__(self) -> str:
        return self.name

    def accept(self, value: Any) -> Any:
        if isinstance(value, self.types) or (self.callable and callable(value)):
            return value
        raise ValueError


def _bounds(least: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f" in [{least:g}, {most:g}]"
    return f" >= {least:g}" if least is not None else f" <= {most:g}" if most is not None else ""


@dataclass(frozen=True)
class Parameter:
    """Declaration by `Param`; `live` parameters may change between two calls of `partial_fit`."""

    default: Any
    domain: Domain
    meaning: str
    symbol: str = ""
    live: bool = False

    def check(self, name: str, value: Any) -> Any:
        try:
            return self.domain.accept(value)
        except ValueError as error:
            raise ParamError(name, value, f"expected {str(error) or self.domain}: {self.meaning}") from None

    @property
    def text(self) -> str:
        """The meaning, with the symbol of the paper."""
        return self.meaning + (f" The paper's {self.symbol}." if self.symbol else "")


def Param(default: Any, domain: Domain, meaning: str, *, symbol: str = "", live: bool = False) -> Any:
    """A parameter of a method: a class attribute, whose values are attributes of the instances."""
    return Parameter(default, domain, meaning, symbol, live)
