"""What passes under the contract: switches, gates, guards beside others and points about their
entries, which guards hand over; and what they get to know of the policy, of the shield's places and
of tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, Protocol, TypeVar

import msgspec

from stanchion.kernel.stages import Stage
from stanchion.kernel.tuples import NamedTuple

G = TypeVar("G", bound=msgspec.Struct)

Switch = tuple[Callable[[Any], Any], frozenset[Any]]
"""What is asked of a reading, and the answers without which a pure guard certainly passes."""


class GuardGate(NamedTuple):
    """What has to be in an event, any of it, for a guard to have something to say: expressions of
    RE2 that stand in the texts of `reading.leaves` (with `\\x1f` between them), or `flat` ones that
    stand in `reading.joined.flat`, or work for `reading.of` that gives something else than `None`.
    No shorter texts than `shortest` have any.

    An event that `opens` is looked at whatever its texts say: by its run, its tool, and the names
    and types of its arguments."""

    expressions: tuple[str, ...] = ()
    works: tuple[Callable[[Any], Any], ...] = ()
    shortest: int = 0
    flat: tuple[str, ...] = ()
    opens: Callable[[Any], bool] | None = None


class Beside(NamedTuple):
    """A guard that stands beside another in its name: its id is the other's with `suffix`; it
    stands where the other does unless it has `stages`."""

    suffix: str
    guard: Any
    stages: frozenset[Stage] | None = None
    logs_pass: bool = True


class Cure(NamedTuple):
    """A line of policy that may cure a finding: where it stands (an option of the guard, or
    `/TABLE/NAME/KEY`; a plus adds to a list), its value, and what that is: a `host`, a `path`, a
    `command`, a `program`, a `value` that was read. Both have places, as remedies have; `{path}`
    and `{folder}` are each path that the call names, `{answer[...]}` what the guard was told.
    `opens` says what else it lets through that no trial shows."""

    at: str
    value: Any
    near: Literal["", "host", "path", "command", "program", "value"] = ""
    opens: str = ""


Sure = Literal["certain", "likely", "info"]


class Point(NamedTuple):
    """Something about a guard's entry; `path` leads from the entry to it."""

    code: str
    sure: Sure
    message: str
    advice: str
    path: tuple[str, ...] = ()


class Standing(NamedTuple):
    """A guard's place, as it is told when somebody looks its entry over; mark `last` of a task
    waits for a person, or none does where it is 0."""

    id: str
    stages: frozenset[Stage]
    shadow: bool
    last: int


class PolicySaid(Protocol):
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

    @property
    def identity_fields(self) -> tuple[str, ...]:
        """The fields of records that name things; empty for the usual ones."""

    @property
    def me(self) -> tuple[str, ...]:
        """The user's own addresses and accounts."""

    def found(self, table: str, key: str, /, only_given: bool = False) -> Callable[[str], Any]:
        """Gives what the closest entry of a name in `tasks`, `agents` or `tools`, or the role of
        that name in `roles`, says under a key; `None` where none says anything. With `only_given`
        entries without the key are passed by."""

    def names(self, table: str, /) -> tuple[str, ...]:
        """The names and globs of `tasks`, `agents` or `tools` of which the policy says anything."""

    def price(self, model: str, /) -> Any:
        """What the policy's own `prices` say that a model charges; `None` where they do not."""

    def harm_in_file(self, path: str, text: str, takes: Callable[[str], bool], /) -> str:
        """What a file that is written would do once it runs: `leak`, `fetched`, `frees`, `takes`
        (of a shell text in it that is said), or nothing."""

    def quiet(self, logger: str, busy: Callable[[], Any], /) -> None:
        """Keep a library from logging what it reads while it is busy for a guard."""


class OutsidePolicy:
    """What a guard knows of a policy while it is in none: nothing."""

    files: tuple[str, ...] = ()
    lesser_at: frozenset[Stage] = frozenset()
    timezone = "UTC"
    identity_fields: tuple[str, ...] = ()
    me: tuple[str, ...] = ()

    def found(self, _table: str, _key: str, /, only_given: bool = False) -> Callable[[str], Any]:
        """Gives nothing, whatever the name."""
        return lambda _name: None

    def names(self, _table: str, /) -> tuple[str, ...]:
        """No names."""
        return ()

    def price(self, _model: str, /) -> Any:
        """No price."""
        return None

    def harm_in_file(self, _path: str, _text: str, _takes: Callable[[str], bool], /) -> str:
        """No harm that is known."""
        return ""

    def quiet(self, _logger: str, _busy: Callable[[], Any], /) -> None:
        """Nothing is kept quiet."""


UNSAID: Final[PolicySaid] = OutsidePolicy()


def keep_said(guard: G, said: PolicySaid, /) -> G:
    """The same guard that knows in `said` what its policy says: for its `scoped`."""
    made = msgspec.structs.replace(guard)
    made.__dict__["said"] = said
    return made


class Places(Protocol):
    """Where a shield keeps what is its own, as absolute paths."""

    @property
    def closed(self) -> tuple[str, ...]:
        """What an agent may neither read nor change."""

    @property
    def policies(self) -> tuple[str, ...]:
        """What an agent may read and not change."""


class AskedValues(NamedTuple):
    """What a person is asked about where it is not the whole call: values with the arguments that
    they stand in, or the tool where there are none. `wanted` is what the user asked for, in the
    user's own words, and `choices` are values that could stand in an argument instead."""

    values: tuple[tuple[str, Any], ...]
    wanted: tuple[str, ...] = ()
    choices: tuple[tuple[str, Any], ...] = ()


Defined = Callable[[str, str], tuple[Any, Any, str]]
"""Gives the description and the schema of a tenant's tool, and a digest of both; empty where that
does not say all."""
