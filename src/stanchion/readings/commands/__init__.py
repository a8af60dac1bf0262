"""Commands: the texts and words that a call gives to a shell or an interpreter, whatever it is
called and wherever in its arguments they stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from stanchion.readings.commands.finder import DEEPEST, OPENING, Finder
from stanchion.readings.commands.shapes import LONE, PARTS, Call, Held, Naming, inner_calls, spelled
from stanchion.readings.commands.words import (
    BESIDE,
    CODE,
    COMMAND,
    CONFIG,
    RUN,
    SPOKEN_CODE,
    ToolRunner,
    role_of,
    runner_of,
)

__all__ = ["JSON", "USUAL", "Held", "Naming", "commands", "held", "may_hold"]

SCALARS: Final = frozenset([int, float, bool, type(None)])
PLAIN: Final = SCALARS | {str}
JSON: Final = r"(?:^|\x1f)[{\[ \n\t\r]"
"""How a text begins that may be JSON, among those of a call."""
USUAL: Final = Naming()
FURTHER: Final = BESIDE | SPOKEN_CODE | CODE | CONFIG
"""What an argument may be of which more is asked than its name."""
OPENS: Final = FURTHER | COMMAND
ALWAYS: Final = ToolRunner(True)
NOTHING: Final[tuple[Held, ...]] = ()


def commands(reading: Any) -> tuple[Held, ...]:
    """What the call of a reading runs."""
    event = reading.event
    args = getattr(event, "args", None)
    found = held(event.tool, args, USUAL)
    for value in args.values() if type(args) is dict else ():
        if type(value) in PARTS or (type(value) is str and value[:1] == "{"):
            return (*found, *_within(reading.of(inner_calls), found))
    return found


def _within(inner: tuple[Call, ...], found: tuple[Held, ...]) -> Iterator[Held]:
    """What inner calls run, beside what is found already."""
    known = {one.text for one in found}
    for tool, args in inner:
        yield from [one for one in held(tool, args, USUAL) if one.text not in known]


def may_hold(event: Any) -> bool:
    """Whether a call may hold a command whatever its texts are, by its tool and the names and types
    of its arguments; otherwise only a text does that may be JSON (`JSON`)."""
    runner = runner_of(event.tool)
    return (
        any(runner[:4])
        or not PLAIN.issuperset(map(type, event.args.values()))
        or any(role_of(name) & OPENS for name in event.args)
    )


def held(tool: str, args: Any, naming: Naming) -> tuple[Held, ...]:
    """What a call runs, in order.

    A tool whose name says that it runs something and that has no argument of a known name runs
    every text it is given, and those further down where none of these is named. Of other tools only
    what is named like a command is read, and a lone word is theirs: `view`, `status`, `play`. A
    tool that is named after a program is that program, whatever its arguments are called.
    """
    if not args or type(args) is not dict:
        return NOTHING
    if naming.tools is None:
        runner = runner_of(tool)
    elif tool in naming.tools:
        runner = ALWAYS
    else:
        return NOTHING
    if naming.arguments is None and not (runner.language or runner.program or runner.evaluates):
        found = _plainly(args, runner.runs)
        if found is not None:
            return found
    finder = Finder(runner, naming.arguments)
    finder.level(args, (), 0)
    if runner.runs and 0 not in finder.depths:
        finder.every = 0 if finder.depths else DEEPEST
        finder.found.clear()
        finder.level(args, (), 0)
    if runner.program:
        finder.found.append(Held(spelled(runner.program, args), (next(iter(args)),), False))
    return tuple(finder.found)


def _plainly(args: dict[str, Any], runs: bool) -> tuple[Held, ...] | None:
    """The same for a call of plain values of which none says more about another; `None` where it is
    not one."""
    wanted = RUN if runs else COMMAND
    found: list[Held] = []
    for name, value in args.items():
        role = role_of(name)
        if type(value) is str:
            if not value:
                continue
            if role & FURTHER or value[0] in OPENING:
                return None
            if role & wanted and (runs or LONE.fullmatch(value) is None):
                found.append(Held(value, (name,), runs))
        elif type(value) not in SCALARS:
            return None
    return tuple(found) if found or not runs else None
