"""Hosts: what one can carry out of what is decided. The rest becomes the next stricter thing that
it can."""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter_ns
from typing import Any, Final

from stanchion.kernel.actions import NAMES, Action
from stanchion.kernel.chain import Plans
from stanchion.kernel.events import RunInfo
from stanchion.policy.nearest import hint

ALWAYS: Final = frozenset({Action.ALLOW, Action.BLOCK, Action.QUARANTINE, Action.HALT})
"""What every host can: let something go ahead as it is, or not at all. Isolating a tool and ending
a run are done here, and ask nothing more of it."""

DELIVERED: Final = frozenset({Action.REDACT, Action.RETRY})
"""What can no longer be done about a reply whose chunks have been delivered."""


def able(can: Iterable[Action | str]) -> tuple[Action, ...]:
    """The actions a host can carry out, given by themselves or by name; those that every host can
    are always there.

    Raises `ValueError` for what is no action.
    """
    if isinstance(can, str) or not isinstance(can, Iterable):
        one = can if isinstance(can, str) else "warn"
        raise ValueError(f'`can` is `{can}`: give a list of actions, as in `can=["{one}"]`')
    named = {_action(one) for one in can} | ALWAYS
    return tuple([action for action in Action if action in named])


def streamed(can: tuple[Action, ...]) -> tuple[Action, ...]:
    """What a host can still carry out about a reply whose chunks have been delivered."""
    return tuple([action for action in can if action not in DELIVERED])


def _action(given: Action | str) -> Action:
    if isinstance(given, Action):
        return given
    known = str(given).upper()
    if not isinstance(given, str) or known not in NAMES:
        words = [name.lower() for name in NAMES]
        raise ValueError(
            f"`{given}` is not an action that a host can carry out: {hint(known.lower(), words)}"
        )
    return Action[known]


def plans_of(policy: Any, run: RunInfo, can: tuple[Action, ...]) -> Plans:
    """The plans of a run, with a clock where the policy wants to know how long guards take."""
    return Plans(
        policy, run, can, polite=True, clock=perf_counter_ns if policy.file.durations else None
    )
