"""A shield that is somewhere else, as its runs know it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from stanchion.runtime.calling.tool import Tool
from stanchion.runtime.remote.link import Link


class Far(Protocol):
    """A shield that is somewhere else, as far as its runs need it."""

    @property
    def link(self) -> Link: ...

    @property
    def tool_of(self) -> Callable[..., Tool]: ...

    def new_id(self) -> str: ...
