"""A state machine as a picture: a column for each state, and a row with an arrow for each way from
one to another."""

from collections.abc import Sequence
from typing import NamedTuple

from tools.drawings.svg import EDGE, INK, SOFT, Box, boxed, picture, text, wrapped

WIDTH, SIDE, WORDS, TOP, HEAD, ROW = 1080.0, 20.0, 400.0, 66.0, 34.0, 26.0
STATE, BACK = "#e3ecfa", "#2b6cb0"


class Step(NamedTuple):
    """A way from one state to another, and what takes it."""

    start: str
    end: str
    on: str


class Machine(NamedTuple):
    """A thing that is always in one of some states: what it is, its states in order of severity,
    and its steps."""

    title: str
    says: str
    states: tuple[str, ...]
    steps: tuple[Step, ...]


def joined(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Each way once, with everything that takes it, in the order in which they were found."""
    found: dict[tuple[str, str], list[str]] = {}
    for step in steps:
        words = found.setdefault((step.start, step.end), [])
        if step.on not in words:
            words.append(step.on)
    return tuple([Step(start, end, ", or ".join(words)) for (start, end), words in found.items()])


def drawn(machine: Machine) -> str:
    """The picture as SVG. Arrows to the left lead back, and are blue."""
    for state in {state for step in machine.steps for state in (step.start, step.end)} - {
        *machine.states
    }:
        raise ValueError(
            f"`{machine.title}` has a step of `{state}`, which is none of its states: name it there"
        )
    ordered = sorted(
        machine.steps, key=lambda step: tuple(map(machine.states.index, (step.start, step.end)))
    )
    lines = [wrapped(step.on, WORDS) for step in ordered]
    each = (WIDTH - 2 * SIDE - WORDS) / len(machine.states)
    middles = {state: SIDE + WORDS + each * (at + 0.5) for at, state in enumerate(machine.states)}
    bottom = TOP + HEAD + 14 + sum(_height(one) for one in lines)
    pieces = [
        text(SIDE, 26, machine.title, 16, INK, bold=True),
        text(SIDE, 44, machine.says, 11, SOFT),
        *[_column(middle, bottom) for middle in middles.values()],
    ]
    for state, middle in middles.items():
        box = Box(middle - each / 2 + 5, TOP, each - 10, HEAD - 4, STATE)
        pieces += boxed(box, "")
        pieces.append(text(middle, TOP + 20, state, 12, INK, anchor="middle", bold=True))
    y = TOP + HEAD + 14
    for at, (step, words) in enumerate(zip(ordered, lines, strict=True)):
        height = _height(words)
        if at % 2 == 0:
            pieces.insert(
                0,
                f'<rect x="8" y="{y:g}" width="{WIDTH - 16:g}" height="{height:g}" '
                f'fill="#f7f9fb"/>',
            )
        pieces += [text(SIDE, y + 17 + 14 * row, line, 11, SOFT) for row, line in enumerate(words)]
        pieces += _arrow(middles[step.start], middles[step.end], y + height / 2)
        y += height
    return picture(WIDTH, bottom + 14, f"{machine.title}: {machine.says}", pieces)


def _height(words: list[str]) -> float:
    return ROW + 14 * (len(words) - 1)


def _column(x: float, bottom: float) -> str:
    return (
        f'<path d="M{x:g},{TOP + HEAD - 4:g} V{bottom:g}" stroke="{EDGE}" stroke-dasharray="2 4"/>'
    )


def _arrow(start: float, end: float, y: float) -> list[str]:
    """From a dot on one column to a head on the other; a step that stays is a ring."""
    if start == end:
        return [
            (
                f'<circle cx="{start:g}" cy="{y:g}" r="6" fill="none" stroke="{INK}" '
                f'stroke-width="1.8"/>'
            )
        ]
    colour, ahead = (INK, -1) if end > start else (BACK, 1)
    head = f"M{end:g},{y:g} l{9 * ahead},-5 v10 z"
    return [
        f'<circle cx="{start:g}" cy="{y:g}" r="4" fill="{colour}"/>',
        f'<path d="M{start:g},{y:g} H{end + 7 * ahead:g}" stroke="{colour}" stroke-width="1.8"/>',
        f'<path d="{head}" fill="{colour}"/>',
    ]
