"""The verdict on a text: which of its commands is worst, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from stanchion.guards.shell.blaming import TRIED, blamed
from stanchion.guards.shell.judging import Danger, dangers, writing
from stanchion.guards.shell.places import roots_of
from stanchion.kernel.actions import Action, Risk
from stanchion.kernel.findings import Finding
from stanchion.kernel.names import names
from stanchion.kernel.option import ACTIONS
from stanchion.readings.shell.analysis import Analysis, analysed, analysed_words
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.opening import Open

if TYPE_CHECKING:
    from stanchion.guards.shell import Shell

BINARIES: Final = frozenset({"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/opt/homebrew/bin"})
"""Folders in which a program is the one that its name says."""

NOISE: Final = 3
"""From how many expansions of nothing on a text is scrambled rather than written."""

MOST: Final = 16
"""Of how many equally dangerous commands it is said what they are about, and how many things, the shortest first."""


class Verdict:
    """Judges texts by the options of one guard."""

    def __init__(self, options: Shell) -> None:
        self.options = options
        self.roots = roots_of(options.roots, options.own)
        self.allowed = None if options.allow is None else names(options.allow)
        self.levels = {
            "danger": ACTIONS[options.danger],
            "doubt": ACTIONS[options.doubt],
            "note": ACTIONS[options.note],
        }
        given = options.families if options.families is not None else {}
        self.own = {family: ACTIONS[action] for family, action in given.items()}

    def of(self, text: str | tuple[str, ...], risk: Risk) -> Finding | None:
        """What is said of a text for a tool of this risk; None where it may run."""
        found = analysed(text) if isinstance(text, str) else analysed_words(text)
        if self.allowed is not None:
            refused = self._not_allowed(found, _short(text))
            if refused is not None:
                return refused
        worst = self._worst(found)
        if found.unclear:
            action = ACTIONS[self.options.unclear[risk]]
            if worst is None or action >= worst.action:
                return Finding(action, "shell.unclear", (_short(text), found.unclear))
        scrambled = self.levels["doubt"]
        if found.noise >= NOISE and (worst is None or scrambled > worst.action):
            return Finding(scrambled, "shell.scrambled", (_short(text),))
        if worst is None and found.broken:
            return Finding(ACTIONS[self.options.malformed], "shell.malformed", (_short(text), found.broken))
        return worst

    def _dangers(self, found: Analysis) -> Iterator[Danger]:
        for command in found.commands:
            yield from dangers(command, self.roots, self.options.strict)
        if found.wrote:
            yield from writing(found.wrote, found.commands, self.roots)

    def _worst(self, found: Analysis) -> Finding | None:
        broken: list[Danger] = []
        action = Action.ALLOW
        for danger in self._dangers(found):
            if danger.rule.level == "note" and found.reasoned:
                continue
            own = self.own.get(danger.family.name, self.levels[danger.rule.level])
            if own > action:
                broken, action = [danger], own
            elif broken and own == action:
                broken.append(danger)
        if not broken:
            return None
        worst = broken[0]
        said = (worst.command.words, worst.command.place, worst.rule.why)
        alike = sorted([one for one in broken if one.family is worst.family], key=lambda one: len(one.command.argv))
        about: set[str] = set()
        tried = 0
        for danger in alike[:MOST]:  # the short ones first: to try many words of many commands would cost too much
            if tried < 2 * TRIED:
                about.update(blamed(danger, found.commands, self.roots))
            tried += len(danger.command.argv)
        shortest = sorted(about, key=lambda one: (len(one), one))[:MOST]
        return Finding(action, worst.family.code, said, about="\n".join(shortest))

    def _not_allowed(self, found: Analysis, shown: str) -> Finding | None:
        said = ", ".join(self.options.allow[:12]) if self.options.allow else "none"
        block = ACTIONS[self.options.danger]
        for command in found.commands:
            if not self._is_allowed(command):
                return Finding(block, "shell.not_allowed", (command.words, command.place, said), about=command.name)
        if found.unclear or found.broken:
            return Finding(block, "shell.not_allowed", (shown, "", said))
        return None

    def _is_allowed(self, command: Command) -> bool:
        if not command.argv:
            return not command.opens
        first = command.argv[0]
        if isinstance(first, Open) or self.allowed is None:
            return False
        if first in self.allowed:
            return True
        folder, slash, name = first.rpartition("/")
        return bool(slash) and folder in BINARIES and name in self.allowed


def _short(text: str | tuple[str, ...]) -> str:
    line = text if isinstance(text, str) else " ".join(text)
    flat = " ".join(line[:400].split()).replace("`", "'")
    return flat if len(flat) <= 120 else f"{flat[:117]}…"
