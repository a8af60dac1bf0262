"""Tools as they are defined: by the policy, by whoever serves them, by their own signatures; and
what was pinned."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

import msgspec

from stanchion.guards._jsonschema.checker import Checker, canonical
from stanchion.guards._jsonschema.outline import SchemaFault
from stanchion.guards._jsonschema.words import either
from stanchion.kernel.names import glob, is_glob

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


class Definition(msgspec.Struct, frozen=True, kw_only=True):
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


class Known:
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

    def __init__(self, definition: Definition, changed: str = "", suspect: str = "") -> None:
        self.name = definition.name
        self.source = definition.source
        self.changed = changed
        self.suspect = suspect
        self.about, self.schema = definition.about, definition.schema
        self.input: Checker | None = None
        self.output: Checker | None = None
        self.bad = ""
        try:
            self.digest = definition.digest()
            self.input = None if definition.schema is None else Checker(definition.schema)
            self.output = (
                None if definition.result_schema is None else Checker(definition.result_schema)
            )
        except SchemaFault as fault:
            self.digest = sha256(definition.name.encode("utf-8", "replace")).hexdigest()
            self.bad = f"the schema in its definition is of no use: {fault}"

    def over(self, below: Known | None, pin: str | None) -> Known:
        """What the policy says of a tool, over what was said elsewhere, and held against the
        policy's pin."""
        made = object.__new__(Known)
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


class Tools:
    """The tools that are known, each by its definition. It never changes: more tools make another
    one.

    `written` are those of the policy, by name or glob; `given` those that were ingested, by tenant
    and name; `pins` the digests that the policy wants definitions to have.
    """

    def __init__(
        self,
        written: Mapping[str, Known] = {},
        pins: Mapping[str, str] = {},
        given: Mapping[tuple[str, str], Known] = {},
    ) -> None:
        self._written, self._pins, self._given = dict(written), dict(pins), dict(given)
        self._memo: dict[tuple[str, str], Known | None] = {}
        told = [
            [*name, known.digest, known.changed, known.bad, known.suspect]
            for name, known in sorted(self._given.items())
        ]
        self.digest = sha256(canonical(told)).hexdigest() if told else ""

    def with_given(self, given: Mapping[tuple[str, str], Known]) -> Tools:
        """The same policy's tools beside others that were ingested."""
        return Tools(self._written, self._pins, given)

    def find(self, tenant: str, tool: str) -> Known | None:
        """The definition of a tool: the policy's, then the tenant's, then everybody's."""
        asked = (tenant, tool)
        try:
            return self._memo[asked]
        except KeyError:
            if len(self._memo) >= REMEMBERED:
                self._memo.clear()
            found = self._memo[asked] = self._found(tenant, tool)
            return found

    def _found(self, tenant: str, tool: str) -> Known | None:
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


NO_TOOLS: Final = Tools()
