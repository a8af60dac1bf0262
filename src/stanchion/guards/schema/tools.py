"""Definitions of tools, what a hook adds to them, and values that are brought into their form."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, ClassVar, Final

import msgspec

from stanchion.guards._jsonschema.checker import SchemaChecker, canonical
from stanchion.guards._jsonschema.explain import Problem, explain
from stanchion.guards._jsonschema.outline import SchemaFault
from stanchion.guards._jsonschema.words import LONGEST_NAME, either, is_of, path_of, type_of
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.events import ToolCall
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.guard import Kind
from stanchion.kernel.lookups import Lookup
from stanchion.kernel.names import glob, is_glob
from stanchion.kernel.patches import apply
from stanchion.kernel.regex import regex
from stanchion.kernel.stages import Stage
from stanchion.readings import Reading

HOOKS_ID: Final = "schema-hooks"
LONGEST_LIST: Final = 10 * LONGEST_NAME
"""How much of a hook's own words is shown."""


class HookCall(msgspec.Struct, frozen=True):
    """What a hook gets to see: a tool and the arguments it is called with, and nothing that an
    equal call could have otherwise."""

    tool: str
    args: dict[str, Any]


class Hooked(msgspec.Struct, frozen=True):
    """A question to hooks: the call, and when it is made."""

    call: HookCall
    at: int


class ToolHooks(msgspec.Struct, frozen=True):
    """Asks the hooks of a tool: a text refuses, nothing passes, an error or silence refuses."""

    name: ClassVar = "schema_hooks"
    kind: ClassVar = Kind.ASKING
    deep: ClassVar = False
    stages: ClassVar = frozenset({Stage.TOOL_CALL})
    category: ClassVar = Category.QUALITY
    priority: ClassVar = 7

    deadline_ms: int = 1_000

    def ask(self, reading: Reading[ToolCall], /) -> Lookup:
        """The question is the call."""
        event = reading.event
        return Lookup("", Hooked(HookCall(event.tool, event.args), event.at), self.deadline_ms)

    def judge(self, reading: Reading[ToolCall | Hooked], value: Any, /) -> Finding | None:
        """Read a hook's answer; one of any other shape is the hook's failure, which refuses."""
        event = reading.event
        if value is None:
            return None
        if not isinstance(value, str):
            raise TypeError("a hook answers None or a text")
        tool = event.call.tool if isinstance(event, Hooked) else event.tool
        return Finding(Action.BLOCK, "schema.hook", (tool, value[:LONGEST_LIST]))

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        return (Action.BLOCK,)


EVERYBODY: Final = "*"
"""The tenant of definitions that hold for all."""
PARTS: Final = ("description", "schema", "result schema")
"""What of a definition is pinned."""
ASIDE: Final = "metadata"
"""What is read and not pinned: a server may change it, and what a person has accepted holds for it
as it was."""
REMEMBERED: Final = 4_096
POLICY: Final = "policy"
"""Where a definition comes from that a policy has written."""


class ToolDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as it is defined. `about` is all that is said of it for a model or a host to read,
    `aside` what is told to a host alone."""

    name: str
    schema: Any = None
    result_schema: Any = None
    about: Any = ""
    aside: Any = None
    source: str = POLICY

    def parts(self) -> dict[str, str]:
        """The digest of each part, of those that can be pinned first."""
        said = dict(zip(PARTS, (self.about, self.schema, self.result_schema), strict=True))
        if self.aside is not None:
            said[ASIDE] = self.aside
        return {part: sha256(canonical(one)).hexdigest()[:32] for part, one in said.items()}

    def digest(self) -> str:
        """The digest of the whole definition: what a policy pins."""
        parts = self.parts()
        return sha256(canonical([self.name, *[parts[part] for part in PARTS]])).hexdigest()


class CheckedDefinition:
    """A definition that was looked at: its checkers, why it cannot be used if it cannot, what
    differs from what was pinned, and what makes it suspect. It never changes."""

    __slots__ = (
        "about",
        "bad",
        "changed",
        "digest",
        "input",
        "name",
        "output",
        "schema",
        "source",
        "suspect",
    )

    def __init__(self, definition: ToolDefinition, changed: str = "", suspect: str = "") -> None:
        self.name = definition.name
        self.source = definition.source
        self.changed = changed
        self.suspect = suspect
        self.about, self.schema = definition.about, definition.schema
        self.input: SchemaChecker | None = None
        self.output: SchemaChecker | None = None
        self.bad = ""
        try:
            self.digest = definition.digest()
            self.input = None if definition.schema is None else SchemaChecker(definition.schema)
            self.output = (
                None
                if definition.result_schema is None
                else SchemaChecker(definition.result_schema)
            )
        except SchemaFault as fault:
            self.digest = sha256(definition.name.encode("utf-8", "replace")).hexdigest()
            self.bad = f"the schema in its definition is of no use: {fault}"

    def over(self, below: CheckedDefinition | None, pin: str | None) -> CheckedDefinition:
        """What the policy says of a tool, over what was said elsewhere, and held against the
        policy's pin."""
        made = object.__new__(CheckedDefinition)
        made.name, made.source = self.name, self.source
        made.about = self.about if self.about or below is None else below.about
        made.schema = self.schema if self.schema is not None or below is None else below.schema
        made.input = self.input if self.input is not None or below is None else below.input
        made.output = self.output if self.output is not None or below is None else below.output
        made.bad = self.bad if below is None or self.input is not None else below.bad
        made.digest = self.digest if below is None else below.digest
        made.changed = "" if below is None else below.changed
        # Who pins a definition in the policy has read it.
        made.suspect = "" if below is None or made.digest == pin else below.suspect
        if pin is not None and made.digest != pin:
            made.changed = (
                "it is not the one in the policy" if below is not None else "nobody has given one"
            )
        return made


def differing(parts: Mapping[str, str], pinned: Mapping[str, str]) -> str:
    """Which parts of a definition are not as they were pinned, in words; empty where all are."""
    other = [part for part in PARTS if parts.get(part) != pinned.get(part)]
    return (
        f"its {either(other) if len(other) == 1 else ' and its '.join(other)} changed"
        if other
        else ""
    )


class ToolDefinitions:
    """The tools that are known, each by its definition. It never changes: more tools make another
    one.

    `written` are those of the policy, by name or glob; `given` those that were ingested, by tenant
    and name; `pins` the digests that the policy wants definitions to have.
    """

    def __init__(
        self,
        written: Mapping[str, CheckedDefinition] = {},
        pins: Mapping[str, str] = {},
        given: Mapping[tuple[str, str], CheckedDefinition] = {},
    ) -> None:
        self._written, self._pins, self._given = dict(written), dict(pins), dict(given)
        self._memo: dict[tuple[str, str], CheckedDefinition | None] = {}
        told = [
            [*name, known.digest, known.changed, known.bad, known.suspect]
            for name, known in sorted(self._given.items())
        ]
        self.digest = sha256(canonical(told)).hexdigest() if told else ""

    def with_given(self, given: Mapping[tuple[str, str], CheckedDefinition]) -> ToolDefinitions:
        """The same policy's tools beside others that were ingested."""
        return ToolDefinitions(self._written, self._pins, given)

    def find(self, tenant: str, tool: str) -> CheckedDefinition | None:
        """The definition of a tool: the policy's, then the tenant's, then everybody's."""
        asked = (tenant, tool)
        try:
            return self._memo[asked]
        except KeyError:
            if len(self._memo) >= REMEMBERED:
                self._memo.clear()
            found = self._memo[asked] = self._found(tenant, tool)
            return found

    def _found(self, tenant: str, tool: str) -> CheckedDefinition | None:
        given = self._given.get((tenant, tool), self._given.get((EVERYBODY, tool)))
        name = tool if tool in self._written else _closest([*self._written], tool)
        if name is None:
            return given
        return self._written[name].over(given, self._pins.get(name))

    def names(self, tenant: str) -> list[str]:
        """The tools that a tenant has a definition of, as far as they have names of their own."""
        own = [name for name in self._written if not is_glob(name)]
        return sorted(
            {*own, *[name for owner, name in self._given if owner in (tenant, EVERYBODY)]}
        )


def _closest(patterns: list[str], name: str) -> str | None:
    """The glob that says most about a name."""
    matching = [pattern for pattern in patterns if is_glob(pattern) and glob(pattern, name)]
    return min(
        matching,
        key=lambda pattern: (-len(pattern.replace("*", "").replace("?", "")), pattern),
        default=None,
    )


NO_TOOLS: Final = ToolDefinitions()


LONGEST: Final = 10_000
"""How long a text may be that is read as something else."""
ROUNDS: Final = 4
"""How often what is left to change is looked for again: each time only the first reasons are
found."""

_WHOLE: Final = regex(r"-?(0|[1-9][0-9]{0,17})")
_NUMBER: Final = regex(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,17})?([eE][+-]?[0-9]{1,2})?")
_EXACT: Final = 15
"""How many digits a number may have that is read as a float: of more, some are lost."""
_SEVERAL: Final = regex(r"[,;|\n]")
"""What may separate the members of a list that is written as one text."""
_TRUTH: Final = {"true": True, "True": True, "false": False, "False": False}


class Coerced(msgspec.Struct, frozen=True):
    """A value that was made to fit: by which patches, and what was done in words."""

    patches: tuple[Patch, ...]
    words: tuple[str, ...]


def coerce(
    checker: SchemaChecker, value: Any, formats: bool, types: bool, drop: bool
) -> Coerced | None:
    """How a value is made to fit its schema; `None` where there is not exactly one way to do it.

    `types` reads values as what they have to be, `drop` leaves out entries that nobody knows.
    """
    changed: dict[tuple[str | int, ...], None] = {}
    words: list[str] = []
    current = value
    for _ in range(ROUNDS):
        for problem in explain(checker, current, formats):
            change = _change(current, problem, types, drop)
            if change is None:
                return None
            current = apply(current, (change,))
            changed[change.path] = None
            words.append(_said(problem, change))
        if checker.fits(current, formats):
            whole = [
                path
                for path in sorted(changed, key=len)
                if not any(path[:end] in changed for end in range(len(path)))
            ]
            patches = [Patch(path, at(current, path), kind="coerce") for path in whole]
            return Coerced(tuple(patches), tuple(words))
    return None


def _change(value: Any, problem: Problem, types: bool, drop: bool) -> Patch | None:
    """What is changed because of a problem; `None` where that is not clear."""
    if problem.kind == "extra" and drop:
        above, name = problem.path[:-1], problem.path[-1]
        return Patch(above, {key: each for key, each in at(value, above).items() if key != name})
    if problem.kind != "type" or not types or not problem.path:
        return None
    read = [found for name in problem.types for found in _read(at(value, problem.path), name)]
    different = [one for place, one in enumerate(read) if one not in read[:place]]
    return Patch(problem.path, different[0]) if len(different) == 1 else None


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    """The value at a path."""
    for step in path:
        value = value[step]
    return value


def _read(value: Any, name: str) -> list[Any]:
    """A value as what it has to be: none, or the one thing that it can mean."""
    if isinstance(value, str):
        return _read_text(value, name) if len(value) <= LONGEST else []
    if name == "string" and type(value) is int:
        return [str(value)]
    if name == "array" and not isinstance(value, dict | list) and value is not None:
        return [[value]]
    return []


def _read_text(text: str, name: str) -> list[Any]:
    match name:
        case "integer":
            return [int(text)] if _WHOLE.fullmatch(text) else []
        case "number":
            if _WHOLE.fullmatch(text):
                return [int(text)]
            return [float(text)] if _NUMBER.fullmatch(text) and _digits(text) <= _EXACT else []
        case "boolean":
            return [_TRUTH[text]] if text in _TRUTH else []
        case "object":
            return _decoded(text, "object") if text[:1] == "{" else []
        case "array":
            if text.lstrip()[:1] == "[":
                return _decoded(text, "array")
            return [] if _SEVERAL.search(text) else [[text]]
        case _:
            return []


def _digits(number: str) -> int:
    """How many digits of a number say something."""
    return len(number.lower().partition("e")[0].replace(".", "").lstrip("-0"))


def _decoded(text: str, name: str) -> list[Any]:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return []
    return [value] if is_of(value, name) else []


def _said(problem: Problem, change: Patch) -> str:
    where = path_of(problem.path)
    return (
        f"`{where}` is left out"
        if problem.kind == "extra"
        else f"`{where}` is read as {type_of(change.value)}"
    )
