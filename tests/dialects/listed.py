"""The blocks of the five documents as they stand there, and what each of them is."""

from pathlib import Path
from typing import Literal

import msgspec
import msgspec.yaml

FOLDER = Path(__file__).with_name("blocks")
DOCUMENTS = ("veronica", "agent33", "ragix", "penguiflow", "guardian")


class Block(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"kind": "class"}):
    """A block by the line it begins at: its hash, its class, and the test that plays it, or why
    none can."""

    line: int
    language: Literal["mermaid", "python", "yaml", "sql", "drawing"]
    sha256: str
    kind: Literal["runnable", "loadable", "schema", "illustration"]
    test: str | None = None
    reason: str | None = None


def blocks(document: str) -> list[Block]:
    """The blocks of a document, in its order."""
    return msgspec.yaml.decode((FOLDER / f"{document}.yaml").read_bytes(), type=list[Block])


def text(document: str, line: int) -> str:
    """A block as the document has it."""
    return (FOLDER / document / f"{line:03d}.txt").read_text(encoding="utf-8")
