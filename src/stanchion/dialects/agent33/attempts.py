"""Attempts: how often an action has failed since it last worked, for hosts that do not count it
themselves."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import sha256
from typing import Any, Final

from stanchion.locks import Lock
from stanchion.readings.canonical import canonical
from stanchion.runtime.values import Unreadable, arguments

MOST: Final = 256
"""How many actions are remembered; the one that failed longest ago is forgotten first."""


class Attempts:
    """Counts failures of actions that are the same: of one tool, with the same arguments."""

    def __init__(self) -> None:
        self._failed: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._lock: Final = Lock()

    def failed(self, tool: str, args: dict[str, Any] | None, attempt: int | None) -> int | None:
        """Which attempt it was that failed: the one that is given, or one more than last time."""
        name = _name(tool, args)
        with self._lock:
            before = self._failed.pop(name, 0)
            counted = attempt if type(attempt) is int else before + 1
            self._failed[name] = counted
            if len(self._failed) > MOST:
                self._failed.popitem(last=False)
        return counted if attempt is None else attempt

    def worked(self, tool: str, args: dict[str, Any] | None) -> None:
        """An action has worked: what fails next of it is a first attempt."""
        if self._failed:
            with self._lock:
                self._failed.pop(_name(tool, args), None)


def _name(tool: str, args: dict[str, Any] | None) -> tuple[str, str]:
    """What an action is known by. Arguments that cannot be read do not tell actions of a tool
    apart."""
    try:
        said = canonical(arguments({} if args is None else args, copies=False).content)
    except Unreadable:
        return tool, ""
    return tool, sha256(said.encode("utf-8", "surrogatepass")).hexdigest()
