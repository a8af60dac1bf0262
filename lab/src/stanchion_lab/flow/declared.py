"""What the tools of a set do, as their host would declare it: read from their schemas, and never
from the attacks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml

from stanchion import typed
from stanchion.kernel.declared import EffectName, ResultName
from stanchion_lab.measuring.rows import NoRows

ENDING: Final = "_declared.yaml"
"""How the name of a file of declarations ends that stands beside traces."""
REAL: Final = frozenset({"outward", "irreversible", "privilege"})
"""Effects that reach somebody, cannot be taken back, or change who may do what."""


class Tool(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One tool, in the words of a policy."""

    effect: EffectName
    sinks: tuple[str, ...] = ()
    result: ResultName | None = None
    records: str = ""
    identity_fields: tuple[str, ...] = ()


class Declarations(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The tools of a set, and the user's own addresses. What has the same `name` is counted
    together: without one it is that of the file. `structured` says that its texts are
    written-out data, which a host would hand over as such. What an attacker wrote is the group
    `text` of `injected`; in records it is the body of those whose id matches `attacker`."""

    tools: dict[str, Tool] = {}
    me: tuple[str, ...] = ()
    identity_fields: tuple[str, ...] = ()
    structured: bool = False
    injected: str = ""
    attacker: str = ""
    name: str = ""

    def effect(self, tool: str) -> str:
        """What a tool does; empty where nobody declares it."""
        known = self.tools.get(tool)
        return "" if known is None else known.effect

    def sinks(self, tool: str) -> tuple[str, ...]:
        """The arguments of a tool that say whom or what it acts on."""
        known = self.tools.get(tool)
        return () if known is None else known.sinks

    @property
    def record_line(self) -> str:
        """The line that begins a record in the flat texts of these tools; empty where there is
        none."""
        return next((tool.records for tool in self.tools.values() if tool.records), "")

    def of_attacker(self, record: Mapping[str, Any]) -> bool:
        """Whether a record is one that an attacker wrote."""
        known = self.attacker and re.match(self.attacker, str(record.get("id", "")))
        return bool(known) and isinstance(record.get("body"), str)

    def in_policy(self) -> dict[str, Any]:
        """The part of a policy that declares all of it."""
        tools = {name: msgspec.to_builtins(tool) for name, tool in self.tools.items()}
        own = {"me": list(self.me), "identity_fields": list(self.identity_fields)}
        return {
            "tools": tools,
            **{key: value for key, value in own.items() if value},
        }


NOTHING: Final = Declarations()


def declared_for(names: Iterable[str], beside: Path | None = None) -> Declarations:
    """The declarations of a set by any of its names, the first that has some; those beside its
    traces come before those that are shipped. The first word of a name is a name, too."""
    if beside is not None:
        return read_declarations(beside)
    shipped = _shipped()
    every = [word for name in names for word in (name, name.partition("_")[0])]
    return next((shipped[word] for word in every if word in shipped), NOTHING)


def read_declarations(path: Path | Traversable) -> Declarations:
    """The declarations of a file; `NoRows` says what is wrong with it."""
    try:
        read = yaml.safe_load(path.read_text("utf-8"))
        found = typed.convert(read, Declarations)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise NoRows(f"{path}: has no declarations of tools: {str(error).lower()}") from None
    name = found.name if found.name else _stem(path)
    return msgspec.structs.replace(found, name=name)


@cache
def _shipped() -> Mapping[str, Declarations]:
    folder = files("stanchion_lab.flow").joinpath("declared")
    found = [file for file in folder.iterdir() if file.name.endswith(".yaml")]
    return {_stem(file): read_declarations(file) for file in found}


def _stem(path: Path | Traversable) -> str:
    return path.name.removesuffix(ENDING).removesuffix(ENDING[1:]).partition(".")[0]
