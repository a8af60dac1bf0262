"""Settings: what agents, tasks and errors are held to, in the words of the specification, as parts
of a policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, TypeVar

import msgspec

from stanchion.dialects.agent33.words import ErrorSeverity, RecoveryAction, RiskLevel
from stanchion.dialects.errors import DialectError
from stanchion.kernel.names import is_glob
from stanchion.kernel.regex import regex
from stanchion.policy.document import read_data
from stanchion.policy.errors import PolicyError
from stanchion.policy.sections import FileSection
from stanchion.policy.struct_check import convert
from stanchion.readings.paths.place import fault

S = TypeVar("S", bound=msgspec.Struct)

_ROOTED: Final = regex(r"[/~$%]|[A-Za-z?]:")
"""How a pattern begins that is not relative."""
Count = Annotated[int, msgspec.Meta(ge=0)]
Amount = Annotated[float, msgspec.Meta(ge=0)]


class Files(FileSection, frozen=True):
    """`scope.files` of a task: patterns that every target file has to match, and patterns that none
    may."""

    write: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()


class Scope(FileSection, frozen=True):
    """`scope` of a task."""

    files: Files = Files()


class Agent(FileSection, frozen=True):
    """An agent, or all whose ids match a pattern. Without `allowed_tools` every tool is allowed; an
    empty list allows none."""

    role: str = ""
    allowed_tools: tuple[str, ...] | None = None
    capabilities: tuple[str, ...] = ()
    autonomy_level: int | None = None

    def entry(self) -> dict[str, Any]:
        """The agent as a policy says it."""
        said: dict[str, Any] = {"role": self.role, "autonomy_level": self.autonomy_level}
        said |= {"allowed_tools": self.allowed_tools, "capabilities": self.capabilities}
        return _given(said)


class Task(FileSection, frozen=True):
    """A task, or all whose names match a pattern. `time_budget` is in seconds, `cost_budget` in US
    dollars."""

    token_budget: Count | None = None
    time_budget: Amount | None = None
    api_call_budget: Count | None = None
    cost_budget: Amount | None = None
    scope: Scope = Scope()
    additional_tools: tuple[str, ...] = ()
    related_tools: tuple[str, ...] | None = None
    branches: tuple[str, ...] | None = None
    risk_level: RiskLevel | None = None

    def entry(self, folder: str = "") -> dict[str, Any]:
        """The task as a policy says it. Relative patterns start in `folder`, however a file in it
        is named; without one they are about relative paths alone."""
        budget = _given(
            {
                "tokens": self.token_budget,
                "time_s": self.time_budget,
                "api_calls": self.api_call_budget,
                "cost_usd": self.cost_budget,
            }
        )
        scope = self.scope.files
        write = None if scope.write is None else _started(scope.write, folder)
        files = _given({"write": write, "deny": _started(scope.deny, folder)})
        said: dict[str, Any] = {
            "budget": budget or None,
            "files": files or None,
            "branches": self.branches,
        }
        said |= {"additional_tools": self.additional_tools, "related_tools": self.related_tools}
        return _given({**said, "risk": None if self.risk_level is None else str(self.risk_level)})


class OnError(FileSection, frozen=True):
    """What becomes of an error, by how bad it is. A quarantine isolates the agent. `backoff` is how
    many seconds pass before the first retry; each further wait is twice as long. `repeatable` names
    the tools whose actions may be attempted again: of no other is it known that it does no harm."""

    max_retries: Count = 3
    backoff: Amount = 1.0
    recoverable: RecoveryAction = RecoveryAction.RETRY
    fatal: RecoveryAction = RecoveryAction.ROLLBACK
    unknown: RecoveryAction = RecoveryAction.ESCALATE
    repeatable: tuple[str, ...] = ()

    def options(self) -> dict[str, Any]:
        """The options of the guard that does it."""
        reactions = {f"on_{severity}": str(getattr(self, severity)) for severity in ErrorSeverity}
        terms = {
            "max_retries": self.max_retries,
            "backoff_base_s": self.backoff,
        }
        return {**terms, **reactions}


def read(kind: type[S], given: object, name: str) -> S:
    """A setting that was given as it is or as a mapping; `DialectError` says what is wrong with
    it."""
    if not isinstance(given, Mapping | kind):
        raise DialectError(
            f"{name} is a `{type(given).__name__}`: give a `{kind.__name__}` or a mapping of its "
            f"fields"
        )
    try:
        # What was constructed is read again: nothing has looked at its fields until now.
        plain = msgspec.to_builtins(given)
    except TypeError as error:
        raise DialectError(f"{name}: {str(error)[:1].lower()}{str(error)[1:]}") from None
    try:
        return convert(read_data(plain, name), kind)
    except PolicyError as error:
        raise DialectError(str(error.faults[0])) from None


def read_all(kind: type[S], given: object, name: str) -> dict[str, S]:
    """Settings by the names of what they are about."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        plural = f"`{name}s` is a `{type(given).__name__}`"
        raise DialectError(f"{plural}: give a mapping from names or patterns to `{kind.__name__}`")
    return {str(key): read(kind, value, f"{name} `{key}`") for key, value in given.items()}


def _started(patterns: tuple[str, ...], folder: str) -> tuple[str, ...]:
    """Patterns, and for relative ones the same that begin at the top. A folder whose name is a
    pattern itself would stand for others, too: there only relative paths match."""
    start = folder.replace("\\", "/").rstrip("/")
    if not folder or is_glob(start):
        return patterns
    relative = [one for one in patterns if fault(one) is None and not _ROOTED.match(one)]
    depths = [
        f"{start}/{one}" if "/" in one.rstrip("/") else f"{start}/**/{one}" for one in relative
    ]
    return (*patterns, *depths)


def _given(said: dict[str, Any]) -> dict[str, Any]:
    """What was said: fields left at nothing say nothing, and an empty `allowed_tools` says a
    lot."""
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in said.items()
        if value is not None
        and value != ""
        and (value != () or key in ("allowed_tools", "write", "branches"))
    }
