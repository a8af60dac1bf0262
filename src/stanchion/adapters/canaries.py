"""The canaries of all adapters: which module a framework is known by, and what has it call the canary.

A new adapter `x` adds its line here, and has its canary in itself or in `x_canary`. Nothing is imported before its
canary is driven.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pkgutil import iter_modules
from typing import Final

from stanchion.hosting.canary import Came, Canary, drive_canary
from stanchion.kernel.tuples import NamedTuple


class Listed(NamedTuple):
    """An adapter: the module that is loaded where its framework is, and where its canary is."""

    framework: str
    home: str
    name: str


CANARIES: Final = {
    "httpx": Listed("httpx", "stanchion.adapters.http.canaries", "httpx_client"),
    "httpx-async": Listed("httpx", "stanchion.adapters.http.canaries", "async_httpx_client"),
    "requests": Listed("requests", "stanchion.adapters.http.canaries", "requests_session"),
    "aiohttp": Listed("aiohttp", "stanchion.adapters.http.canaries", "aiohttp_session"),
    "langchain": Listed("langchain", "stanchion.adapters.langchain_canary", "canary"),
}
"""Every adapter and its canary."""

WITHOUT: Final = {
    "agent_hooks": "it is asked by hosts in other processes and languages, which only they can drive",
}
"""The adapters that have no canary, and why. A test has every adapter stand here or there."""


def loaded() -> frozenset[str]:
    """The adapters whose framework is loaded in this process."""
    return frozenset([name for name, one in CANARIES.items() if one.framework in sys.modules])


def installed() -> tuple[str, ...]:
    """The adapters whose framework is installed."""
    return tuple([name for name, one in CANARIES.items() if _version(one.framework)])


def driven(name: str) -> Came:
    """What comes of an adapter's canary. It is driven once in a process: its framework does not change there."""
    return _driven(CANARIES[name])


@cache
def _driven(one: Listed) -> Came:
    """The same; an adapter that cannot even be loaded is not caught."""
    try:
        canary: Canary = getattr(import_module(one.home), one.name)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with a framework, its adapter does not hold
        return Came(False, f"its adapter cannot be loaded: `{type(error).__name__}: {error}`", _version(one.framework))
    return drive_canary(canary)._replace(version=_version(one.framework))


def _version(framework: str) -> str:
    try:
        return version(framework)
    except PackageNotFoundError:
        return ""


def unproven() -> tuple[str, ...]:
    """The adapters that have no canary, by the modules that there are: none is left out because nobody listed it."""
    there = {one.name for one in iter_modules([os.path.dirname(__file__)])}
    homes = {part for one in CANARIES.values() for part in one.home.split(".")[2:3]}
    proven = {*homes, *[home.removesuffix("_canary") for home in homes], *CANARIES, "canaries"}
    return tuple(sorted([name for name in there - proven if not name.endswith("_canary")]))
