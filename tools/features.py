"""Read the feature table: what the five founding documents require, and where Stanchion meets
it."""

from pathlib import Path

import msgspec
import msgspec.yaml

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "features"
DOCUMENTS = ("veronica", "agent33", "ragix", "penguiflow", "guardian")


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="status"):
    """One requirement of a document: its stable id, the lines that state it, and what they say."""

    id: str
    lines: str
    says: str


class Open(Row, frozen=True, tag="open"):
    """A requirement nothing meets yet."""


class Done(Row, frozen=True, tag="done"):
    """A requirement met by `module` (paths under src) and shown by `test` (`path::name`);
    `deviates` says what is otherwise than it is written."""

    module: str | list[str]
    test: str | list[str]
    deviates: str = ""

    @property
    def modules(self) -> list[str]:
        """The files that meet the requirement."""
        return [self.module] if isinstance(self.module, str) else self.module

    @property
    def tests(self) -> list[str]:
        """The tests that show it."""
        return [self.test] if isinstance(self.test, str) else self.test


class Ruled(Row, frozen=True, tag="ruled"):
    """A requirement that is deliberately not met as written, and why."""

    ruling: str


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A founding document by title, and its requirements in the order of its lines."""

    document: str
    rows: list[Open | Done | Ruled]


def read(name: str, folder: Path = FOLDER) -> Document:
    """Read the rows of one document; a row whose fields do not fit its status is an error naming
    the file."""
    file = folder / f"{name}.yaml"
    try:
        return msgspec.yaml.decode(file.read_bytes(), type=Document)
    except msgspec.ValidationError as error:
        raise ValueError(
            f"`{file.name}` is not a feature table: {error}; see `tools/features.py`"
        ) from error
