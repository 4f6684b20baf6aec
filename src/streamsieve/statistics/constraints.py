"""Constraints on the weights, given by names, groups or indices.

`Constraints` stores them and `resolve` converts names to indices. `standardize.py` applies them to the
averages, so that an extractor needs them only in its scalar problem.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.params import Bool, Or, Param, ParamError
from ..core.rows import Array

Ints = NDArray[np.int64]
Feature = str | int


def _feature(value: Any) -> Feature:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 0:
        return int(value)
    raise ValueError


def _number(value: Any) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        raise ValueError
    return float(value)


def _several(value: Any) -> list[Any]:
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray | set | frozenset):
        raise ValueError
    return list(value)


class Features:
    """Names or indices."""

    def __str__(self) -> str:
        return "list of names or indices"

    def accept(self, value: Any) -> list[Feature]:
        if isinstance(value, str | int | np.integer):
            value = [value]
        return [_feature(item) for item in _several(value)]


class PerFeature:
    """A value for some features, by name, or a value for each feature."""

    def __init__(self, name: str, value: Callable[[Any], Any], for_all: bool = False) -> None:
        self.name, self.value, self.for_all = name, value, for_all

    def __str__(self) -> str:
        return self.name

    def accept(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {_feature(name): self.value(item) for name, item in value.items()}
        if self.for_all:
            try:
                return self.value(value)  # one for all features
            except ValueError:
                pass
        return [self.value(item) for item in _several(value)]


def _penalty_factor(value: Any) -> float:
    factor = _number(value)
    if not factor >= 0:
        raise ValueError
    return factor


def _interval(value: Any) -> tuple[float, float]:
    low, high = (None if end is None else _number(end) for end in _several(value))
    low, high = -math.inf if low is None else low, math.inf if high is None else high
    if not low <= 0 <= high:
        raise ValueError
    return low, high


class Groups:
    """Lists of features, with names or without."""

    def __str__(self) -> str:
        return "dict of names and non-empty lists of features, or list of such lists"

    def accept(self, value: Any) -> Any:
        features = Features()
        named = value if isinstance(value, dict) else dict(enumerate(_several(value)))
        out = {_feature(name): features.accept(members) for name, members in named.items()}
        if not all(out.values()) or any(isinstance(members, str) for members in named.values()):
            raise ValueError
        return out if isinstance(value, dict) else list(out.values())


KEEP = Param(
    None,
    Or(Features(), None),
    "Features that are in every model, by name or index; they count towards k. Name a group by any of its "
    "features, or by its name.",
    live=True,
)
PENALTY_FACTOR = Param(
    None,
    Or(PerFeature("dict of features and floats >= 0 or list of p floats >= 0", _penalty_factor), None),
    "Factor of the penalty of each feature, 1 by default: 0 keeps a feature, inf excludes it. Methods that "
    "rank features by their weights divide the weights by it.",
    live=True,
)
POSITIVE = Param(
    False, Or(Bool(), Features()), "Features whose weights must be at least 0. True: all features.", live=True
)
BOUNDS = Param(
    None,
    Or(
        PerFeature(
            "(lower, upper) for all features, dict of features and such pairs, or list of p pairs; "
            "lower <= 0 <= upper, with None in a pair for no limit,",
            _interval,
            for_all=True,
        ),
        None,
    ),
    "Limits of the weights, in original units. They must contain 0, the weight of a feature that is not "
    "selected.",
    live=True,
)
GROUPS = Param(
    None,
    Or(Groups(), None),
    "Features that are selected together or not at all; k counts groups. Other features are groups of one.",
    live=True,
)
GROUP_CATEGORIES = Param(
    False,
    Bool(),
    "If True, the one-hot features of a column form a group. They are recognised by their names, "
    "`column=value`, as `read` and the command line name them.",
    live=True,
)


@dataclass(frozen=True)
class Constraints:
    """All constraints; the fields are the parameters of the same names."""

    keep: Any = None
    penalty_factor: Any = None
    positive: Any = False
    bounds: Any = None
    groups: Any = None
    group_categories: Any = False

    def __post_init__(self) -> None:
        for name, param in PARAMS.items():
            object.__setattr__(self, name, param.check(name, getattr(self, name)))

    @classmethod
    def of(cls, method: Any) -> Constraints:
        """The constraints of a method, from its parameters."""
        return cls(**{name: getattr(method, name) for name in PARAMS if hasattr(method, name)})

    @property
    def given(self) -> dict[str, Any]:
        """The constraints that are set."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value not in (None, False, [], {})}

    def check(self, method: str, refused: dict[str, str], *, standardize: bool = True) -> None:
        """Raise ParamError for constraints that a method does not support or that are incompatible."""
        for name, value in self.given.items():
            if name in refused:
                raise ParamError(name, value, f"{method} {refused[name]}")
        if self.groups or self.group_categories:
            name = "groups" if self.groups else "group_categories"
            value = getattr(self, name)
            for other in ("positive", "bounds"):
                if other in self.given:
                    raise ParamError(
                        other,
                        self.given[other],
                        f"expected without {name}: the penalty of a group has no direction. Bound features "
                        "one by one, or leave the bounds out.",
                    )
            if not standardize:
                raise ParamError(
                    name, value, "expected standardize=True: the features of a group are made uncorrelated."
                )

    def resolve(self, p: int, names: Sequence[Any] | None, first_index: int = 0) -> Resolved:
        """Convert names to indices of p features; ParamError for unknown features."""
        find = Finder(p, names, first_index)
        groups = self._groups(find)
        label = np.arange(p)
        for at in groups.values():
            label[at] = at[0]
        find.groups = groups if self.groups or self.group_categories else {}
        factor = self._each("penalty_factor", self.penalty_factor, find, 1.0)
        kept = find.all("keep", self.keep or [])
        kept = np.flatnonzero(np.isin(label, label[kept])) if len(kept) else kept
        factor[kept] = 0.0
        for name, at in groups.items():
            if len(np.unique(factor[at])) > 1:
                raise ParamError(
                    "penalty_factor",
                    factor[at].tolist(),
                    f"expected one factor for all features of group {name!r}; pass it by the group's name.",
                )
        box = self._each("bounds", self.bounds, find, (-math.inf, math.inf))
        if self.positive:
            at = np.arange(p) if self.positive is True else find.all("positive", self.positive)
            box[at, 0] = np.maximum(box[at, 0], 0.0)
        has_groups = bool(self.groups) or self.group_categories
        return Resolved(
            factor, box[:, 0], box[:, 1], np.unique(label, return_inverse=True)[1] if has_groups else None
        )

    def _groups(self, find: Finder) -> dict[Any, Ints]:
        groups: dict[Any, Ints] = {}
        if self.group_categories:
            groups |= find.categories()
        if self.groups:
            named = self.groups if isinstance(self.groups, dict) else dict(enumerate(self.groups))
            seen = {int(j): name for name, at in groups.items() for j in at}
            for name, members in named.items():
                at = find.all("groups", members)
                twice = next((int(j) for j in at if int(j) in seen), None)
                if twice is not None or len(at) < len(members):
                    what = members if twice is None else find.name(twice)
                    other = name if twice is None else seen[twice]
                    raise ParamError(
                        "groups",
                        what,
                        f"expected in one group only, but it is also in {other!r}; merge the two groups.",
                    )
                seen |= {int(j): name for j in at}
                groups[name] = at
        return groups

    @staticmethod
    def _each(name: str, value: Any, find: Finder, default: Any) -> Array:
        out = np.full((find.p, *np.shape(default)), default, dtype=np.float64)
        if isinstance(value, dict):
            for feature, item in value.items():
                out[find.all(name, [feature])] = item
        elif isinstance(value, list):
            if len(value) != find.p:
                raise ParamError(
                    name,
                    f"{len(value)} values",
                    f"expected one for each of the {find.p} features, or a dict of some of them.",
                )
            out[:] = value
        elif value is not None:
            out[:] = value
        return out


PARAMS = {
    "keep": KEEP,
    "penalty_factor": PENALTY_FACTOR,
    "positive": POSITIVE,
    "bounds": BOUNDS,
    "groups": GROUPS,
    "group_categories": GROUP_CATEGORIES,
}


@dataclass(frozen=True, eq=False)
class Resolved:
    """Constraints by feature.

    Attributes
    ----------
    factor : ndarray of shape (p,)
        Penalty factors; 0 for features that are always kept, inf for excluded features.
    lower, upper : ndarray of shape (p,)
        In original units.
    group : ndarray of int of shape (p,) or None
        Number of the group of each feature; None without groups.
    """

    factor: Array
    lower: Array
    upper: Array
    group: Ints | None

    @property
    def kept(self) -> Ints:
        return np.flatnonzero(self.factor == 0)

    @property
    def bounded(self) -> NDArray[np.bool_]:
        mask: NDArray[np.bool_] = (self.lower > -np.inf) | (self.upper < np.inf)
        return mask


class Finder:
    """Finds features by name or index."""

    def __init__(self, p: int, names: Sequence[Any] | None, first_index: int = 0) -> None:
        self.p, self.first_index = p, first_index
        self.names = None if names is None else [str(name) for name in names]
        self.at = {} if self.names is None else {name: j for j, name in enumerate(self.names)}
        self.groups: dict[Any, Ints] = {}

    def name(self, j: int) -> str:
        return str(j + self.first_index) if self.names is None else self.names[j]

    def all(self, param: str, features: Sequence[Feature]) -> Ints:
        """Their places, ascending."""
        places = [self.one(param, feature) for feature in features]
        return np.unique(np.concatenate(places)) if places else np.empty(0, dtype=np.int64)

    def one(self, param: str, feature: Feature) -> Ints:
        if isinstance(feature, str) and self.names is None and feature.isdecimal():
            feature = int(feature) - self.first_index  # features that are only numbered
        if isinstance(feature, int) and 0 <= feature < self.p:
            return np.array([feature], dtype=np.int64)
        if feature in self.at:
            return np.array([self.at[str(feature)]], dtype=np.int64)
        if feature in self.groups:
            return self.groups[feature]
        raise ParamError(param, feature, f"expected features of this model; {self._hint(feature)}")

    def _hint(self, feature: Feature) -> str:
        if isinstance(feature, int) or self.names is None:
            last = self.p - 1 + self.first_index
            named = "" if isinstance(feature, int) else "they have no names, "
            return f"{named}they are numbered {self.first_index} to {last}."
        known = [*self.at, *map(str, self.groups)]
        near = difflib.get_close_matches(feature, known, n=3, cutoff=0.5)
        if near:
            return f"did you mean {' or '.join(map(repr, near))}?"
        return f"they are {', '.join(map(repr, known[:8]))}{', ...' if len(known) > 8 else ''}."

    def categories(self) -> dict[Any, Ints]:
        """The one-hot features of each column: those named ``column=value``."""
        if self.names is None:
            raise ParamError(
                "group_categories", True, "expected features with names, such as 'city=Rome'; pass groups."
            )
        found: dict[str, list[int]] = {}
        for j, name in enumerate(self.names):
            column, equals, _ = name.partition("=")
            if equals:
                found.setdefault(column, []).append(j)
        return {column: np.array(at, dtype=np.int64) for column, at in found.items()}
