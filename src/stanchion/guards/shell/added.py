"""Programs that a policy tells of, beside those of the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stanchion.guards.shell.consequence import Program
from stanchion.guards.shell.places import roots_of
from stanchion.guards.shell.rule import rules_of
from stanchion.guards.shell.rules import FAMILIES, Pairs
from stanchion.guards.shell.worst import dangers
from stanchion.kernel.regex import regex
from stanchion.readings.shell.analysis import analysed

FAMILY: Final = "service"
"""The family of a risk whose row does not say it."""
_NAMES: Final = regex(r"[\w.+-]+(?: [\w.+-]+)*")


def added(programs: Mapping[str, Program]) -> dict[str, Pairs]:
    """The rows of a policy by the names of their programs; raises `ValueError` for one that nobody
    could follow."""
    found: dict[str, Pairs] = {}
    for names, program in programs.items():
        if _NAMES.fullmatch(names) is None:
            raise ValueError(
                f"`programs` has `{names}`: write names of programs, parted by a blank"
            )
        rules = [(FAMILIES[rule.family], rule) for rule in rules_of(program.risks, names, FAMILY)]
        for name in names.lower().split():
            found[name] = (*found.get(name, ()), *rules)
    return found


def tried(programs: Mapping[str, Program]) -> None:
    """Try what a policy says of its programs; raises `ValueError` where a row cannot be followed, a
    hit is none, or a miss is one."""
    rules, roots = added(programs), roots_of((".", "/workspace"))
    for names, program in programs.items():
        for text in (*program.hits, *program.misses):
            commands = analysed(text).commands
            held = any(
                danger.rule.names == names
                for command in commands
                for danger in dangers(command, roots, True, rules)
            )
            if held != (text in program.hits):
                said = (
                    "hits, but no row holds" if text in program.hits else "misses, but a row holds"
                )
                raise ValueError(
                    f"`programs`, `{names}`: `{text}` is among the {said}: change either"
                )
