"""Those who answer: with a key, at a terminal, or as the program that holds the state in its own
memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import msgspec

from stanchion.approvals.act import Act, Answer, Purpose, Way
from stanchion.approvals.errors import AnswerRefused
from stanchion.approvals.rules import Asked
from stanchion.kernel.autonomy import OPERATOR
from stanchion.kernel.shown import visible


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody is asked to say yes or no to. `said` is all of it as plain data, of which
    `digest` is the hash; `asked` says whose answer counts."""

    purpose: Purpose
    tenant: str
    subject: str
    generation: int
    digest: str
    said: Any = None
    policy: str = ""
    asked: Asked = Asked()
    scope: str = "once"
    agents: tuple[str, ...] = ()

    def act(self, operator: str, role: str, until: int, yes: bool, comment: str) -> Act:
        """It as somebody's yes or no."""
        return Act(
            purpose=self.purpose,
            tenant=self.tenant,
            subject=self.subject,
            generation=self.generation,
            digest=self.digest,
            operator=operator,
            role=role,
            until=until,
            policy=self.policy,
            scope=self.scope,
            yes=yes,
            comment=comment,
            agents=self.agents,
        )

    def is_answered_by(self, act: Act) -> bool:
        """Whether an act is an answer to this, and to nothing else. A no need not say how far it
        would reach, and an answer can be for fewer agents than wait by now: it is for those who
        were shown."""
        own = self.act(act.operator, act.role, act.until, act.yes, act.comment)
        if set(act.agents) <= set(self.agents):
            own = msgspec.structs.replace(own, agents=act.agents)
        return own == (act if act.yes else msgspec.structs.replace(act, scope=own.scope))


class Signs(Protocol):
    """A private key, wherever it is."""

    @property
    def public(self) -> Any:
        """Its public half, with a `fingerprint`."""

    def sign(self, message: bytes) -> bytes:
        """The signature of a message."""


class Signer(msgspec.Struct, frozen=True):
    """An operator with a key. Without a `role` the first of theirs that is asked for counts.
    `shows` has them see what they are about to sign, which may not be what was looked at before."""

    name: str
    key: Signs
    role: str = ""
    way: Way = Way.KEY
    shows: Callable[[Wish], None] | None = None

    def signed(self, act: Act) -> Answer:
        """Their answer."""
        return Answer(
            act=act,
            way=self.way,
            key=self.key.public.fingerprint,
            signature=self.key.sign(act.message).hex(),
        )


class Person(msgspec.Struct, frozen=True):
    """Somebody at the terminal of this process, who types a code. Who it is, and that it is a
    person, is not known. `page` gives the lines that they are shown."""

    name: str
    page: Callable[[Wish], Iterable[str]] | None = None
    role: str = OPERATOR

    def confirms(self, wish: Wish) -> None:
        """Show them all of it, and have the code typed; raises `AnswerRefused` where nobody
        does."""
        import os

        from stanchion.approvals.terminal import ask

        ask(self.page(wish) if self.page is not None else shown(wish), os.environ)


class Dialog(msgspec.Struct, frozen=True):
    """Whoever sits before a host, and has answered in its own dialog. It counts where the policy
    names the host under `escalation.dialogs`, for one call, in the process that heard it, and never
    for anything critical."""

    host: str

    @property
    def name(self) -> str:
        """What they are called in the records."""
        return f"host:{self.host}"


class Relayed(msgspec.Struct, frozen=True):
    """Somebody who answered by a link or in a chat, as the page of answers has heard it: it has
    checked the link, or the chat's signature."""

    name: str
    way: Way
    role: str = ""


By = str | Signer | Person | Dialog | Relayed | Answer
"""Who says so: a name (a program that holds the state in memory), an operator with a key, somebody
at a terminal, in a host's dialog, by a link or in a chat, or an answer that was signed
elsewhere."""


def shown(wish: Wish) -> list[str]:
    """All that somebody is asked, as lines that a terminal can show."""
    body = msgspec.json.format(msgspec.json.encode(wish.said), indent=2).decode()
    title = f"{f'{wish.purpose} {wish.subject}'.strip()}, tenant {wish.tenant}"
    return [visible(title), *[visible(line) for line in body.splitlines()]]


def called(by: object) -> str:
    """What somebody is called who may be nobody at all."""
    match by:
        case str():
            return by.strip()
        case Answer():
            return by.act.operator
        case Signer() | Person() | Dialog() | Relayed():
            return by.name
        case _:
            return ""


def named(by: By) -> str:
    """What somebody is called in the records."""
    match by:
        case str():
            if not by.strip():
                raise AnswerRefused("no operator is named: say who answers, with `by`")
            return by
        case Answer():
            return by.act.operator
        case Signer() | Person() | Dialog() | Relayed():
            return by.name
        case _:
            raise AnswerRefused(f"`{type(by).__name__}` cannot answer: say who answers, with `by`")
