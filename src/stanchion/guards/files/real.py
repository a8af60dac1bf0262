"""Real paths: where links lead, asked of the disk that the tools work on."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Final

import msgspec

from stanchion.guards._protected import CHANGES, Use
from stanchion.guards._real import RealPathsQuestion, absent_of, led_to
from stanchion.guards.files.codes import shown
from stanchion.guards.files.file_globs import folders
from stanchion.guards.files.surroundings import is_open
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.events import ToolCall
from stanchion.kernel.findings import Finding, worse
from stanchion.kernel.guard import Kind
from stanchion.kernel.lookups import Lookup
from stanchion.kernel.option import ACTIONS
from stanchion.kernel.stages import Stage
from stanchion.readings import Reading
from stanchion.readings.paths.place import is_device, is_url, place_of
from stanchion.readings.paths.targets import PathTarget
from stanchion.readings.word_lists import Strings

KEPT: Final = 512
"""How many places are remembered with what is said of them: whoever reads a file edits it next."""


def _only_makes(target: PathTarget) -> bool:
    """Whether a folder is only made, or rights of others to a file end."""
    return target.how == "looks" and target.use == "write"


def _of_shell(one: PathTarget) -> bool:
    """Whether a command names what its own process has open, as `diff <(a) <(b)` does: the process
    that is asked has other files open under the same names."""
    return one.commanded and is_device(place_of(one.text))


class RealFiles(msgspec.Struct, frozen=True, dict=True):
    """Judges the real paths of a call as `files` judges those that are written."""

    name: ClassVar = "files_real"
    kind: ClassVar = Kind.ASKING
    deep: ClassVar = False
    call: ClassVar = "stanchion.runtime.answers.real_paths:real_paths"
    stages: ClassVar = frozenset({Stage.TOOL_CALL})
    category: ClassVar = Category.SAFETY
    priority: ClassVar = 5

    files: Any
    """The guard of files that it stands beside."""

    def told(self, own: Any, /) -> RealFiles:
        """The same guard that knows where the shield keeps what is its own."""
        return RealFiles(self.files.told(own))

    def ask(self, reading: Reading[ToolCall], /) -> Lookup | None:
        """Ask where the call's paths really lead; nothing where it has none."""
        asked = reading.of(self._asked)
        return Lookup("", asked, self.files.deadline_ms) if asked.paths else None

    def _asked(self, reading: Reading[ToolCall]) -> RealPathsQuestion:
        surely = [
            one
            for one in self.files.targets(reading)
            if one.sure and not is_url(one.text) and not _of_shell(one)
        ]
        if self.files.surroundings:
            surely = [one for one in surely if one.use != "read" or one.how != "looks"]
        # Where a path is read and changed, it counts as changed; made and filled, as filled.
        surely = sorted(surely, key=lambda one: (one.use in CHANGES) * (2 - _only_makes(one)))
        found = {(one.text, one.base): one for one in surely}
        uses = tuple([one.use for one in found.values()])
        looks = tuple(map(_only_makes, found.values()))
        task = reading.event.run.task
        return RealPathsQuestion(self.files.begun, tuple(found), uses, task, looks)

    def judge(
        self, reading: Reading[ToolCall | RealPathsQuestion], value: Any, /
    ) -> Finding | None:
        """Judge what the disk says; an answer of any other shape is a failure, which refuses."""
        event = reading.event
        asked = event if isinstance(event, RealPathsQuestion) else reading.of(self._asked)
        roots, reals = led_to(asked, value)
        absent = absent_of(asked, value)
        looks = asked.looks if asked.looks else (False,) * len(reals)
        each = zip(asked.paths, asked.uses, reals, absent, looks, strict=True)
        worst: Finding | None = None
        for (text, _), *led in each:
            worst = worse(worst, self._kept(tuple(roots), asked.task, text, *led))
        return worst

    @cached_property
    def _kept(self) -> Callable[..., Finding | None]:
        return lru_cache(KEPT)(self._judged)

    def _judged(
        self, roots: Strings, task: str, text: str, use: Use, path: str, away: bool, only: bool
    ) -> Finding | None:
        """Judge where one path leads."""
        files = self.files
        real = folders(roots, files.case_insensitive)
        place = real.seen(place_of(path, lenient=path[1:2] == ":"))
        words = text if text == path else f"{text} (really {path})"
        about = (place, real, use, task, shown(words))
        inside = only and not real.outside(place)
        finding: Finding | None = files.touched(*about, "looks" if inside else "")
        finding = finding if finding is not None else files.placed(*about)
        if finding is not None and finding.code == "files.outside" and files.surroundings:
            # What is on another disk is nobody's here. Work in several folders is usual: a person
            # is asked. Lists hold for all of it.
            passes = away or is_open(place, real, use)
            action = min(finding.action, ACTIONS[files.asked])
            milder = None if passes else msgspec.structs.replace(finding, action=action)
            finding = worse(milder, files.unlisted(*about))
        return finding

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        said: tuple[Action, ...] = self.files.actions()
        return said
