"""Foreign guards: those of a user that are of the engine's four kinds, held to the contract and
told what they ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stanchion.kernel.contract.checking import wrong_in
from stanchion.kernel.contract.powers import having
from stanchion.kernel.guard import Kind
from stanchion.kernel.regex import LARGEST, linear
from stanchion.kernel.stages import Stage
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.definitions import written_tools
from stanchion.policy.errors import Fault, PolicyError
from stanchion.policy.scope import scoped
from stanchion.policy.seat import call_of


def is_foreign(guard: Any) -> bool:
    """Whether a user's guard speaks one of the engine's protocols; any other is asked with the
    event."""
    return hasattr(guard, "kind") and not isinstance(guard, type)


def name_of(guard: Any) -> str:
    """What a user's guard is called in decisions."""
    return str(
        getattr(guard, "id", None) or getattr(guard, "__name__", None) or type(guard).__name__
    )


def at_work(
    policy: CompiledPolicy, guards: tuple[Any, ...], settle: Callable[[Any], Any]
) -> tuple[Any, ...]:
    """A user's guards, ready for a policy: those of the engine's kinds keep the contract, and know
    what the policy says, its tools, and by `settle` where the shield keeps what is its own.
    `PolicyError` says what they do wrong."""
    faults = [
        Fault(f"guard {name_of(guard)}", said)
        for guard in guards
        if is_foreign(guard)
        for said in _wrong(guard)
    ]
    if faults:
        raise PolicyError(faults)
    return tuple([settle(_told(guard, policy)) if is_foreign(guard) else guard for guard in guards])


def _wrong(guard: Any) -> list[str]:
    found = wrong_in(guard)
    if found:
        return found
    stages = getattr(guard, "stages", None)
    if not isinstance(stages, frozenset | set | tuple | list) or not all(
        stage in set(Stage) for stage in stages
    ):
        known = ", ".join(Stage)
        return [
            (
                f"`stages` is `{stages!r:.80}`: write `stages = frozenset({{Stage.TOOL_CALL}})`, "
                f"with any of {known}"
            )
        ]
    gated = having(guard, "gate")
    if gated is not None:
        if guard.kind is not Kind.PURE:
            return [
                f"`gate` is for pure guards, and this one is a {guard.kind} guard: leave it out"
            ]
        found = [said for part in gated.gate.expressions if (said := _wrong_expression(part))]
        if found:
            return found
    if (
        guard.kind is Kind.ASKING
        and call_of(guard) is None
        and not getattr(guard, "recalls", False)
    ):
        return [
            (
                "an asking guard needs `call` beside it, the code that answers: write `def "
                "call(self, payload)`"
            )
        ]
    return []


def _wrong_expression(expression: str) -> str:
    """What is wrong with an expression of a gate; empty where nothing is."""
    said = f"`gate` has `{expression!r:.80}`, which"
    try:
        found = linear(expression)
    except ValueError as error:
        return f"{said} is not RE2 ({error}): write another, or no gate"
    if found.programsize > LARGEST:
        return f"{said} is too large: write a shorter one, or no gate"
    return "" if found.search(b"") is None else f"{said} stands in every text: leave `gate` out"


def _told(guard: Any, policy: CompiledPolicy) -> Any:
    holding = having(guard, "with_tools")
    if holding is not None:
        tools, _ = written_tools(
            policy.file, lambda *path: ".".join(map(str, path)), whole=False, imports=False
        )
        guard = holding.with_tools(tools)
    return scoped(guard, policy.file, policy.files)
