"""Errors that travel: what one says of itself, and an error that says the same on the other
side."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from stanchion.kernel.shown import visible
from stanchion.kernel.sizes import CEILING
from stanchion.runtime.calling.tool import NothingDone
from stanchion.runtime.deciding.faults import (
    MOST_ERRORS,
    MOST_SAID,
    held_by,
    kinds,
    known_as,
    status_of,
    text_of,
)
from stanchion.runtime.remote.messages import Fault
from stanchion.runtime.values.texts import encodable, spelled_out

MOST_TEXT: Final = CEILING + 1
"""How much of a text is told: one character more than anybody reads, so that what is cut is refused
as too large."""
MOST_HELD: Final = 1_000
LONGEST_NAME: Final = 200


def told(error: BaseException, unfit: bool = False) -> Fault:
    """What an error says, as data; those behind it are told too, as far as anybody looks at
    them."""
    return _told(error, {id(error)}, unfit)


def _told(error: BaseException, seen: set[int], unfit: bool = False) -> Fault:
    name, bases = kinds(error)
    stderr = getattr(error, "stderr", None)
    stderr = stderr[-MOST_SAID:].decode("utf-8", "replace") if isinstance(stderr, bytes) else stderr
    notes = [note for note in getattr(error, "__notes__", ()) if isinstance(note, str)]

    def near(other: BaseException | None) -> Fault | None:
        if other is None or id(other) in seen or len(seen) >= MOST_ERRORS:
            return None
        seen.add(id(other))
        return _told(other, seen)

    cause = near(error.__cause__)
    context = None if error.__suppress_context__ else near(error.__context__)
    group = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return Fault(
        _text(name)[:LONGEST_NAME],
        tuple([_text(base)[:LONGEST_NAME] for base in bases]),
        _bounded(text_of(error)),
        status_of(error),
        _bounded(stderr[-MOST_SAID:]) if isinstance(stderr, str) else "",
        tuple([_bounded(note) for note in notes[:MOST_HELD]]),
        tuple([_bounded(text) for text in list(held_by(error))[:MOST_HELD]]),
        cause,
        context,
        tuple([one for other in group if (one := near(other)) is not None]),
        isinstance(error, NothingDone),
        unfit,
    )


def _text(text: str) -> str:
    return text if text.isascii() or encodable(text) else spelled_out(text)


def _bounded(text: str) -> str:
    return _text(text[:MOST_TEXT])


class Elsewhere(Exception):
    """An error that was raised in the client: it says what that one says."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(*fault.held)
        self.said = fault.text
        self.status_code, self.stderr = fault.status, fault.stderr
        self.told = len(fault.notes)
        """How many of its notes the client has already."""

    def __str__(self) -> str:
        return self.said


class Unbegun(Elsewhere, TypeError):
    """One that shows that the function was never begun."""


class Harmless(Elsewhere, NothingDone):
    """One that says that nothing has happened."""


def raised(fault: Fault) -> Elsewhere:
    """An error of the same kinds that says what was told."""
    root = Harmless if fault.harmless else Unbegun if fault.unfit else Elsewhere
    error = _kind(root, fault.name, fault.bases)(fault)
    for note in fault.notes:
        error.add_note(note)
    # What a group holds is behind it like a cause: guards are shown its words, and whose fault it
    # is is read from it.
    behind = [*fault.grouped, *([] if fault.cause is None else [fault.cause])]
    last: BaseException | None = None
    for one in behind:
        cause = raised(one)
        if last is not None and cause.__cause__ is None:
            cause.__cause__ = last
        last = cause
    error.__cause__ = last
    error.__context__ = None if fault.context is None else raised(fault.context)
    error.__suppress_context__ = fault.context is None
    return error


@lru_cache(maxsize=512)
def _kind(root: type[Elsewhere], name: str, bases: tuple[str, ...]) -> type[Elsewhere]:
    """A class that goes by that name and those of its bases."""
    name = visible(name)
    kind = type(name if name else "Exception", (root,), {})
    known_as(kind, name, bases)
    return kind
