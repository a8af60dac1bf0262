"""Judges of an agent's calls: a policy, and what it is held against."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.definitions import reads_definitions
from stanchion.runtime.shield import Shield

READS: Final = ("get", "list", "read", "search", "find", "check", "view", "show", "fetch", "count")
"""Tools whose names begin so change nothing."""


class Stop(msgspec.Struct, frozen=True):
    """Something that was kept from happening: by what it is called, why, and whether a person is
    asked about it."""

    what: str
    code: str
    why: str = ""
    asks: bool = False

    @property
    def line(self) -> str:
        """It in a list of misses."""
        return f"{self.what}: {self.code}{f': {self.why}' if self.why else ''}"


class Ruling(NamedTuple):
    """What a judge says of something: what was stopped, or else what is left of it."""

    stop: Stop | None
    left: Any = None


class Judge(Protocol):
    """Follows one run of an agent."""

    def prompt(self, text: str) -> Ruling:
        """The user says something."""

    def call(self, tool: str, args: dict[str, Any]) -> Ruling:
        """A call is about to be made."""

    def result(self, tool: str, args: dict[str, Any], text: str) -> Ruling:
        """It was made, and brought this."""

    def failure(self, tool: str, args: dict[str, Any], text: str) -> None:
        """It was made, and failed."""

    def answer(self, text: str) -> Ruling:
        """The agent's last words."""


def is_read(tool: str) -> bool:
    """Whether a tool changes nothing, by its name."""
    return tool.partition("_")[0] in READS


class Unguarded:
    """Lets everything happen."""

    def prompt(self, text: str) -> Ruling:
        """Nothing is stopped."""
        return Ruling(None, text)

    def call(self, tool: str, args: dict[str, Any]) -> Ruling:
        """Nothing is stopped."""
        return Ruling(None, args)

    def result(self, tool: str, args: dict[str, Any], text: str) -> Ruling:
        """Nothing is stopped."""
        return Ruling(None, text)

    def failure(self, tool: str, args: dict[str, Any], text: str) -> None:
        """Nothing is stopped."""

    def answer(self, text: str) -> Ruling:
        """Nothing is stopped."""
        return Ruling(None, text)


class Naive(Unguarded):
    """Lets a call change something only where each of its values stands in the user's words."""

    def __init__(self) -> None:
        self._said = ""

    def prompt(self, text: str) -> Ruling:
        """Remember the words."""
        self._said += f"\n{text.casefold()}"
        return Ruling(None, text)

    def call(self, tool: str, args: dict[str, Any]) -> Ruling:
        """Stop a value that is not the user's."""
        foreign = [value for value in _values(args) if value.casefold() not in self._said]
        if is_read(tool) or not foreign:
            return Ruling(None, args)
        return Ruling(Stop(tool, "naive", f"`{foreign[0]}` is not the user's", asks=True))


def _values(data: Any) -> Iterator[str]:
    match data:
        case dict():
            for value in data.values():
                yield from _values(value)
        case list() | tuple():
            for value in data:
                yield from _values(value)
        case bool() | None:
            return
        case _:
            yield str(data)


class Guarded:
    """A run under a policy."""

    def __init__(self, shield: Shield, tenant: str) -> None:
        self._run = shield.run(agent="agent", task=tenant, tenant=tenant)
        self._open = ""

    def prompt(self, text: str) -> Ruling:
        """Judged as the user's words."""
        return ruling("the user's words", self._run.prompt(text), text)

    def call(self, tool: str, args: dict[str, Any]) -> Ruling:
        """Judged as the call of a tool that somebody else runs."""
        decision = self._run.check(tool, args)
        self._open = decision.id
        return ruling(tool, decision, args)

    def result(self, tool: str, args: dict[str, Any], text: str) -> Ruling:
        """Judged as its result."""
        return ruling(
            f"result of {tool}", self._run.result(tool, args, text, call=self._open), text
        )

    def failure(self, tool: str, args: dict[str, Any], text: str) -> None:
        """Told as its error."""
        self._run.error(tool, "ToolError", text=text, args=args, call=self._open)

    def answer(self, text: str) -> Ruling:
        """Judged as a final answer."""
        return ruling("the answer", self._run.model_reply(text, final=True), text)


def ruling(what: str, decision: Decision, content: Any) -> Ruling:
    """What a decision stops, or leaves of that content."""
    if decision.proceeds:
        return Ruling(None, decision.patched(content))
    return Ruling(Stop(what, decision.code, decision.message, decision.action is Action.ESCALATE))


def shield_for(policy: CompiledPolicy, tools: list[dict[str, Any]]) -> Shield:
    """A shield of its own for a measurement, that knows these tools where the policy wants to."""
    shield = Shield(policy, safe_mode=False)
    if reads_definitions(policy):
        shield.ingest(tools)
    return shield


def definitions(suite: Any) -> list[dict[str, Any]]:
    """The tools of a suite as their users define them."""
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters.model_json_schema(),
        }
        for tool in suite.tools
    ]
