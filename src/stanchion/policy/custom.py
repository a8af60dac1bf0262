"""A user's own guards: found by shape alone, those of the engine's four kinds held to the contract,
and placed beside those of the policy file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Final

from stanchion.guards.safe_mode import SafeMode
from stanchion.kernel.actions import Category
from stanchion.kernel.contract.powers import having, stages_of
from stanchion.kernel.guard import Kind, Placed
from stanchion.kernel.regex import LARGEST, linear
from stanchion.kernel.stages import Stage
from stanchion.policy.bind_guards import beside, scoped
from stanchion.policy.compiled import CompiledPolicy, GuardSeat, place
from stanchion.policy.definitions import written_tools
from stanchion.policy.errors import Fault, PolicyError, refusal
from stanchion.policy.ladder import unheard
from stanchion.policy.named_code import imported
from stanchion.policy.seat import call_of, own_code, seat_of


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
    from stanchion.kernel.contract.checking import wrong_in  # for guards of a program alone

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
        tools, _ = written_tools(policy.file, lambda *path: ".".join(map(str, path)), imports=False)
        guard = holding.with_tools(tools)
    return scoped(guard, policy.file, policy.files)


Answerer = Callable[[Any], Any]
BRAKE: Final = place(SafeMode(), "safe-mode-at-start")


def with_guards(
    policy: CompiledPolicy, guards: tuple[Any, ...], brake: bool = False
) -> tuple[CompiledPolicy, dict[str, Answerer]]:
    """A policy with these guards added, and the code that answers for those which are a user's own
    Python.

    A function of an event, or an object with a `judge(event)`, sync or async, is a guard. It may
    say where it stands with attributes: `id`, `stages`, `priority`, `category`, `deadline_ms`,
    `deep`, `fail_open`, `log_pass`, `ends_chain`, `mode`. An object with a `kind` is one of the
    engine's own four protocols and judges inline, with every power of the contract. `brake` adds
    safe mode.
    """
    answerers: dict[str, Answerer] = {}
    seats = [GuardSeat(BRAKE, place="switched on at start")] if brake else []
    taken = {seat.placed.id for seat in policy.seats}
    for guard in guards:
        placed, answerer = _placed(guard, policy)
        if placed.id in taken:
            raise refusal(
                f"guard {placed.id}", "the id is taken: give the guard an `id` of its own"
            )
        taken.add(placed.id)
        seat = seat_of(placed, f"guard {placed.id}")
        if answerer is not None:
            seats.append(seat)
            answerers[placed.id] = answerer
            continue
        for one in (seat, beside(seat)):
            if one is not None:
                seats.append(one)
                call = call_of(one.placed.guard)
                if isinstance(call, str):
                    answerers[one.placed.id] = answerer_of(one.placed.id, call)
    answerers |= {guard_id: answerer_of(guard_id, call) for guard_id, call in policy.calls.items()}
    seated = policy.seats + tuple(seats)
    wrong = [Fault(".".join(path), said) for path, said in unheard(policy.file.degrade, seated)]
    if wrong:
        raise PolicyError(wrong)
    if not seats:
        return policy, answerers
    told = "".join(f"{seat.placed.id}={type(seat.placed.guard).__qualname__};" for seat in seats)
    digest = hashlib.sha256(f"{policy.hash};{told}".encode()).hexdigest()
    whole = CompiledPolicy(policy.file, seated, policy.calls, policy.undos, policy.files, digest)
    return whole, {**answerers, **own_code(whole)}


def _placed(guard: Any, policy: CompiledPolicy) -> tuple[Placed, Answerer | None]:
    from stanchion.guards.python import PythonGuard

    own = is_foreign(guard)
    if getattr(guard, "isolated", False) and not own:
        hint = "name it in the policy, as `use: python` with its `call: module:name`"
        raise refusal("guards", f"`{guard!r}` was handed in and cannot be `isolated`: {hint}")
    judge = None if own else _judgement(guard, "guards", f"`{guard!r}`")
    name = name_of(guard)
    kernel: Any = guard
    if not own:
        kernel = PythonGuard(
            name, getattr(guard, "deadline_ms", 1_000), getattr(guard, "deep", False)
        )
        kernel = kernel.routed(policy.file.deep.waits())
    said = stages_of(guard) if own else getattr(guard, "stages", PythonGuard.stages)
    stages = frozenset(Stage(stage) for stage in said)
    if Stage.MODEL_CHUNK in stages and kernel.kind is not Kind.PURE:
        hint = "`model_chunk` takes pure guards only: choose another stage"
        raise refusal(f"guard {name}", f"it keeps state or asks the outside world, and {hint}")
    category = getattr(guard, "category", Category.QUALITY)
    placed = Placed(
        name,
        kernel,
        getattr(guard, "priority", PythonGuard.priority),
        Category[category.upper()] if isinstance(category, str) else category,
        stages,
        getattr(guard, "mode", "enforce") == "shadow" or policy.shadow,
        bool(getattr(guard, "fail_open", False)),
        bool(getattr(guard, "log_pass", False)),
        ends=bool(getattr(guard, "ends_chain", True)),
    )
    return placed, judge


def answerer_of(guard_id: str, call: str) -> Answerer:
    """The code at `call`, by which a guard of a policy judges."""
    try:
        found = imported(call)
    except ValueError as error:
        raise refusal(f"guard {guard_id}", str(error)) from None
    return _judgement(found, f"guard {guard_id}", f"`{call}`")


def _judgement(guard: Any, place: str, name: str) -> Answerer:
    """What a user's guard judges with; a class has no event to judge yet, only its instances
    have."""
    judge: Answerer = getattr(guard, "judge", guard)
    if isinstance(guard, type) or not callable(judge):
        hint = "a guard is a function of an event or an object with `judge(event)`"
        raise refusal(place, f"{name} cannot judge: {hint}")
    return judge
