"""Ingesting tools: their definitions, what was pinned of them, the hooks of their calls, and the
cache of both."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, overload

import msgspec

from stanchion.approvals.act import Purpose
from stanchion.approvals.answerers import By
from stanchion.approvals.digest import Request
from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import Fact
from stanchion.guards._jsonschema.checker import canonical
from stanchion.guards._jsonschema.outline import SchemaFault
from stanchion.guards.schema.guard import LONGEST_KEY
from stanchion.guards.schema.tools import (
    EVERYBODY,
    CheckedDefinition,
    HookCall,
    Hooked,
    ToolDefinition,
    differing,
)
from stanchion.kernel.compare_and_set import LEFT, change
from stanchion.kernel.names import is_glob
from stanchion.locks import Reentrant
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.definitions import ToolHook, reads_definitions, with_tools
from stanchion.readings.definitions.texts import kinds_of
from stanchion.runtime.calling.pins import PinOwner, Pins, pin_name, pins_key, pins_of
from stanchion.runtime.calling.tool import Tool
from stanchion.runtime.calling.validation_cache import ValidationCache, ValidationStats
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.standing.occurring import remark_on_tools
from stanchion.runtime.standing.veil import tell

if TYPE_CHECKING:
    from stanchion.runtime.shield import Shield

FRESH_MS: Final = 86_400_000
"""After so long a record of pins is written again, though nothing in it changed, so that it is not
forgotten."""
MOST: Final = 10_000
"""How many definitions a shield knows."""

H = TypeVar("H", bound=Callable[[HookCall], Any])


class Ingested(msgspec.Struct, frozen=True):
    """What became of definitions: those that are new, as they were pinned, changed since then,
    pinned anew, of no use, and suspect by what they say (each with why). `digests` are what a
    policy pins them by."""

    new: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    changed: dict[str, str] = {}
    repinned: tuple[str, ...] = ()
    bad: dict[str, str] = {}
    digests: dict[str, str] = {}
    suspect: dict[str, str] = {}


class Remembers(Protocol):
    """Remembers what was found about calls, by all that it depends on; `ValidationCache` is the
    usual one."""

    def get(self, key: tuple[Any, ...], at_ms: int, /) -> tuple[bool, Any]:
        """Whether something is known by that key, and what."""

    def put(self, key: tuple[Any, ...], value: Any, at_ms: int, /) -> None:
        """Remember a value."""

    def stats(self) -> ValidationStats:
        """How often it was of use."""


class Ingesting:
    """The tools of one shield, besides those of its policy."""

    def __init__(self, shield: Shield) -> None:
        self._shield = shield
        self._given: dict[tuple[str, str], CheckedDefinition] = {}
        self._learnt: dict[str, Tool] = {}
        self._declared: set[str] = set()
        self._hooks: dict[str, tuple[ToolHook, ...]] = {}
        self._uncached: set[str] = set()
        self._count = 0
        self._lock = Reentrant()
        self._begun = False
        self._told: tuple[Any, ...] = ()
        self._cache: Remembers = ValidationCache()

    def apply(
        self, policy: CompiledPolicy
    ) -> tuple[CompiledPolicy, dict[str, Callable[[Any], Any]]]:
        """A policy that knows these tools and hooks, and what answers for the hooks."""
        with self._lock:
            if self._learnt and reads_definitions(policy):
                from stanchion.runtime.calling.tool_formats import defined

                self._given |= {
                    (EVERYBODY, name): CheckedDefinition(defined(tool))
                    for name, tool in self._learnt.items()
                }
                self._learnt.clear()
            return with_tools(policy, dict(self._given), dict(self._hooks), self._ask, self._cache)

    def ingest(
        self,
        tools: Any,
        *,
        tenant: str = EVERYBODY,
        repin: bool = False,
        by: By = "an operator",
        server: str = "",
    ) -> Ingested:
        """Take in definitions of tools: an MCP `tools/list` result, OpenAI or Anthropic
        definitions, functions.

        The first time a tool is seen its definition is pinned, for every process on the store. One
        that is not as it was pinned is used, and its calls escalate, until it is pinned anew with
        `repin`, which is an operator's (`AnswerRefused` where `by` is none). So are those that
        instruct the agent, hide something or ask for secrets, where the policy says so. With
        `server` they are pinned as that server's: another may have tools of the same names. Raises
        `ValueError` where something is no definition, or no guard of the policy reads definitions.
        """
        if not reads_definitions(self._shield.policy):
            raise ValueError(
                "nothing would act on definitions: add a guard with `use: schema` to the policy"
            )
        from stanchion.runtime.calling.tool_formats import definitions

        found = definitions(tools)
        with self._lock:
            if len({*self._given, *[(tenant, each.name) for each in found]}) > MOST:
                raise ValueError(
                    f"a shield keeps at most {MOST:,} definitions: ingest only those that are used"
                )
            served = [each for each in found if each.source != "python"]
            pinned, kept = self._pinned(served, PinOwner(tenant, server), by if repin else None)
            remarks = {
                name: kept.suspects[pin_name(server, name)].remarks for name in pinned.suspect
            }
            known = {
                each.name: CheckedDefinition(
                    each, pinned.changed.get(each.name, ""), kinds_of(remarks.get(each.name, ()))
                )
                for each in found
            }
            self._given |= {(tenant, name): each for name, each in known.items()}
            self._shield.renew()
        return msgspec.structs.replace(
            pinned,
            bad={name: each.bad for name, each in known.items() if each.bad},
            digests={name: each.digest for name, each in known.items()},
        )

    def learn(self, tool: Tool) -> None:
        """Take in the signature of a shielded function; until a run begins, and a guard reads it,
        it costs nothing."""
        with self._lock:
            self._learnt[tool.name] = tool
            if tool.declared.effect:
                self._declared.add(tool.name)
        if self._begun:
            self.begin()

    def begin(self) -> None:
        """Put what was learnt in force; called when a run begins."""
        self._begun = True
        if self._learnt and reads_definitions(self._shield.policy):
            with self._lock:
                self._shield.renew()
        told = (self._shield.policy.hash, len(self._learnt), len(self._given))
        if told[1:] != (0, 0) and told != self._told:
            self._told = told
            with self._lock:
                self._remark()

    def _remark(self) -> None:
        """Say what of the policy does not fit the tools that are known."""
        from stanchion.runtime.calling.tool_formats import defined

        known = [(each.name, each.schema, each.source) for each in self._given.values()]
        made = [defined(tool) for tool in self._learnt.values()]
        known += [(each.name, each.schema, each.source) for each in made]
        remark_on_tools(
            self._shield.policy,
            # A function whose schema is not closed takes keywords of any name.
            {name: {"additionalProperties": source == "python", **schema}
             for name, schema, source in known if isinstance(schema, dict)},
            self._declared,
        )  # fmt: skip

    @overload
    def hook(self, tool: str, fn: H, *, cache: bool = True) -> H: ...

    @overload
    def hook(self, tool: str, fn: None = None, *, cache: bool = True) -> Callable[[H], H]: ...

    def hook(self, tool: str, fn: Callable[..., Any] | None = None, *, cache: bool = True) -> Any:
        """Have a function check every call of a tool: it gets the tool and the arguments, a text
        that it gives refuses, `None` passes, an error or no answer in time refuses. It may be
        async.

        Equal calls are asked about once an hour; `cache=False` asks every time. Without `fn` it is
        a decorator.
        """
        if fn is None:
            return lambda function: self.hook(tool, function, cache=cache)
        if not callable(fn):
            raise TypeError(
                f"`{type(fn).__name__}` cannot be called: give a function that takes a call"
            )
        with self._lock:
            self._count += 1
            name = (
                f"{getattr(fn, '__module__', '')}:{getattr(fn, '__qualname__', type(fn).__name__)}"
            )
            made = ToolHook(fn, f"{name}#{self._count}")
            if not cache:
                self._uncached.add(made.version)
            self._hooks[tool] = (*self._hooks.get(tool, ()), made)
            self._shield.renew()
        return fn

    def remember_with(self, cache: Remembers) -> None:
        """Have something of the program's own remember what was found about calls, from now on."""
        with self._lock:
            self._cache = cache
            self._shield.renew()

    def stats(self) -> ValidationStats:
        """How often calls that were validated had been known already."""
        return self._cache.stats()

    def _ask(self, asked: Hooked, hooks: Sequence[ToolHook], definition: str) -> Any:
        """What hooks say about a call: what they said about an equal one, or say now."""
        versions = tuple([hook.version for hook in hooks])
        keyed: tuple[Any, ...] | None = None
        with contextlib.suppress(SchemaFault):
            body = canonical(asked.call.args)
            if len(body) <= LONGEST_KEY and self._uncached.isdisjoint(versions):
                keyed = ("hooks", asked.call.tool, versions, definition, body)
        if keyed is not None:
            hit, answer = self._cache.get(keyed, asked.at)
            if hit:
                return answer
        answers = (hook.call(asked.call) for hook in hooks)
        return self._first(answers, keyed, asked.at)

    def _first(self, answers: Iterator[Any], keyed: tuple[Any, ...] | None, at: int) -> Any:
        """The first answer that is one; where one has to be waited for, what waits for it and the
        rest."""
        for answer in answers:
            if _awaitable(answer):
                return self._awaited(answer, answers, keyed, at)
            if answer is not None:
                return self._kept(answer, keyed, at)
        return self._kept(None, keyed, at)

    async def _awaited(
        self, waiting: Any, answers: Iterator[Any], keyed: tuple[Any, ...] | None, at: int
    ) -> Any:
        answer = await waiting
        if answer is not None:
            return self._kept(answer, keyed, at)
        rest = self._first(answers, keyed, at)
        return await rest if _awaitable(rest) else rest

    def _kept(self, answer: Any, keyed: tuple[Any, ...] | None, at: int) -> Any:
        if keyed is not None and isinstance(answer, str | None):
            self._cache.put(keyed, answer, at)
        return answer

    def _others(self, tenant: str) -> list[str]:
        """The names of tools that a tenant has besides those that are taken in now."""
        given = [name for owner, name in self._given if owner in (tenant, EVERYBODY)]
        return [*given, *[name for name in self._shield.policy.file.tools if not is_glob(name)]]

    def _pinned(
        self, found: list[ToolDefinition], whose: PinOwner, by: By | None
    ) -> tuple[Ingested, Pins]:
        """Pin what is new, and say what is not as it was pinned, or suspect; an operator's yes pins
        it anew."""
        from stanchion.runtime.calling.suspects import suspects_in

        parts: dict[str, dict[str, str]] = {}
        for each in found:
            with contextlib.suppress(SchemaFault):
                parts[each.name] = each.parts()
        outcome, after = Ingested(), Pins()
        others = self._others(whose.tenant)
        pins = {name: pin_name(whose.server, name) for name in parts}

        def pinned(value: Any, now: int) -> Any:
            nonlocal outcome, after
            kept = pins_of(value)
            old = {name: kept.tools[pin] for name, pin in pins.items() if pin in kept.tools}
            changed = {
                name: words for name, own in old.items() if (words := differing(parts[name], own))
            }
            new = tuple([name for name in parts if name not in old])
            unchanged = tuple([name for name in parts if name not in new and name not in changed])
            after = msgspec.structs.replace(
                suspects_in(found, parts, kept, others, pins),
                tools={**kept.tools, **{pins[name]: parts[name] for name in new}},
                seen={**kept.seen, **{pins[name]: parts[name] for name in changed}},
            )
            suspect = {
                name: str(after.suspects[pin].remarks[0])
                for name, pin in pins.items()
                if pin in after.suspects
            }
            outcome = Ingested(new, unchanged, changed, suspect=suspect)
            if after == kept and now - kept.written < FRESH_MS:
                return LEFT
            return msgspec.to_builtins(msgspec.structs.replace(after, written=now))

        if not parts:
            return outcome, after
        drive(self._write(whose.tenant, pinned), self._shield)
        if by is None:
            self._tell(outcome, whose)
            return outcome, after
        accepted = tuple(dict.fromkeys([*outcome.changed, *outcome.suspect]))
        for name in accepted:
            said = {"parts": parts[name]}
            self._shield.act(
                Request(purpose=Purpose.TOOL, tenant=whose.tenant, subject=pins[name], said=said),
                by,
            )
        return msgspec.structs.replace(outcome, changed={}, suspect={}, repinned=accepted), after

    def _write(self, tenant: str, new: Callable[[Any, int], Any]) -> Flow[None]:
        yield from change(
            self._shield.records, f"pins-{os.urandom(8).hex()}", tenant, pins_key(tenant), new
        )

    def _tell(self, outcome: Ingested, whose: PinOwner) -> None:
        """Write down what was found to be changed or suspect."""
        told = [("definition.changed", name, why) for name, why in outcome.changed.items()]
        told += [("definition.suspect", name, why) for name, why in outcome.suspect.items()]
        for what, name, why in told:
            with contextlib.suppress(AuditLost):
                about = f"tool:{pin_name(whose.server, name)}"
                tell(self._shield, Fact(self._shield.clock(), what, about, whose.tenant, why=why))


def _awaitable(value: Any) -> bool:
    return hasattr(type(value), "__await__")
