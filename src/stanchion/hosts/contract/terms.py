"""The terms of a host: what it can carry out, and how it says in its own types what was decided."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, Final, Literal, NoReturn, get_args

import msgspec

from stanchion.kernel.actions import NAMES, Action
from stanchion.kernel.chain import EVERY_ACTION
from stanchion.kernel.decision import Decision
from stanchion.kernel.stages import Stage
from stanchion.runtime.deciding.hosts import able
from stanchion.runtime.errors import Refused


class Changed(msgspec.Struct, frozen=True):
    """What the agent may see of a call: `content` in the place of what the host's `shown` gave.

    `result` is the host's own result, and `None` where the call was not run because it had been
    done before. `about` is whatever the host handed in with the call.
    """

    content: Any
    result: Any = None
    about: Any = None


class Refusal(msgspec.Struct, frozen=True):
    """Something does not go ahead, or what came of it is withheld. Its text is what the agent
    should read.

    `error` is the exception for hosts that raise one. `about` is whatever the host handed in with
    the event: its own request, message or call, to make the answer from.
    """

    error: Refused
    stage: Stage
    tool: str = ""
    about: Any = None

    def __str__(self) -> str:
        return str(self.error)

    @property
    def decision(self) -> Decision:
        """What was decided, and why."""
        return self.error.decision

    @property
    def happened(self) -> bool:
        """Whether the action was done, and only what came of it is withheld: it must not be
        repeated."""
        return self.error.happened

    @property
    def again(self) -> bool:
        """Whether the agent is to try again, as the text says."""
        return self.decision.action == Action.RETRY

    @property
    def waits(self) -> bool:
        """Whether a person's approval is missing; `ticket` is what they were asked."""
        return self.error.waits

    @property
    def ticket(self) -> str | None:
        """The id of what a person was asked, for the host and not for the agent."""
        return self.error.ticket

    @property
    def ended(self) -> bool:
        """Whether the whole run is over."""
        return self.error.ended


class Told(msgspec.Struct, frozen=True):
    """Whether something goes ahead, and with what.

    Where it does, `content` is what goes on: the host's own where nobody changed it. Where it does
    not, `answer` is what the host's words made of the refusal. Of a failure `content` is the text
    that the agent may read; it goes ahead unless the run ends, and `again` says that the failed
    action is to be run once more.
    """

    decision: Decision
    proceeds: bool
    content: Any = None
    answer: Any = None
    again: bool = False


EVERYTHING: Final = EVERY_ACTION
"""What a host can that carries out whatever is decided."""

Pause = Literal["none", "resume"]
"""What a host does with a call that waits for a person: refuse it, so that the agent makes it again
later, or stand still, so that it goes on with this very call later, in another process if need
be."""

Stream = Literal["none", "buffer", "chunk"]
"""What a host streams of a model's reply: nothing, the whole when it is judged, or each piece when
it is judged."""

Words = Callable[[Refusal], Any]
"""Makes of a refusal what a host understands: returns it, or raises it."""


def raised(refusal: Refusal) -> NoReturn:
    """Raise the refusal as it is."""
    raise refusal.error


def as_text(refusal: Refusal) -> str:
    """Give the words of the refusal, for hosts whose results are texts."""
    return str(refusal)


def itself(result: Any) -> Any:
    """Judge a host's result as it is."""
    return result


def never(_result: Any) -> bool:
    """No result of this host is a failure by its own marks."""
    return False


def in_its_place(changed: Changed) -> Any:
    """Give the changed content, which has the type of the result where it can have it."""
    return changed.content


def system_message(words: str) -> Any:
    """Guidance as a message that most model clients take."""
    return {"role": "system", "content": words}


class HostTerms(msgspec.Struct, frozen=True):
    """What a framework, a client or a loop of your own can do, and its words.

    `Host` says what each of them is for.
    """

    name: str
    can: Collection[Action | str] = ()
    refused: Words = raised
    retried: Words | None = None
    ended: Words = raised
    shown: Callable[[Any], Any] = itself
    changed: Callable[[Changed], Any] = in_its_place
    guided: Callable[[str], Any] = system_message
    failed: Callable[[Any], bool] = never
    pause: Pause = "none"
    stream: Stream = "none"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(
                f"a host has the name `{self.name}`: give it the name that people know it by"
            )
        if self.shown is not itself and self.changed is in_its_place:
            raise ValueError(
                f"`{self.name}` shows only part of its results to guards: say with `changed` how a "
                f"change is put back"
            )
        for word, known in ((self.pause, get_args(Pause)), (self.stream, get_args(Stream))):
            if word not in known:
                raise ValueError(
                    f"`{self.name}` says `{word}`: say one of "
                    f"{', '.join([f'`{one}`' for one in known])}"
                )
        msgspec.structs.force_setattr(self, "can", able(self.can))

    def say(self, refusal: Refusal) -> Any:
        """What this host gives for a refusal; raises where its words do."""
        if refusal.ended:
            return self.ended(refusal)
        if refusal.again and self.retried is not None:
            return self.retried(refusal)
        return self.refused(refusal)

    def fits(self, can: Iterable[Action]) -> None:
        """Raise `ValueError` where a run may be told to do what this host cannot."""
        beyond = [NAMES[action].lower() for action in can if action not in self.can]
        if beyond:
            raise ValueError(
                f"the run may be told to {beyond[0]}, and `{self.name}` cannot: start it with "
                f"`host.run(shield, ...)`, "
                "or give `can=host.can` to `shield.run`"
            )


class WaitingWords(str):
    """The words of a refusal that ends when a person answers its ticket: a host that can pause does
    so here."""

    __slots__ = ()


def in_words(refusal: Refusal) -> str:
    """The words of a refusal; `WaitingWords` where a person was asked, and not where nobody could
    be."""
    return WaitingWords(refusal) if refusal.waits and refusal.ticket is not None else str(refusal)
