"""Acts: what lets more through than before, and so is an operator's. Each is asked for, answered,
and carried out by whichever process the answer reaches."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from stanchion import typed
from stanchion.approvals.act import Answer, Purpose
from stanchion.approvals.answerers import By, Wish
from stanchion.approvals.errors import AnswerRefused
from stanchion.approvals.request import Request
from stanchion.approvals.rules import Asked
from stanchion.kernel.autonomy import OPERATOR
from stanchion.kernel.compare_and_set import change
from stanchion.kernel.gates import standing_key
from stanchion.kernel.scopes import FLEET
from stanchion.kernel.state import key
from stanchion.kernel.states import NORMAL, Signal
from stanchion.runtime.calling.pins import accept, pins_key
from stanchion.runtime.deciding.allowances import allowances_key
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.operating.accept_store import accepted
from stanchion.runtime.operating.allowances import Allowances
from stanchion.runtime.operating.breakers import breakers_of, reset
from stanchion.runtime.operating.locks import break_all, holders
from stanchion.runtime.operating.release import held, released
from stanchion.runtime.operating.retention import RETENTION, SUBJECT, Retention, erased
from stanchion.runtime.operating.settle_effects import settle
from stanchion.runtime.operating.top_up import topped, topped_up
from stanchion.runtime.people.authority import tell_answered
from stanchion.runtime.people.trust import TRUSTED

if TYPE_CHECKING:
    from stanchion.runtime.operating.grounds import Operated

BACK: Final = (Signal.RESTART, Signal.SAFE_OFF, Signal.LAPSED, Signal.RECOVERED)
"""What is signalled to have something back to normal, whatever state it is in."""

MOST_TRUSTED: Final = 1_000


class Act(NamedTuple):
    """How something is carried out. `number` is the version of what it changes: an answer fits that
    one alone."""

    number: Callable[[Operated, Request], int]
    done: Callable[[Operated, Request, Answer], Any]
    critical: bool = False


def wish_for(shield: Operated, request: Request) -> Wish:
    """What an operator is asked, who would have something done now."""
    act, request = _act(request), _fit(shield, request)
    return Wish(
        purpose=request.purpose,
        tenant=request.tenant,
        subject=request.subject,
        generation=act.number(shield, request),
        digest=request.digest,
        said=request.said,
        asked=Asked((OPERATOR,), act.critical),
    )


def carry_out(shield: Operated, request: Request, by: By) -> Any:
    """Have something done that somebody may have done: `AnswerRefused` where they may not, which is
    written down."""
    request = _fit(shield, request)
    comment = str(request.said.get("why", ""))
    answer = shield.authority.said(wish_for(shield, request), by, comment=comment)
    return _act(request).done(shield, request, answer)


def _fit(shield: Operated, request: Request) -> Request:
    """A request whose words are fit to be kept: secrets are hidden in them."""
    why = request.said.get("why")
    if not isinstance(why, str):
        return request
    return msgspec.structs.replace(
        request, said={**request.said, "why": shield.policy.veil.words(why)}
    )


def _act(request: Request) -> Act:
    act = ACTS.get(request.purpose)
    if act is None:
        raise AnswerRefused(f"`{request.purpose}` cannot be asked for in this way")
    return act


def _version(shield: Operated, cell: str) -> int:
    """How often a record was written."""
    number: int = shield.store.read(cell)[0]
    return number


def _standing(shield: Operated, request: Request) -> int:
    return _version(shield, standing_key(request.tenant))


def _resume(shield: Operated, request: Request, answer: Answer) -> None:
    shield.signal(request.tenant, request.subject, BACK, NORMAL, answer.act.comment, answer)


def _safe_mode_off(shield: Operated, request: Request, answer: Answer) -> None:
    shield.signal(
        request.tenant, request.subject, (Signal.SAFE_OFF,), NORMAL, answer.act.comment, answer
    )


def _breakers(shield: Operated, request: Request) -> int:
    return sum([cell.number for cell in breakers_of(shield, request.subject, request.tenant)])


def _allow(shield: Operated, request: Request, answer: Answer) -> Any:
    once, tool = bool(request.said.get("once", False)), str(request.said.get("tool", ""))
    return Allowances(shield, request.tenant).entered(request.subject, once, tool, answer)


def _allowances(shield: Operated, request: Request) -> int:
    return _version(shield, allowances_key(request.tenant))


def _settle(shield: Operated, request: Request, answer: Answer) -> None:
    settle(
        shield,
        request.subject,
        bool(request.said["happened"]),
        request.said.get("result"),
        answer,
        request.tenant,
    )


def _effect(shield: Operated, request: Request) -> int:
    return _version(shield, key(request.tenant, "effect", request.subject))


def _epoch(shield: Operated, _request: Request) -> int:
    return 0 if shield.memory is None else drive(shield.memory.number(), shield)


def _trust(shield: Operated, request: Request, answer: Answer) -> None:
    def added(value: Any, _now: int) -> Any:
        known = {} if value is None else dict(value)
        if len(known) >= MOST_TRUSTED:
            raise AnswerRefused(
                f"{MOST_TRUSTED:,} policies are trusted, which is the most: withdraw the trust in "
                f"some of them first"
            )
        return {**known, request.subject: msgspec.to_builtins(answer)}

    drive(change(shield.records, f"trust-{os.urandom(8).hex()}", FLEET, TRUSTED, added), shield)
    tell_answered(shield, "policy.trusted", request.subject, FLEET, answer)


def _trusted(shield: Operated, _request: Request) -> int:
    return _version(shield, TRUSTED)


def _retain(shield: Operated, request: Request, answer: Answer) -> None:
    kept = typed.convert({**request.said, "answer": answer}, Retention)
    value = msgspec.to_builtins(kept)
    drive(
        change(
            shield.records,
            f"retain-{os.urandom(8).hex()}",
            FLEET,
            RETENTION,
            lambda _value, _now: value,
        ),
        shield,
    )
    tell_answered(
        shield,
        "trail.retention",
        SUBJECT,
        FLEET,
        answer,
        days=kept.days,
        megabytes=kept.megabytes,
    )


def _retained(shield: Operated, _request: Request) -> int:
    return _version(shield, RETENTION)


def _once(_shield: Operated, _request: Request) -> int:
    """What is asked for names all that it changes: it fits no other state of things."""
    return 0


def _pins(shield: Operated, request: Request) -> int:
    return _version(shield, pins_key(request.tenant))


ACTS: Final[dict[Purpose, Act]] = {
    Purpose.RESUME: Act(_standing, _resume),
    Purpose.SAFE_MODE_OFF: Act(_standing, _safe_mode_off),
    Purpose.RESET: Act(_breakers, reset),
    Purpose.BREAK_LOCK: Act(holders, break_all),
    Purpose.ALLOW: Act(_allowances, _allow),
    Purpose.SETTLE: Act(_effect, _settle),
    Purpose.RELEASE: Act(held, released),
    Purpose.TOP_UP: Act(topped, topped_up),
    Purpose.STORE: Act(_epoch, accepted),
    Purpose.TOOL: Act(_pins, accept),
    Purpose.POLICY: Act(_trusted, _trust, critical=True),
    Purpose.RETENTION: Act(_retained, _retain, critical=True),
    Purpose.ERASE: Act(_once, erased),
}
"""Everything but tickets and operators, which have ways of their own."""
