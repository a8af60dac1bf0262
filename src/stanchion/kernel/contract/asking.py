"""What answers an asking guard, and what it can show of an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol


class Calls(Protocol):
    """Is answered by code. Asked when the policy is put in force; every asking guard has it that
    does not recall."""

    @property
    def call(self) -> str | Callable[..., Any]:
        """Where that code is imported from, as `module:name`; or, of a guard that is handed in, the
        code itself. It is given the payload of the lookup, in a thread beside the engine."""


class Isolated(Protocol):
    """Has its code run in a process of its own. Asked when the policy is put in force."""

    @property
    def isolated(self) -> bool:
        """Whether it does."""


class Deep(Protocol):
    """May be late: calls of low and medium risk go ahead then, and its answer enters the run's next
    event."""

    @property
    def deep(self) -> bool:
        """Whether it may."""


class Routed(Protocol):
    """Is waited for by the risk of what it judges. Asked when the policy is put in force."""

    def routed(self, waits: Mapping[str, int], /) -> Any:
        """The same guard, which waits so many milliseconds by risk, where it does not say so
        itself."""


class DeepRule(Protocol):
    """Is a deep rule: its questions are bounded for each run, it is left alone where it fails again
    and again, and its answers are kept. Asked when the policy is put in force, and beside the
    engine where it is asked."""

    @property
    def rule_version(self) -> str | None:
        """What its answers depend on besides what is asked: what another version answered is not
        taken for its own. `None`: it is no such rule."""

    @property
    def paid(self) -> bool:
        """Whether the run pays for its answers: it is not asked while the run has nothing left to
        pay with."""

    def content(self, payload: Any, /) -> Any:
        """What the answer depends on, as plain data; `None` where an answer must not be kept."""

    def checked(self, value: Any, /) -> Any:
        """An answer as it is recorded; raises where it is none."""

    def cost(self, value: Any, /) -> tuple[int, int]:
        """What an answer has cost: tokens, and millionths of a dollar."""


class Recalls(Protocol):
    """Asks the run's own memory of where values come from, with a `Recall` as the payload of its
    lookup. Asked when the policy is put in force: the memory is kept where a guard asks it, by the
    lights of the first that does."""

    @property
    def recalls(self) -> bool:
        """Whether it does."""

    @property
    def remember(self) -> bool:
        """Whether what a person approved counts for the rest of the run."""

    @property
    def share(self) -> bool:
        """Whether what a run learns is kept in the store, for its other processes."""

    def tool(self, tenant: str, name: str, traits: tuple[str, ...] = (), /) -> Any:
        """A tool as it is understood."""

    def prepare(self, tenant: str, /) -> None:
        """Understand the tools of which a tenant has a definition, before a run needs them."""

    @property
    def how(self) -> Any:
        """Which of the memory's rules are in force, and with what thresholds."""


class Shows(Protocol):
    """Can tell a person what an answer means. Asked where its finding waits for one."""

    def shown(self, value: Any, /) -> Mapping[str, str]:
        """What the person has to know, under the names by which it is shown."""
