"""Options: what `Shield.load` takes beside the policy and its places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from pathlib import Path

    from stanchion.approvals.operators import Operator
    from stanchion.runtime.answers.resolver import Resolver
    from stanchion.runtime.coverage.coverage import Mode
    from stanchion.runtime.people.authority import Trust


class ShieldOptions(TypedDict, total=False):
    """Options of `Shield.load` that are those of `Shield` itself."""

    tenant: str | None
    """Whose runs these are on a server that many share."""
    guards: Iterable[Any]
    """Guards of the program's own, beside those of the policy."""
    safe_mode: bool | None
    """Start with the brake on: tool calls and retries are refused. The environment decides where it
    is left out."""
    operators: Iterable[Operator]
    """Who may answer tickets and move states, beside those whom the policy names."""
    trust: Trust | None
    """Which policies from files are trusted to let more through."""
    metrics: bool | None
    """Whether decisions are counted. The environment decides where it is left out, and they are
    where that says nothing."""
    resolver: Resolver | None
    """What names of hosts are looked up with, in the place of the system's."""
    coverage: Mode | None
    """Watch what the process does while runs are open. `observe` writes down what is in no call
    that was decided, `refuse` stops it as well, and does not start where an adapter does not catch
    its canary."""
    answer_threads: int
    """How many lookups of guards run at once."""
    prepare: bool
    """Whether patterns are compiled before the first event, so that none has to wait for it. A
    process that judges one event and ends is faster without."""
    awake_ns: Callable[[], int]
    """A clock that goes on while the machine sleeps, for limits of time."""
    planner: Callable[[Any], Any] | None
    """A function that says what a task may do: it is given the user's first words and the tools
    that the policy declares, and gives a list as in `shield.run(may=...)`."""
    host_secret: str | None
    """What the processes of one host know and its agents do not: with it, any of them can say the
    user's words in a run that another one has opened."""
    folder: str | Path | None
    """Where relative paths begin, and the folders that a policy names: of a process that serves
    several projects it is the project's. The working directory where it is left out."""
    nonces: Callable[[], str]
    """Where ids of runs and decisions come from."""
    chance: Callable[[], float]
    """Where the chance in waiting times comes from."""


def known(options: Mapping[str, Any], *more: str) -> None:
    """Raise `TypeError` for an option that there is not, with the one that was meant, before
    anything is opened."""
    own = ("source", "env", "store", "journal", "project", "clock", "notify")
    taken = [*ShieldOptions.__annotations__, *own, *more]
    unknown = next((name for name in options if name not in taken), None)
    if unknown is not None:
        from stanchion.policy.nearest import hint

        raise TypeError(
            f"Shield.load() got an unexpected keyword argument '{unknown}': {hint(unknown, taken)}"
        )
