"""Macros over lists and maps: every element costs at least one step, a large body costs more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from stanchion.policy.conditions.arithmetic import no_overload
from stanchion.policy.conditions.costs import Purse, spend
from stanchion.policy.conditions.errors import FAILURES, TooCostly

Body = Callable[[Any], Any]


def _elements(data: Any) -> Iterable[Any] | None:
    if type(data) in (list, tuple, dict):
        return data  # type: ignore[no-any-return]  # one of the three, as just tested
    if data is None:
        return None
    raise no_overload("a loop", data)


def exists(purse: Purse, cost: int, data: Any, test: Body) -> bool:
    """Whether one element passes."""
    for each in _elements(data) or ():
        spend(purse, cost)
        if test(each):
            return True
    return False


def all_pass(purse: Purse, cost: int, data: Any, test: Body) -> bool:
    """Whether every element passes; nothing is true of a list that is missing."""
    found = _elements(data)
    if found is None:
        return False
    for each in found:
        spend(purse, cost)
        if not test(each):
            return False
    return True


def exists_one(purse: Purse, cost: int, data: Any, test: Body) -> bool:
    """Whether exactly one element passes."""
    count = 0
    for each in _elements(data) or ():
        spend(purse, cost)
        count += bool(test(each))
    return count == 1


def filtered(purse: Purse, cost: int, data: Any, test: Body) -> list[Any] | None:
    """The elements that pass."""
    found = _elements(data)
    if found is None:
        return None
    kept = []
    for each in found:
        spend(purse, cost)
        if test(each):
            kept.append(each)
    return kept


def transformed(
    purse: Purse, cost: int, data: Any, body: Body, test: Body | None = None
) -> list[Any] | None:
    """A value for each element that passes."""
    found = _elements(data)
    if found is None:
        return None
    made = []
    for each in found:
        spend(purse, cost)
        if test is None or test(each):
            made.append(body(each))
    return made


def exists_careful(purse: Purse, cost: int, data: Any, test: Body) -> bool:
    """Whether one element passes; an error in one does not hide that another does."""
    return _until(purse, cost, data, test, True)


def all_careful(purse: Purse, cost: int, data: Any, test: Body) -> bool:
    """Whether every element passes; an error in one does not hide that another fails."""
    return _until(purse, cost, data, test, False) if data is not None else False


def _until(purse: Purse, cost: int, data: Any, test: Body, wanted: bool) -> bool:
    failed: Exception | None = None
    for each in _elements(data) or ():
        spend(purse, cost)
        try:
            if bool(test(each)) is wanted:
                return wanted
        except TooCostly:
            raise
        except FAILURES as error:
            failed = error
    if failed is not None:
        raise failed
    return not wanted


def joined(every: bool, parts: Sequence[Callable[[], bool]]) -> bool:
    """All parts, or one of them; an error in one does not hide that another decides."""
    failed: Exception | None = None
    for part in parts:
        try:
            if part() is not every:
                return not every
        except TooCostly:
            raise
        except FAILURES as error:
            failed = error
    if failed is not None:
        raise failed
    return every
