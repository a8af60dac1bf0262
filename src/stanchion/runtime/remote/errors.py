"""What a client of a broker raises, and the decision it makes where no broker does."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from stanchion.approvals.errors import BypassRefused, TicketError
from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.findings import Finding
from stanchion.kernel.shown import Shown, visible
from stanchion.kernel.sizes import CEILING
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare
from stanchion.runtime.calling.reports import BadEvent
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
from stanchion.runtime.errors import Refused, StateError
from stanchion.runtime.remote.messages import BUSY, ENDED, Done, Fault, Misused, Refusal, Sorry
from stanchion.runtime.values.binary_text import encodable, spelled_out

CODES: Final = declare(
    {
        "kernel.broker_lost": Words(
            "the broker cannot be reached: {}; the action was not judged, so it is refused",
            "wait until the broker is back, then try again",
        ),
        "kernel.broker_busy": Words(
            "the broker takes in nothing more of this user: {}; the action was not judged, so it "
            "is refused",
            "wait until what is under way has ended, then try again",
        ),
    }
)


class BrokerLost(Shown):
    """The broker cannot be reached, or has not answered; the text says why."""


class BrokerBusy(BrokerLost):
    """So much of this user is under way that the broker takes in nothing more; the text says
    what."""


class NotThroughBroker(Shown, AttributeError):
    """Something that a program cannot do through a broker; the text says what to do in its
    place."""


def turned_away(sorry: Sorry) -> BrokerLost:
    """The error for a broker that cannot answer."""
    return (BrokerBusy if sorry.code == BUSY else BrokerLost)(sorry.text)


def unjudged(why: Exception | str, stage: Stage | None = None) -> Decision:
    """The refusal of something that no broker has judged; `stage` is that of an outcome, of what
    has happened."""
    lost = "kernel.broker_busy" if isinstance(why, BrokerBusy) else "kernel.broker_lost"
    code = lost if stage is None else "kernel.done_unjudged"
    found = Finding(Action.BLOCK, code, (str(why),), guard="kernel")
    return Decision("", Action.BLOCK, "", (found,), withheld=stage)


MISUSES: Final[dict[str, type[Exception]]] = {
    "BadEvent": BadEvent,
    "BypassRefused": BypassRefused,
    "StateError": StateError,
    "TicketError": TicketError,
    "TypeError": TypeError,
    "ValueError": ValueError,
}
"""The errors that a broker can name: they say that it was asked for something that makes no
sense."""


def misfit(reply: Any) -> Exception:
    """The error for an answer that does not give what was asked for."""
    if isinstance(reply, Refusal):
        return Refused(
            reply.decision, reply.approvers, reply.partial, reply.ticket, reply.undone, reply.beside
        )
    if isinstance(reply, Misused):
        return MISUSES.get(reply.kind, ValueError)(reply.text)
    return Refused(refused(reply))


def value_of(reply: Any) -> Any:
    """What a broker gives where it has done what it was asked for; raises what it says
    otherwise."""
    if not isinstance(reply, Done):
        raise misfit(reply)
    return reply.value


def refused(reply: Any) -> Decision:
    """The decision that it does not go ahead, for an answer that is none."""
    if isinstance(reply, Sorry) and reply.code == ENDED:
        ended = Finding(Action.HALT, "kernel.ended", (reply.text,), guard="kernel")
        return Decision("", Action.HALT, "", (ended,))
    return unjudged(
        turned_away(reply) if isinstance(reply, Sorry) else "its answer does not fit what was asked"
    )


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
