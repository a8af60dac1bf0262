"""The files guard: paths stay in their folders, keep off what is protected, and match what the task
allows."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property, lru_cache, reduce
from typing import TYPE_CHECKING, Any, ClassVar, Final

from msgspec.structs import replace

from stanchion.guards._own import NOWHERE, OwnPlaces, told_once
from stanchion.guards._protected import CHANGES, FileProtection, Use
from stanchion.guards.files.codes import CODES, CURES, shown
from stanchion.guards.files.file_globs import (
    FileScope,
    Folders,
    ReadyScope,
    folders,
    ready_scope,
    untold,
)
from stanchion.guards.files.harm import (
    HARMS,
    FileOptions,
    HarmReader,
    ToolUse,
    harm_by_swaps,
    harm_by_words,
)
from stanchion.guards.files.protected import all_of, filled_in, searched, shipped
from stanchion.guards.files.protected.classes import signs_of
from stanchion.guards.files.protected.seat import seat_of
from stanchion.guards.files.real import RealFiles
from stanchion.guards.files.surroundings import adds_to_path, around, elsewhere
from stanchion.kernel.actions import STOPS, Action, Category
from stanchion.kernel.contract.values import Beside, GuardGate
from stanchion.kernel.events import ToolCall
from stanchion.kernel.findings import Finding, worse
from stanchion.kernel.guard import Kind
from stanchion.kernel.names import glob, is_glob
from stanchion.kernel.option import ACTIONS
from stanchion.kernel.regex import finding, regex
from stanchion.kernel.stages import Stage
from stanchion.readings import Reading
from stanchion.readings.act import act_of
from stanchion.readings.joined import BETWEEN, flat
from stanchion.readings.paths.included import swaps_in
from stanchion.readings.paths.place import (
    PathGlob,
    PathPlace,
    first_match,
    is_url,
    joined,
    listed,
    pattern,
    permits,
    place_of,
)
from stanchion.readings.paths.spelling import LONGEST_NAME, spelling
from stanchion.readings.paths.targets import (
    How,
    PathTarget,
    Seeing,
    contents,
    targets_in,
    targets_seen,
)
from stanchion.readings.shell.paths import paths_in, swaps_of
from stanchion.readings.word_lists import Strings

if TYPE_CHECKING:
    from stanchion.kernel.contract.values import PolicySaid

__all__ = ["CODES", "Files"]

CONTENTS_OF: Final = 8
"""For how many files of a call it is asked what is written into them."""
KEPT: Final = 512
"""How many judged paths are remembered, so that a repeated one costs a look."""
DONE: Final[dict[Use, str]] = {"read": "read", "write": "written", "delete": "deleted"}

BY_POLICY: Final = FileProtection("the policy says so")
BY_WHICH: Final = FileProtection("the policy by which calls are judged")
BY_TOOL: Final = FileProtection("a tool would show what it signs in with", asks=True)

FREE: Final = ReadyScope(None, ())
"""The scope of a task of which the policy says nothing."""

UNASKED: Final = (
    r"package\.json|\.github/workflows/|\.vscode/tasks\.json|\.husky/|\.githooks/|"
    r"devcontainer\.json"
)
"""Files that run although nobody calls them, as their paths tell."""
_UNASKED: Final = regex(UNASKED)
HANDED: Final = ("_scopes", "_own", "_harm")
"""What a guard is handed by its policy."""


ScopeOf = Callable[[str], FileScope | None]
"""Gives the scope of a task; `None` where the policy says nothing of its files."""


class Files(FileOptions, frozen=True, dict=True):
    """Refuses calls whose paths leave the run's folders, touch protected files, or are not among a
    task's files.

    Paths are found in arguments by their names, at any depth, and in shell commands. Each is judged
    by every way in which it may be read. With `real_paths` the disk is asked, too, where links
    lead.
    """

    name: ClassVar = "files"
    kind: ClassVar = Kind.PURE
    stages: ClassVar = frozenset({Stage.TOOL_CALL})
    category: ClassVar = Category.SAFETY
    priority: ClassVar = 5
    cures: ClassVar = CURES
    reads: ClassVar = frozenset({("tasks", "files.write"), ("tasks", "files.deny")})

    @cached_property
    def _scopes(self) -> ScopeOf:
        return lambda _task: None

    @cached_property
    def _own(self) -> tuple[PathGlob, ...]:
        return ()

    @cached_property
    def _places(self) -> OwnPlaces:
        return NOWHERE

    @cached_property
    def _harm(self) -> HarmReader | None:
        return None

    def scoped(self, said: PolicySaid, /) -> Files:
        """The same guard that knows the files of tasks and of the policy."""
        files = said.found("tasks", "files", only_given=True)

        def scope(task: str) -> FileScope | None:
            found = files(task)
            return None if found is None else FileScope(found.write, found.deny)

        return self.within(scope, said.files, said.harm_in_file)

    def beside(self, _stages: frozenset[Stage], /) -> Beside | None:
        """What asks the disk where links lead, where that is wanted."""
        return Beside("real", RealFiles(self)) if self.real_paths else None

    def rises_with(self, _table: str, key: str, _old: Any, /) -> bool:
        """What is denied of a task's files may be said in place of something severer."""
        return key != "files.deny" or len(set(self.actions())) <= 1

    def within(
        self,
        scopes: ScopeOf,
        own: tuple[str, ...],
        harm: HarmReader | None = None,
    ) -> Files:
        """The same guard that knows the scopes of tasks, the files of its own policy, and who reads
        what is written into files."""
        made = replace(self)
        made.__dict__["_scopes"] = scopes
        made.__dict__["_own"] = tuple([pattern(path) for path in own])
        made.__dict__["_harm"] = harm
        return made

    @told_once
    def told(self, places: OwnPlaces) -> Files:
        """The same guard that knows where the shield keeps what is its own."""
        made = replace(self)
        made.__dict__.update(
            {name: self.__dict__[name] for name in HANDED if name in self.__dict__}
        )
        made.__dict__["_places"] = places
        return made

    @cached_property
    def _seeing(self) -> Seeing:
        arguments = {} if self.arguments is None else self.arguments

        def use(tool: str) -> Use | None:
            told = self._told_use(tool)
            return None if told == "elsewhere" else told

        return Seeing(use, arguments)

    @cached_property
    def _told_use(self) -> Callable[[str], ToolUse | None]:
        """What the policy says that a tool does to files: by its own name, or by the first glob."""
        said = {} if self.tools is None else self.tools

        def find(tool: str) -> ToolUse | None:
            found = [use for name, use in said.items() if is_glob(name) and glob(name, tool)]
            return said[tool] if tool in said else found[0] if found else None

        return lru_cache(KEPT)(find)

    @cached_property
    def folders(self) -> Folders:
        """Where files are; relative paths begin at the first."""
        return folders(self.root, self.case_insensitive)

    @property
    def begun(self) -> Strings:
        """Its folders from where the shield was told that everything begins."""
        return self._places.begun(self.root)

    @cached_property
    def _lists(self) -> dict[str, tuple[PathGlob, ...]]:
        folded = self.case_insensitive
        return {
            "deny": listed(self.deny, True),
            "protected": listed(self.protected, True),
            "unprotected": listed(self.unprotected, folded),
            "read": listed(self.read if self.read is not None else (), folded),
            "write": listed(self.write if self.write is not None else (), folded),
        }

    @cached_property
    def _kept(self) -> Any:
        return lru_cache(KEPT)(self._judged)

    @cached_property
    def _signs(self) -> str | None:
        """What a path has that may be protected; `None` where lists decide, or folders from which a
        path is protected in another way."""
        lists = self.deny or self.protected or self.read is not None or self.write is not None
        more = [
            UNASKED,
            self._places.sign.pattern,
            *[re.escape(one.parts[-1]) for one in self._own],
        ]
        if lists or any(one.root for one in self.folders.places) or not "".join(more).isascii():
            return None
        return signs_of(more)

    @cached_property
    def gate(self) -> GuardGate | None:
        """What a call has in its texts of which a path is protected; `None` where that is not all
        that counts."""
        if self.tools or self.arguments or not self.paths_only or self._signs is None:
            return None
        return GuardGate(flat=(self._signs,), opens=self._deletes)

    def _deletes(self, event: ToolCall) -> bool:
        """Whether a call may delete, by its tool or an option, or its task has files of its own."""
        act = act_of(event.tool, event.traits)
        options = bool in map(type, event.args.values())
        return act.use == "delete" or act.moves or options or self._scope(event.run.task) != FREE

    def judge(self, reading: Reading[ToolCall], /) -> Finding | None:
        """The severest of what is found about the call's paths; the first of them where they are
        alike."""
        event = reading.event
        worst: Finding | None = None
        named = self.targets(reading)
        for target in named:
            finding: Finding | None = self._kept(target, event.run.task)
            if finding is not None and adds_to_path(target, event.args):
                continue
            worst = worse(worst, finding)
            if worst is not None and worst.action >= STOPS:
                return worst
        scoped = self.write is not None or self._scope(event.run.task).write is not None
        if worst is None and scoped:
            worst = untold(reading, ACTIONS[self.action])
        if not self.shipped or self._harm is None:
            return worst
        paths = [target.text for target in named if target.use == "write"]
        if self.paths_only:
            paths = [path for path in paths if _UNASKED.search(path) is not None]
        return worse(worst, self._written(reading, paths[:CONTENTS_OF]) if paths else None)

    def _written(self, reading: Reading[ToolCall], paths: list[str]) -> Finding | None:
        """What is said against what a call writes into files."""
        texts, swaps = list(contents(reading.event.args)), list(swaps_in(reading.event.args))
        limits = reading.reader.limits
        swaps += [one for held in reading.commands for one in swaps_of(held.text, limits)]
        for path in paths if texts or swaps else ():
            harm = harm_by_swaps(path, swaps)
            for text in texts:
                harm = harm or self._harms_kept(path, text)
            if harm:
                said = (shown(path), HARMS[harm])
                return Finding(ACTIONS[self.asked], "files.harms", said, about=path)
        return None

    def _harms(self, path: str, text: str) -> str:
        """What a text would do once it is in that file: a word of `HARMS`, or nothing."""

        def script(name: str, text: str) -> str:
            return "" if self._harm is None else self._harm(name, text, self._takes)

        return script(path, text) or harm_by_words(path, text, self._holds, script)

    @cached_property
    def _harms_kept(self) -> Callable[[str, str], str]:
        return lru_cache(KEPT // 8)(self._harms)

    def _holds(self, path: str, base: str = "", system: bool = True) -> bool:
        """Whether a path leads to what somebody, a tool or the system signs in with."""
        place = self._seen(path, base, False).folded
        seat, held = seat_of(place), None if is_url(path) else shipped().find(place, "read")
        own = seat.sure and (seat.is_home or (system and seat.area == "system"))
        return held is not None and not held.asks and own

    def _takes(self, text: str) -> bool:
        """Whether a shell text surely reads what somebody or some tool signs in with."""
        reads = [one for one in paths_in(text) if one.sure and one.use == "read" and not one.how]
        return any(self._holds(one.path, one.base, False) for one in reads)

    def targets(self, reading: Reading[ToolCall]) -> list[PathTarget]:
        """The paths of a call."""
        if not self.tools and not self.arguments and not self.paths_only:
            return reading.of(targets_in)
        found = targets_seen(reading, self._seeing, () if self.paths_only else reading.commands)
        if self._told_use(reading.event.tool) != "elsewhere":
            return found
        return [one if one.commanded else one._replace(sure=False) for one in found]

    def _judged(self, target: PathTarget, task: str) -> Finding | None:
        if self._is_plain(target, task):
            return None
        spelled = spelling(target.text)
        remote = is_url(target.text)
        places = [self._seen(spelled.text, target.base, False)]
        places += [self._seen(text, target.base, True) for text in spelled.lenient]
        folder = self.folders
        touched: Finding | None = None
        for place in places if not remote else ():
            touched = self.touched(place, folder, target.use, task, target.text, target.how)
            if touched is not None:
                break
        if not target.sure or (touched is not None and touched.action >= STOPS):
            return touched
        return worse(touched, self._led(target, places, spelled.unclear, task, remote))

    def _is_plain(self, target: PathTarget, task: str) -> bool:
        """Whether a path leads into the folder that the run works in, and nothing protects it."""
        signs = self._signs if self._scope(task) == FREE else None
        if signs is None or target.use == "delete" or target.how or target.commanded:
            return False
        text = f"{target.text}{BETWEEN}{target.base}"
        plain = len(target.text) <= LONGEST_NAME and text.count(BETWEEN) == 1
        return plain and finding(signs)(flat(text)) is None

    def _led(
        self, target: PathTarget, places: list[PathPlace], unclear: str, task: str, remote: bool
    ) -> Finding | None:
        """What is said against where a path leads, if that can be told at all."""
        folder = self.folders
        if unclear:
            return Finding(ACTIONS[self.unclear], "files.unclear", (shown(target.text), unclear))
        said = [
            self.placed(place, folder, target.use, task, target.text, remote) for place in places
        ]
        worst = reduce(worse, said)
        changes = not remote and target.base and target.use in CHANGES
        if worst is not None or not changes or any(one.root for one in folder.places):
            return worst
        own = elsewhere(places[-1], target.base) if folder.places else None
        action = min(ACTIONS[self.outside_write], ACTIONS[self.asked])
        if own is None or action is Action.ALLOW:
            return None
        return Finding(action, "files.outside", (shown(target.text), shown(own.text)))

    def _seen(self, text: str, base: str, lenient: bool) -> PathPlace:
        place = place_of(text, lenient)
        if base and not place.root:
            place = joined(place_of(base, lenient), place)
        return self.folders.seen(place)

    def touched(
        self, place: PathPlace, folder: Folders, use: Use, task: str, text: str, how: How = ""
    ) -> Finding | None:
        """What is said against using a place at all: it is denied, or protected."""
        within, deep = folder.within(place), use == "delete"
        folded, seen = place.folded, within.folded
        action = ACTIONS[self.protected_write if use in CHANGES else self.protected_read]
        code = "files.protected"
        ours = self._places.leads_to(place.text, use)
        denied = first_match((*self._lists["deny"], *self._scope(task).deny), folded, seen, deep)
        if ours is not None:  # whatever the policy says of other protected files
            # Whoever deletes a home is told of the home before what is ours in it.
            whole = (self._protected(folded, seen, use, how) or all_of(folded)) if deep else None
            itself = deep and self._places.leads_to(place.text, "write") is not None
            wide = deep and (not itself or "*" in place.text)
            own = f"{ours.what} is in it" if wide else ours.what
            action, why = max(action, Action.BLOCK), own if whole is None else whole.what
        elif denied is not None:
            action, code = ACTIONS[self.action], "files.denied"
            why = f"it matches `{denied.text}`, which is denied"
        else:
            held = self._protected(folded, seen, use, how)
            if held is None or first_match(self._lists["unprotected"], place, within) is not None:
                return None
            action, why = min(action, ACTIONS[self.asked]) if held.asks else action, held.what
            if held.tells:
                action, code = min(action, Action.WARN), "files.instructs"
        return Finding(action, code, (shown(text), DONE[use], why), about=place.text)

    def _protected(
        self, place: PathPlace, within: PathPlace, use: Use, how: How
    ) -> FileProtection | None:
        deep = use == "delete"
        if first_match(self._lists["protected"], place, within, deep) is not None:
            return BY_POLICY
        if use in CHANGES and self._own and first_match(self._own, place, within, deep) is not None:
            return BY_WHICH
        if not self.shipped or how == "looks":
            return None
        if how == "asks":
            return BY_TOOL
        seen = self.folders.from_project(place, within)
        why = shipped().find(seen, use)
        if why is None and how in ("deep", "hunts") and use != "delete":
            why = all_of(seen) if how == "deep" else searched(seen)
        return why if why is not None else filled_in(seen, use)

    def placed(
        self,
        place: PathPlace,
        folder: Folders,
        use: Use,
        task: str,
        text: str,
        remote: bool = False,
    ) -> Finding | None:
        """What is said against where a place is: outside of every folder, or not among the files
        that may be used. A place outside that is not refused has to be listed like every other."""
        unknown = place.root == "$" and not any(one.root for one in folder.places)
        action = ACTIONS[self.outside_write if use in CHANGES else self.outside_read]
        finding: Finding | None = None
        outside = not unknown and folder.outside(place) and action is not Action.ALLOW
        if outside and not (self.surroundings and around(place, folder, use)):
            where = ", ".join([one.text for one in folder.places])
            finding = Finding(action, "files.outside", (shown(text), where), about=place.text)
        if remote or (finding is not None and action >= STOPS):
            return finding
        return worse(finding, self.unlisted(place, folder, use, task, text))

    def unlisted(
        self, place: PathPlace, folder: Folders, use: Use, task: str, text: str
    ) -> Finding | None:
        """What is said against a place that is not among the files that may be used."""
        within, scope, changes = folder.within(place), self._scope(task), use in CHANGES
        allowed, whose = self.write if changes else self.read, ""
        if allowed is not None and not permits(
            self._lists["write" if changes else "read"], place, within
        ):
            whose = "the policy"
        elif changes and scope.write is not None and not permits(scope.write, place, within):
            whose = f"task `{shown(task)}`"
        if not whose:
            return None
        why = f"it is not among the files that {whose} lists"
        return Finding(ACTIONS[self.action], "files.denied", (shown(text), DONE[use], why))

    @cached_property
    def _scope(self) -> Callable[[str], ReadyScope]:
        def find(task: str) -> ReadyScope:
            said = self._scopes(task)
            return FREE if said is None else ready_scope(said, self.case_insensitive)

        return lru_cache(KEPT)(find)

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        names = (
            self.action, self.outside_read, self.outside_write, self.protected_read,
            self.protected_write, self.unclear, self.asked,
        )  # fmt: skip
        said = [ACTIONS[name] for name in names]
        return tuple(dict.fromkeys([*said, Action.WARN, Action.ESCALATE, Action.BLOCK]))
