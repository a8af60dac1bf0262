"""A user's own guards: found by shape alone, placed beside those of the policy file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Final

from stanchion.guards.safe_mode import SafeMode
from stanchion.kernel.actions import Category
from stanchion.kernel.contract.powers import stages_of
from stanchion.kernel.guard import Kind, Placed
from stanchion.kernel.stages import Stage
from stanchion.policy import ladder
from stanchion.policy.compiled import CompiledPolicy, Seat, place
from stanchion.policy.errors import Fault, PolicyError
from stanchion.policy.named_code import imported
from stanchion.policy.scope import beside
from stanchion.policy.seat import call_of, own_code, seat_of

Answerer = Callable[[Any], Any]
BRAKE: Final = place(SafeMode(), "safe-mode-at-start")


def with_guards(
    policy: CompiledPolicy, guards: tuple[Any, ...], brake: bool = False
) -> tuple[CompiledPolicy, dict[str, Answerer]]:
    """A policy with these guards added, and the code that answers for those which are a user's own
    Python.

    A function of an event, or an object with a `judge(event)`, sync or async, is a guard. It may
    say where it stands with attributes: `id`, `stages`, `priority`, `category`, `deadline_ms`,
    `deep`, `fail_open`, `log_pass`, `mode`. An object with a `kind` is one of the engine's own four
    protocols and judges inline, with every power of the contract. `brake` adds safe mode.
    """
    answerers: dict[str, Answerer] = {}
    seats = [Seat(BRAKE, place="switched on at start")] if brake else []
    taken = {seat.placed.id for seat in policy.seats}
    for guard in guards:
        placed, answerer = _placed(guard, policy)
        if placed.id in taken:
            raise PolicyError(
                [Fault(f"guard {placed.id}", "the id is taken: give the guard an `id` of its own")]
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
    unheard = [
        Fault(".".join(["degrade", *path]), said)
        for path, said in ladder.unheard(policy.file.degrade, seated)
    ]
    if unheard:
        raise PolicyError(unheard)
    if not seats:
        return policy, answerers
    told = "".join(f"{seat.placed.id}={type(seat.placed.guard).__qualname__};" for seat in seats)
    digest = hashlib.sha256(f"{policy.hash};{told}".encode()).hexdigest()
    whole = CompiledPolicy(policy.file, seated, policy.calls, policy.undos, policy.files, digest)
    return whole, {**answerers, **own_code(whole)}


def _placed(guard: Any, policy: CompiledPolicy) -> tuple[Placed, Answerer | None]:
    from stanchion.guards.python import PythonGuard
    from stanchion.policy.foreign import is_foreign, name_of

    own = is_foreign(guard)
    if getattr(guard, "isolated", False) and not own:
        hint = "name it in the policy, as `use: python` with its `call: module:name`"
        raise PolicyError(
            [Fault("guards", f"`{guard!r}` was handed in and cannot be `isolated`: {hint}")]
        )
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
        raise PolicyError(
            [Fault(f"guard {name}", f"it keeps state or asks the outside world, and {hint}")]
        )
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
    )
    return placed, judge


def answerer_of(guard_id: str, call: str) -> Answerer:
    """The code at `call`, by which a guard of a policy judges."""
    try:
        found = imported(call)
    except ValueError as error:
        raise PolicyError([Fault(f"guard {guard_id}", str(error))]) from None
    return _judgement(found, f"guard {guard_id}", f"`{call}`")


def _judgement(guard: Any, place: str, name: str) -> Answerer:
    """What a user's guard judges with; a class has no event to judge yet, only its instances
    have."""
    judge: Answerer = getattr(guard, "judge", guard)
    if isinstance(guard, type) or not callable(judge):
        hint = "a guard is a function of an event or an object with `judge(event)`"
        raise PolicyError([Fault(place, f"{name} cannot judge: {hint}")])
    return judge
