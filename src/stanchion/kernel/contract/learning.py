"""What a guard gets to know when it is put in force: what the policy says elsewhere, the shield's
places, the tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, Self

from stanchion.kernel.contract.values import Beside
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

    def reach_in_file(self, path: str, text: str, own: Any, /) -> str:
        """How surely a file that is written would do what only a person may do."""

    def harm_in_file(self, path: str, text: str, takes: Callable[[str], bool], /) -> str:
        """What a file that is written would do once it runs: `leak`, `fetched`, `frees`, `takes`
        (of a shell text in it that is said), or nothing."""

    def quiet(self, logger: str, busy: Callable[[], Any], /) -> None:
        """Keep a library from logging what it reads while it is busy for a guard."""


class ReadsTables(Protocol):
    """Judges by what the policy says of tasks, agents, roles and tools. Asked of its class when a
    policy is compiled, where what nobody reads is an error, and when two policies are compared."""

    @property
    def reads(self) -> frozenset[tuple[str, str]]:
        """What it reads, each as table and key, such as `("tools", "needs")`."""


class Scoped(Protocol):
    """Wants to know what the policy says beside its entry. Told when it is placed."""

    def scoped(self, said: Said, /) -> Self:
        """The same guard that knows it."""


class Places(Protocol):
    """Where a shield keeps what is its own, as absolute paths."""

    @property
    def closed(self) -> tuple[str, ...]:
        """What an agent may neither read nor change."""

    @property
    def policies(self) -> tuple[str, ...]:
        """What an agent may read and not change."""


class ToldPlaces(Protocol):
    """Keeps agents off what is the shield's own. Told when the policy is put in force."""

    def told(self, own: Any, /) -> Self:
        """The same guard that knows these `Places`."""


class Prepares(Protocol):
    """Has something to compile. Asked once when the policy is put in force, so that no call has to
    wait for it."""

    def prepare(self, kept: Any, /) -> None:
        """Compile it, or take it from `kept`, a cache on the disk: `kept.get(name)`,
        `kept.put(name, data)`."""


Defined = Callable[[str, str], tuple[Any, Any, str]]
"""Gives the description and the schema of a tenant's tool, and a digest of both; empty where that
does not say all."""


class KnowsTools(Protocol):
    """Understands tools by their definitions. Told when the policy is put in force, and when others
    become known."""

    def knowing(self, defined: Defined, names: Callable[[str], list[str]], /) -> Self:
        """The same guard, with what tells of a tenant's tool, and what names all of them."""


class HoldsDefinitions(Protocol):
    """Holds calls against definitions of tools. Told them when it is placed and when others become
    known."""

    @property
    def tools(self) -> Any:
        """The tools it knows."""

    @property
    def hook_deadline_ms(self) -> int:
        """How long the hooks of tools may take."""

    def with_tools(self, tools: Any, memo: Any = None, /) -> Self:
        """The same guard that knows these tools, and remembers what it found in `memo`."""


class HasBeside(Protocol):
    """Needs another guard to ask or to count on its behalf. Asked when it has been placed."""

    def beside(self, stages: frozenset[Stage], /) -> Beside | None:
        """That guard, for one that stands at these stages; `None` where there is nothing to ask or
        count."""
