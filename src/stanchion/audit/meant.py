"""Whose words are meant where something is erased: judged on records, on pieces of them, and on
what is no record."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from stanchion.audit.lines import KEPT, is_blank
from stanchion.audit.segment_scan import Found, Stub, found_at
from stanchion.audit.selection import agent_of
from stanchion.kernel.names import Names
from stanchion.kernel.regex import regex
from stanchion.kernel.shown import json_safe

FEWEST: Final = 3
"""How many bytes of a text, at least, the end of a torn record has to have of it to be taken for
its beginning."""

USUAL: Final = {"run": "", "agent": "", "task": "", "tenant": "default"}
"""What a whole body has in the fields that it leaves out."""

_VALUES: Final = {
    name: regex(rb'"%b":(?:\{"id":)?"((?:[^"\\]|\\.)*)("?)' % name.encode(), re.DOTALL)
    for name in USUAL
}
"""The values of a field wherever it stands; without the quote behind it one is torn."""


class Meant(msgspec.Struct, frozen=True, kw_only=True):
    """Whose words are erased: those of runs, of agents, on tasks, of tenants, or records that hold
    a text. Given several, a record has to fit all of them."""

    run: Names | None = None
    agent: Names | None = None
    task: Names | None = None
    tenant: Names | None = None
    containing: str | None = None

    def __bool__(self) -> bool:
        return any(value is not None for value in msgspec.structs.astuple(self))

    @property
    def named(self) -> dict[str, Names]:
        """The names that were given, by what they name."""
        return {name: wanted for name in USUAL if (wanted := getattr(self, name)) is not None}

    def has(self, found: Found) -> bool:
        """Whether a record is meant, and says anything."""
        stub = found.stub
        return self.is_said(found) and self.is_of(
            stub.run_id, agent_of(stub), task_of(stub), stub.tenant
        )

    def is_said(self, found: Found) -> bool:
        """Whether a record says anything, and the text that is meant, whoever it is of."""
        kept = found.line.kept
        return (
            bool(kept)
            and not is_blank(kept)
            and (self.containing is None or spelled(self.containing) in kept)
        )

    def is_of(self, run: str, agent: str, task: str, tenant: str) -> bool:
        """Whether something is of whom is meant."""
        return (
            (self.run is None or run in self.run)
            and (self.agent is None or agent in self.agent)
            and (self.task is None or task in self.task)
            and (self.tenant is None or tenant in self.tenant)
        )

    def may_be_in(self, torn: bytes) -> bool:
        """Whether something that is meant may be in the beginning of a record, all that there is of
        it."""
        return self.may_be_of(torn) and (
            self.containing is None or _begins(spelled(self.containing), torn)
        )

    def may_be_of(self, damaged: bytes) -> bool:
        """Whether bytes that were a record may be of whom is meant: what they do not tell counts as
        that."""
        whole = damaged.startswith(b'{"hash":"') and KEPT in damaged
        for name, wanted in self.named.items():
            values = list(_read(name, damaged))
            values = [USUAL[name]] if not values and whole else values
            if values and not any(value is None or value in wanted for value in values):
                return False
        return True

    def is_in(self, line: bytes) -> bool:
        """Whether a line of any file holds what is meant, as a record or as part of one."""
        found = found_at(line)
        if found is not None:
            return self.has(found)
        if (
            self.containing is not None
            and spelled(self.containing) not in line
            and _plain(self.containing) not in line
        ):
            return False
        each = self.named.items()
        return all(
            any(value in wanted for value in _read(name, line) if value is not None)
            for name, wanted in each
        )


def task_of(stub: Stub) -> str:
    """The task that a record is about."""
    return str(stub.run.get("task", "")) if isinstance(stub.run, dict) else stub.task


def spelled(text: str) -> bytes:
    """A text as records spell it, without its quotes."""
    return json_safe(msgspec.json.encode(text))[1:-1]


def _plain(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _begins(text: bytes, torn: bytes) -> bool:
    """Whether a text is in a torn record, or begins at its end."""
    if text in torn:
        return True
    sizes = range(min(FEWEST, len(text)), len(text))
    return any(torn.endswith(text[:size]) for size in sizes)


def _read(name: str, raw: bytes) -> Iterator[str | None]:
    """The values that a field has in some bytes; `None` for one that cannot be read, or is torn."""
    for value, ends in _VALUES[name].findall(raw):
        try:
            yield msgspec.json.decode(b'"%b"' % value, type=str) if ends else None
        except (msgspec.DecodeError, UnicodeDecodeError):
            yield None
