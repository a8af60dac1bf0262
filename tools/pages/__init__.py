"""One file here generates one page: it says where the page goes in `PATH` and returns it from
`render()`."""

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import NamedTuple


class Page(NamedTuple):
    """A generated page: its path from the repository root, and what renders it."""

    path: str
    render: Callable[[], str]


@cache
def discover() -> tuple[Page, ...]:
    """List every page that has a generator, ordered by path; a page is rendered once, whoever asks
    for it."""
    modules = [
        importlib.import_module(f"{__name__}.{found.name}")
        for found in pkgutil.iter_modules(__path__)
    ]
    return tuple(
        sorted(
            (Page(module.PATH, cache(module.render)) for module in modules),
            key=lambda page: page.path,
        )
    )
