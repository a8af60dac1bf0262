"""Checking a document against a struct: every mistake at once, each at its place, with what to
write instead.

`convert` accepts exactly what `msgspec.convert` accepts; numbers and text that no policy may have
were refused when the document was read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec

from stanchion import typed
from stanchion.kernel.regex import regex
from stanchion.policy.document import Document, in_order
from stanchion.policy.errors import Fault, PolicyError

T = TypeVar("T")
_IN_MESSAGE: Final = regex(r"\.([^.\[`]+)|\[(\d+)\]")


def fits(document: Document, kind: Any) -> bool:
    """Whether a document is of that struct: where it is, nothing has to be said about it."""
    try:
        typed.convert(document.root.data(), kind)
    except msgspec.ValidationError:
        return False
    return True


def convert(document: Document, kind: type[T], wider: Callable[[], Any] | None = None) -> T:
    """The document as that struct; raises `PolicyError` with every fault found, those of reading
    included. Where a `wider` struct is given, faults are told by that one."""
    said = ""
    if not document.faults:
        try:
            return typed.convert(document.root.data(), kind)
        except msgspec.ValidationError as error:
            said = str(error)
    faults = in_order([*document.faults, *check(document, kind if wider is None else wider())])
    raise PolicyError(faults if faults else [_as_said(document, said)])


def shipped_table(folder: str, kind: type[T]) -> T:
    """The table that came with this version in a folder of this package."""
    from importlib import resources

    from stanchion.policy.composed import read_text

    name = "table.yaml"
    text = resources.files("stanchion.policy").joinpath(folder, name).read_text("utf-8")
    return convert(read_text(text, name), kind)


def check(document: Document, kind: Any) -> list[Fault]:
    """What is wrong with a document by that struct, in the document's order."""
    from stanchion.policy.struct_faults import faults_in

    return faults_in(document.root, kind)


def _as_said(document: Document, said: str) -> Fault:
    """What only the struct itself can see (a check of its own, a type of Python's), at the place it
    names."""
    message, _, where = said.rpartition(" - at `$")
    steps = (
        [int(index) if index else name for name, index in _IN_MESSAGE.findall(where)]
        if message
        else []
    )
    text = message if message else said
    return Fault(str(document.place(*steps)), text[:1].lower() + text[1:])
