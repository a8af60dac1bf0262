"""Tool definitions in a policy: those it writes down, those that were ingested beside them, and the
hooks of tools."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from stanchion.guards._jsonschema.checker import SchemaChecker
from stanchion.guards._jsonschema.outline import SchemaFault
from stanchion.guards.schema.guard import Memo
from stanchion.guards.schema.tools import (
    HOOKS_ID,
    POLICY,
    CheckedDefinition,
    Hooked,
    ToolDefinition,
    ToolDefinitions,
    ToolHooks,
)
from stanchion.kernel.contract.powers import all_having, having
from stanchion.kernel.guard import Placed
from stanchion.kernel.names import names
from stanchion.kernel.tuples import NamedTuple
from stanchion.policy.compiled import CompiledPolicy, GuardSeat, closest
from stanchion.policy.errors import Fault
from stanchion.policy.named_code import imported
from stanchion.policy.schema import PolicyFile
from stanchion.policy.seat import own_code

Where = Callable[..., str]

DESTROYS: Final = "irreversible"
"""The effect of a tool whose server calls it destructive, where nobody else declares one."""

DIGITS: Final = 64
"""How long a digest is."""


class CallHook(NamedTuple):
    """A user's own check of a tool's calls: the code, and what tells it from every other."""

    call: Callable[..., Any]
    version: str


Hooks = Mapping[str, Sequence[CallHook]]
"""Hooks by the tool they are for."""

Ask = Callable[[Hooked, Sequence[CallHook], str], Any]
"""Asks hooks about a call; the last is the digest of the definition it was held against."""


def written_tools(
    file: PolicyFile, where: Where, imports: bool = True
) -> tuple[ToolDefinitions, list[Fault]]:
    """The definitions that a policy file has, and what is wrong with them. Without `imports` hooks
    are not looked for."""
    faults: list[Fault] = []
    known: dict[str, CheckedDefinition] = {}
    pins: dict[str, str] = {}
    for name, tool in file.tools.items():
        for option in ("schema", "result_schema"):
            schema = getattr(tool, option)
            try:
                _ = None if schema is None else SchemaChecker(schema)
            except SchemaFault as fault:
                faults.append(
                    Fault(
                        where("tools", name, option, *fault.path), f"no schema to check by: {fault}"
                    )
                )
        if tool.hook is not None and imports:
            try:
                imported(tool.hook)
            except ValueError as error:
                faults.append(Fault(where("tools", name, "hook"), str(error)))
        if tool.schema is not None or tool.result_schema is not None or tool.pin is not None:
            known[name] = CheckedDefinition(
                ToolDefinition(name=name, schema=tool.schema, result_schema=tool.result_schema)
            )
        if tool.pin is not None:
            pins[name] = tool.pin
            if len(tool.pin) != DIGITS or not set(tool.pin) <= set("0123456789abcdef"):
                said = (
                    f"a pin has {DIGITS} digits from 0 to f: write the digest that "
                    f"`shield.ingest` gives"
                )
                faults.append(Fault(where("tools", name, "pin"), said))
    return ToolDefinitions(known, pins), faults


def reads_definitions(policy: CompiledPolicy) -> bool:
    """Whether a guard of the policy reads definitions: to hold calls against them, or to understand
    tools."""
    guards = [seat.placed.guard for seat in policy.seats]
    return bool(all_having(guards, "with_tools") or all_having(guards, "knowing"))


def with_tools(
    policy: CompiledPolicy,
    given: Mapping[tuple[str, str], CheckedDefinition],
    hooks: Hooks,
    ask: Ask,
    memo: Memo | None,
) -> tuple[CompiledPolicy, dict[str, Callable[[Any], Any]]]:
    """A policy whose guards know these tools too, with hooks at their place; and the code that
    answers for hooks.

    Its hash says which definitions and hooks those are.
    """
    hooked = {name for name, tool in policy.file.tools.items() if tool.hook is not None} | set(
        hooks
    )
    if not hooked and not reads_definitions(policy):
        return policy, {}
    seats = [_knowing(seat, given, memo) for seat in policy.seats]
    guards = all_having([seat.placed.guard for seat in seats], "with_tools")
    tools = guards[0].tools if guards else ToolDefinitions().with_given(given)
    seats = [_understanding(seat, tools) for seat in seats]
    answerers: dict[str, Callable[[Any], Any]] = {}
    if hooked:
        deadline_ms = max(
            [guard.hook_deadline_ms for guard in guards], default=ToolHooks().deadline_ms
        )
        guard = ToolHooks(deadline_ms)
        placed = Placed(
            HOOKS_ID, guard, guard.priority, guard.category, guard.stages, policy.shadow
        )
        seats.append(GuardSeat(placed, tools=names(sorted(hooked)), place="hooks of tools"))
        answerers[HOOKS_ID] = _answering(policy, hooks, ask, tools)
    told = [f"{name}={','.join([hook.version for hook in hooks[name]])}" for name in sorted(hooks)]
    digest = hash_beside(policy.hash, tools.digest, *told)
    made = CompiledPolicy(
        policy.file, tuple(seats), policy.calls, policy.undos, policy.files, digest
    )
    made.tools_digest = "" if told else tools.digest
    made.defined = tools
    made.hints = {name: DESTROYS for (_, name), known in given.items() if _destroys(known.about)}
    return made, {**own_code(made), **answerers}


def _destroys(about: Any) -> bool:
    """Whether a server says that its tool destroys something. What would loosen, as that it only
    reads, is for the policy to say: a server may be anybody's."""
    hints = about.get("annotations") if isinstance(about, Mapping) else None
    return isinstance(hints, Mapping) and hints.get("destructiveHint") is True


def hash_beside(policy: str, tools: str, *hooks: str) -> str:
    """The hash of a policy that knows tools and hooks besides its own; its own where there are
    none."""
    return (
        hashlib.sha256(";".join([policy, tools, *hooks]).encode()).hexdigest()
        if tools or hooks
        else policy
    )


def _knowing(
    seat: GuardSeat, given: Mapping[tuple[str, str], CheckedDefinition], memo: Memo | None
) -> GuardSeat:
    guard = having(seat.placed.guard, "with_tools")
    if guard is None:
        return seat
    return seat.with_guard(guard.with_tools(guard.tools.with_given(given), memo))


def _understanding(seat: GuardSeat, tools: ToolDefinitions) -> GuardSeat:
    guard = having(seat.placed.guard, "knowing")
    if guard is None:
        return seat

    def defined(tenant: str, tool: str) -> tuple[Any, Any, str]:
        known = tools.find(tenant, tool)
        if known is None:
            return "", None, ""
        # The digest says all that is in a definition, unless that is of no use, or the policy has
        # written some of it.
        return (
            known.about,
            known.schema,
            "" if known.bad or known.source == POLICY else known.digest,
        )

    return seat.with_guard(guard.knowing(defined))


def _answering(
    policy: CompiledPolicy, hooks: Hooks, ask: Ask, tools: ToolDefinitions
) -> Callable[[Any], Any]:
    """What answers for the hooks of this policy: those of the tool's entry first, then those that
    were added."""
    written = {name: tool.hook for name, tool in policy.file.tools.items() if tool.hook is not None}
    own = {name: CallHook(imported(call), call) for name, call in written.items()}

    def answer(asked: Hooked) -> Any:
        tool = asked.call.tool
        entry = closest(own, tool)
        called = [*([own[entry]] if entry is not None else []), *hooks.get(tool, ())]
        known = tools.find("", tool)
        return ask(asked, called, "" if known is None else known.digest)

    return answer
