"""What a guard gets to know when it is put in force: what the policy says elsewhere, the shield's
places, the tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from stanchion.kernel.stages import Stage


class Said(Protocol):
    """What a policy says beside a guard's own entry."""

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the policy itself, as they were named and as absolute paths."""

    @property
    def lesser_at(self) -> frozenset[Stage]:
        """Where the policy has something lesser to ask for."""

    @property
    def timezone(self) -> str:
        """The time zone of the policy's hours, days and months."""

    def found(self, table: str, key: str, /, only_given: bool = False) -> Callable[[str], Any]:
        """Gives what the closest entry of a name in `tasks`, `agents` or `tools`, or the role of
        that name in `roles`, says under a key; `None` where none says anything. With `only_given`
        entries without the key are passed by."""

    def price(self, model: str, /) -> Any:
        """What the policy's own `prices` say that a model charges; `None` where they do not."""

    def harm_in_file(self, path: str, text: str, takes: Callable[[str], bool], /) -> str:
        """What a file that is written would do once it runs: `leak`, `fetched`, `frees`, `takes`
        (of a shell text in it that is said), or nothing."""

    def quiet(self, logger: str, busy: Callable[[], Any], /) -> None:
        """Keep a library from logging what it reads while it is busy for a guard."""


class Places(Protocol):
    """Where a shield keeps what is its own, as absolute paths."""

    @property
    def closed(self) -> tuple[str, ...]:
        """What an agent may neither read nor change."""

    @property
    def policies(self) -> tuple[str, ...]:
        """What an agent may read and not change."""


Defined = Callable[[str, str], tuple[Any, Any, str]]
"""Gives the description and the schema of a tenant's tool, and a digest of both; empty where that
does not say all."""
