"""`python -m tools.program_table`: write what runs of the table of programs, whose files do not
ship."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml

from stanchion.guards.shell.consequence import FAMILIES, Risks
from stanchion.guards.shell.rule import RiskRule, rules_of
from stanchion.guards.shell.rules import ASKED, FILE
from stanchion.readings.shell import known
from stanchion.readings.shell.known import KnownPrograms, ProgramUse

SRC: Final = Path(__file__).resolve().parents[1] / "src/stanchion"
FOLDER: Final = SRC / "readings/shell/programs"
RISKS: Final = SRC / "guards/shell" / FILE
USAGES: Final = SRC / "readings/shell" / known.FILE
KINDS: Final = frozenset(
    [line.partition(":")[0] for line in (FOLDER / "kinds.txt").read_text("utf-8").splitlines()]
)
assert ASKED
LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The parser that is written in C, where there is one: all files take a tenth of the time."""


class Entry(ProgramUse, frozen=True, forbid_unknown_fields=True):
    """All that is known of programs: what they do with their words, risks, and commands that are
    such, and that are none."""

    risks: Risks = msgspec.field(default_factory=dict)
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()


class ProgramFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of the table: programs by their names, the family of their risks where a row does not
    say it, and commands of more than one program that are such, and that are none."""

    programs: dict[str, Entry]
    family: str = ""
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()


def tables() -> dict[str, ProgramFile]:
    """The files of the table, by their names; `ValueError` names the file with which something is
    wrong."""
    return _read(FOLDER)


@cache
def _read(folder: Path) -> dict[str, ProgramFile]:
    found = {}
    for file in sorted(folder.glob("*.yaml")):
        try:
            found[file.stem] = msgspec.convert(
                yaml.load(file.read_text(encoding="utf-8"), LOADER),  # noqa: S506 - a safe one
                ProgramFile,
            )
        except (yaml.YAMLError, msgspec.ValidationError) as error:
            raise ValueError(f"`{file.name}`: {error}") from None
    return found


def rules() -> list[RiskRule]:
    """The rows of all files, family by family."""
    order = list(FAMILIES)
    found = [
        rule
        for table in tables().values()
        for names, program in table.programs.items()
        for rule in rules_of(program.risks, names, table.family)
    ]
    return sorted(found, key=lambda rule: order.index(rule.family))


def usages() -> Iterator[KnownPrograms]:
    """What programs do with their words; raises `ValueError` where two entries tell of one program,
    or a kind is none."""
    told: set[str] = set()
    for table in tables().values():
        for names, program in table.programs.items():
            said = {field: getattr(program, field) for field in ProgramUse.__struct_fields__}
            if all(said[field] == getattr(ProgramUse(), field) for field in said):
                continue
            if twice := sorted(told.intersection(names.split())):
                raise ValueError(f"`{names}`: another entry tells of `{twice[0]}`, too")
            if wrong := sorted(frozenset(program.kinds.split()) - KINDS):
                raise ValueError(
                    f"`{names}`: no program is `{wrong[0]}`: write one of {', '.join(KINDS)}"
                )
            told.update(names.split())
            yield KnownPrograms(names=names, **said)


def _lines(rows: list[RiskRule] | list[KnownPrograms]) -> bytes:
    return b"\n".join([*map(msgspec.json.encode, rows), b""])


def written() -> dict[Path, bytes]:
    """The files that ship, and what is to be in them."""
    return {RISKS: _lines(rules()), USAGES: _lines(list(usages()))}


if __name__ == "__main__":
    for file, body in written().items():
        file.write_bytes(body)
