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
from stanchion.audit.journal import Fact
from stanchion.kernel.autonomy import OPERATOR
from stanchion.kernel.compare_and_set import change
from stanchion.kernel.gates import standing_key
from stanchion.kernel.scopes import FLEET
from stanchion.kernel.state import key
from stanchion.kernel.states import NORMAL, Signal
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.operating.retention import RETENTION, Retention
from stanchion.runtime.people.authority import told
from stanchion.runtime.people.trust import TRUSTED
from stanchion.runtime.standing.veil import tell

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


def _standing(shield: Operated, request: Request) -> int:
    number: int = shield.store.read(standing_key(request.tenant))[0]
    return number


def _resume(shield: Operated, request: Request, answer: Answer) -> None:
    shield.signal(request.tenant, request.subject, BACK, NORMAL, answer.act.comment, answer)


def _safe_mode_off(shield: Operated, request: Request, answer: Answer) -> None:
    shield.signal(
        request.tenant, request.subject, (Signal.SAFE_OFF,), NORMAL, answer.act.comment, answer
    )


def _reset(shield: Operated, request: Request, answer: Answer) -> bool:
    from stanchion.runtime.operating.breakers import reset

    return reset(shield, request.subject, request.tenant, answer.act.comment, answer)


def _breakers(shield: Operated, request: Request) -> int:
    from stanchion.runtime.operating.breakers import breakers_of

    return sum([cell.number for cell in breakers_of(shield, request.subject, request.tenant)])


def _break_lock(shield: Operated, request: Request, answer: Answer) -> bool:
    from stanchion.runtime.operating.locks import break_all

    return break_all(shield, request.subject, request.tenant, answer.act.comment, answer)


def _lock(shield: Operated, request: Request) -> int:
    from stanchion.runtime.operating.locks import holders

    return holders(shield, request.subject, request.tenant)


def _allow(shield: Operated, request: Request, answer: Answer) -> Any:
    from stanchion.runtime.operating.allowances import Allowances

    once, tool = bool(request.said.get("once", False)), str(request.said.get("tool", ""))
    return Allowances(shield, request.tenant).entered(request.subject, once, tool, answer)


def _allowances(shield: Operated, request: Request) -> int:
    from stanchion.runtime.deciding.allowances import allowances_key

    number: int = shield.store.read(allowances_key(request.tenant))[0]
    return number


def _settle(shield: Operated, request: Request, answer: Answer) -> None:
    from stanchion.runtime.operating.settle_effects import settle

    settle(
        shield,
        request.subject,
        bool(request.said["happened"]),
        request.said.get("result"),
        answer,
        request.tenant,
    )


def _effect(shield: Operated, request: Request) -> int:
    number: int = shield.store.read(key(request.tenant, "effect", request.subject))[0]
    return number


def _release(shield: Operated, request: Request, answer: Answer) -> None:
    from stanchion.runtime.operating.release import released

    released(shield, request, answer)


def _held(shield: Operated, request: Request) -> int:
    from stanchion.runtime.operating.release import held

    return held(shield, request)


def _top_up(shield: Operated, request: Request, answer: Answer) -> None:
    from stanchion.runtime.operating.top_up import topped_up

    topped_up(shield, request, answer)


def _topped(shield: Operated, request: Request) -> int:
    from stanchion.runtime.operating.top_up import topped

    return topped(shield, request)


def _store(shield: Operated, request: Request, answer: Answer) -> int:
    from stanchion.runtime.operating.accept_store import accepted

    return accepted(shield, answer.act.comment, bool(request.said["restored"]), answer)


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
    act = answer.act
    fact = Fact(
        shield.clock(), "policy.trusted", request.subject, FLEET, by=act.operator, why=act.comment
    )
    tell(shield, fact._replace(data=told(answer)))


def _trusted(shield: Operated, _request: Request) -> int:
    number: int = shield.store.read(TRUSTED)[0]
    return number


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
    fact = Fact(
        shield.clock(),
        "trail.retention",
        "trail",
        FLEET,
        by=answer.act.operator,
        why=answer.act.comment,
    )
    tell(
        shield, fact._replace(data={"days": kept.days, "megabytes": kept.megabytes, **told(answer)})
    )


def _retained(shield: Operated, _request: Request) -> int:
    number: int = shield.store.read(RETENTION)[0]
    return number


def _erase(shield: Operated, request: Request, answer: Answer) -> int:
    from stanchion.runtime.operating.retention import erased

    return erased(shield, request, answer)


def _once(_shield: Operated, _request: Request) -> int:
    """What is asked for names all that it changes: it fits no other state of things."""
    return 0


def _accept(shield: Operated, request: Request, answer: Answer) -> None:
    from stanchion.runtime.calling.pins import accept

    accept(shield, request.subject, request.said.get("parts"), request.tenant, answer)


def _pins(shield: Operated, request: Request) -> int:
    from stanchion.runtime.calling.pins import pins_key

    number: int = shield.store.read(pins_key(request.tenant))[0]
    return number


ACTS: Final[dict[Purpose, Act]] = {
    Purpose.RESUME: Act(_standing, _resume),
    Purpose.SAFE_MODE_OFF: Act(_standing, _safe_mode_off),
    Purpose.RESET: Act(_breakers, _reset),
    Purpose.BREAK_LOCK: Act(_lock, _break_lock),
    Purpose.ALLOW: Act(_allowances, _allow),
    Purpose.SETTLE: Act(_effect, _settle),
    Purpose.RELEASE: Act(_held, _release),
    Purpose.TOP_UP: Act(_topped, _top_up),
    Purpose.STORE: Act(_epoch, _store),
    Purpose.TOOL: Act(_pins, _accept),
    Purpose.POLICY: Act(_trusted, _trust, critical=True),
    Purpose.RETENTION: Act(_retained, _retain, critical=True),
    Purpose.ERASE: Act(_once, _erase),
}
"""Everything but tickets and operators, which have ways of their own."""
