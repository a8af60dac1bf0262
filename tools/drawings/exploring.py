"""Finding a state machine by playing it: every move is tried in every state that can be reached, on
the real thing."""

from collections import deque
from collections.abc import Callable, Mapping
from typing import TypeVar

from tools.drawings.machine import Step

World = TypeVar("World")

MOST = 50
"""More states than this are no machine that anybody could read."""


def explored(
    begin: Callable[[], World],
    moves: Mapping[str, Callable[[World], object]],
    look: Callable[[World], str],
) -> tuple[Step, ...]:
    """Every step that a move makes from one state to another, in the order in which they are found.

    A state is what `look` says. Each move is tried in a world of its own, in which the shortest way
    to the state has been gone again; so no move is seen that an earlier try has made possible. What
    a state does not show must not matter for what follows: where it does, `look` has to say more.
    """
    ways: dict[str, tuple[str, ...]] = {look(begin()): ()}
    waiting = deque(ways)
    steps: list[Step] = []
    while waiting:
        state = waiting.popleft()
        for name, move in moves.items():
            world = begin()
            for earlier in ways[state]:
                moves[earlier](world)
            move(world)
            after = look(world)
            if after != state:
                steps.append(Step(state, after, name))
            if after not in ways:
                ways[after] = (*ways[state], name)
                waiting.append(after)
            if len(ways) > MOST:
                raise ValueError(
                    f"more than {MOST} states are found: have `look` tell fewer of them apart"
                )
    return tuple(steps)
