"""A user's own guards: found by shape alone, placed beside those of the policy file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from importlib import import_module
from typing import Any

from holdfast.guards.python import PythonGuard
from holdfast.kernel.actions import Category
from holdfast.kernel.guard import Kind, Placed
from holdfast.kernel.stages import Stage
from holdfast.policy.compile import CompiledPolicy, Rule
from holdfast.policy.errors import Fault, PolicyError

Answerer = Callable[[Any], Any]


def with_guards(policy: CompiledPolicy, guards: tuple[Any, ...]) -> tuple[CompiledPolicy, dict[str, Answerer]]:
    """A policy with these guards added, and the code that answers for those which are a user's own Python.

    A function of an event, or an object with a `judge(event)`, sync or async, is a guard. It may say where it
    stands with attributes: `id`, `stages`, `priority`, `category`, `deadline_ms`, `deep`, `fail_open`, `mode`.
    An object with a `kind` is one of the engine's own four protocols and judges inline.
    """
    answerers: dict[str, Answerer] = {}
    rules: list[Rule] = []
    taken = {rule.placed.id for rule in policy.rules}
    for guard in guards:
        placed, answerer = _placed(guard, policy.shadow)
        if placed.id in taken:
            raise PolicyError([Fault(f"guard {placed.id}", "the id is taken: give the guard an `id` of its own")])
        taken.add(placed.id)
        rules.append(Rule(placed, None, None, None))
        if answerer is not None:
            answerers[placed.id] = answerer
    answerers |= {guard_id: _imported(guard_id, call) for guard_id, call in policy.calls.items()}
    if not rules:
        return policy, answerers
    told = "".join(f"{rule.placed.id}={type(rule.placed.guard).__qualname__};" for rule in rules)
    digest = hashlib.sha256(f"{policy.hash};{told}".encode()).hexdigest()
    return CompiledPolicy(policy.file, policy.rules + tuple(rules), policy.calls, digest), answerers


def _placed(guard: Any, all_shadow: bool) -> tuple[Placed, Answerer | None]:
    own = hasattr(guard, "kind")
    judge = None if own else _judgement(guard, "guards", f"`{guard!r}`")
    name = getattr(guard, "id", None) or getattr(guard, "__name__", None) or type(guard).__name__
    kernel: Any = guard
    if not own:
        kernel = PythonGuard(f"{name}", getattr(guard, "deadline_ms", 1_000), getattr(guard, "deep", False))
    stages = frozenset(Stage(stage) for stage in getattr(guard, "stages", PythonGuard.stages))
    if Stage.MODEL_CHUNK in stages and kernel.kind is not Kind.PURE:
        hint = "`model_chunk` takes pure guards only: choose another stage"
        raise PolicyError([Fault(f"guard {name}", f"it keeps state or asks, and {hint}")])
    category = getattr(guard, "category", Category.QUALITY)
    placed = Placed(
        str(name),
        kernel,
        getattr(guard, "priority", PythonGuard.priority),
        Category[category.upper()] if isinstance(category, str) else category,
        stages,
        getattr(guard, "mode", "enforce") == "shadow" or all_shadow,
        bool(getattr(guard, "fail_open", False)),
    )
    return placed, judge


def _imported(guard_id: str, call: str) -> Answerer:
    module, _, name = call.partition(":")
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's module may do anything when it is imported
        reason = str(error) if isinstance(error, ImportError | AttributeError) else type(error).__name__
        hint = f"write `module:name` of code that can be imported ({reason})"
        raise PolicyError([Fault(f"guard {guard_id}", f"`{call}` cannot be found: {hint}")]) from None
    return _judgement(found, f"guard {guard_id}", f"`{call}`")


def _judgement(guard: Any, place: str, name: str) -> Answerer:
    """What a user's guard judges with; a class has no event to judge yet, only its instances have."""
    judge: Answerer = getattr(guard, "judge", guard)
    if isinstance(guard, type) or not callable(judge):
        hint = "a guard is a function of an event or an object with `judge(event)`"
        raise PolicyError([Fault(place, f"{name} has nothing to judge with: {hint}")])
    return judge
