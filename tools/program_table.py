"""`python -m tools.program_table`: write what runs of the table of programs, whose files do not
ship."""

from pathlib import Path
from typing import Any, Final

import msgspec
import yaml

from stanchion.guards.shell.codes import FAMILIES
from stanchion.guards.shell.rule import CHECKS, Rule
from stanchion.guards.shell.rules import ASKED, FILE

SRC: Final = Path(__file__).resolve().parents[1] / "src/stanchion"
FOLDER: Final = SRC / "readings/shell/programs"
RISKS: Final = SRC / "guards/shell" / FILE
assert ASKED


class Program(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of programs of some names: risks, each by why it is one, and commands that are
    such, and that are none."""

    risks: dict[str, list[str | dict[str, Any]]] = {}
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()


class ProgramFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of the table: programs by their names, the family of their risks where a row does not
    say it, and commands of more than one program that are such, and that are none."""

    family: str
    programs: dict[str, Program]
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()


def tables() -> dict[str, ProgramFile]:
    """The files of the table, by their names; `ValueError` names the file with which something is
    wrong."""
    found = {}
    for file in sorted(FOLDER.glob("*.yaml")):
        try:
            found[file.stem] = msgspec.convert(
                yaml.safe_load(file.read_text(encoding="utf-8")), ProgramFile
            )
        except (yaml.YAMLError, msgspec.ValidationError) as error:
            raise ValueError(f"`{file.name}`: {error}") from None
    return found


def rules() -> list[Rule]:
    """The rows of all files, family by family."""
    found = [
        _rule(name, names, table.family, why, row)
        for name, table in tables().items()
        for names, program in table.programs.items()
        for why, rows in program.risks.items()
        for row in rows
    ]
    order = list(FAMILIES)
    return sorted(found, key=lambda rule: order.index(rule.family))


def _rule(file: str, names: str, family: str, why: str, row: str | dict[str, Any]) -> Rule:
    given: dict[str, Any] = {"words": row} if isinstance(row, str) else dict(row)
    has = given.get("has", ())
    given["has"] = has.split() if isinstance(has, str) else has
    try:
        rule = msgspec.convert({"names": names, "family": family, "why": why, **given}, Rule)
    except msgspec.ValidationError as error:
        raise ValueError(f"`{file}.yaml`, `{names}`, {why}: {error}") from None
    if rule.family not in FAMILIES:
        raise ValueError(f"`{file}.yaml`, `{names}`: there is no family `{rule.family}`")
    if rule.check and rule.check not in CHECKS:
        raise ValueError(f"`{file}.yaml`, `{names}`: nothing answers `is: {rule.check}`")
    return rule


def risks() -> bytes:
    """The rows as they run."""
    return b"\n".join([*map(msgspec.json.encode, rules()), b""])


if __name__ == "__main__":
    RISKS.write_bytes(risks())
