"""`python -m tools.program_table`: write what runs of the table of programs, whose files do not
ship."""

from pathlib import Path
from typing import Final

import msgspec
import yaml

from stanchion.guards.shell.codes import FAMILIES
from stanchion.guards.shell.consequence import Program
from stanchion.guards.shell.rule import Rule, rules_of
from stanchion.guards.shell.rules import ASKED, FILE

SRC: Final = Path(__file__).resolve().parents[1] / "src/stanchion"
FOLDER: Final = SRC / "readings/shell/programs"
RISKS: Final = SRC / "guards/shell" / FILE
assert ASKED


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
    order = list(FAMILIES)
    found = [
        rule
        for table in tables().values()
        for names, program in table.programs.items()
        for rule in rules_of(program, names, table.family)
    ]
    return sorted(found, key=lambda rule: order.index(rule.family))


def risks() -> bytes:
    """The rows as they run."""
    return b"\n".join([*map(msgspec.json.encode, rules()), b""])


if __name__ == "__main__":
    RISKS.write_bytes(risks())
