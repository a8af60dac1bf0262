"""A reading: one event, and what it says, part by part. Each part is worked out in a file of its
own, once. And the reader: what a policy brings to every event that is read under it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from stanchion.kernel.content import CONTENT
from stanchion.kernel.guard import TooDense
from stanchion.kernel.sizes import LIMITS, ReadLimits
from stanchion.readings.fingerprint import fingerprint
from stanchion.readings.joined import joined
from stanchion.readings.texts import leaves

if TYPE_CHECKING:
    from stanchion.kernel.actions import Action
    from stanchion.kernel.lineup import GateSet
    from stanchion.readings.act import ToolAct
    from stanchion.readings.commands import Held
    from stanchion.readings.fingerprint import Fingerprint
    from stanchion.readings.joined import JoinedTexts
    from stanchion.readings.texts import TextLeaf


def strings(content: Any) -> list[str]:
    """All strings of some content: its values in their order, and after them its names."""
    if type(content) is str:
        return [content]
    values: list[str] = []
    names: list[str] = []
    waiting = [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            values.append(value)
        elif isinstance(value, dict):
            names += [name for name in value if isinstance(name, str)]
            waiting += reversed(value.values())
        elif isinstance(value, list | tuple):
            waiting += reversed(value)
    return values + names


def _act(reading: Any) -> Any:
    from stanchion.readings.act import act

    return act(reading)


def _commands(reading: Any) -> Any:
    from stanchion.readings.commands import commands

    PARTS["commands"] = commands
    return commands(reading)


def _redaction(reading: Any) -> Any:
    from stanchion.readings.staying import redaction

    return redaction(reading)


PARTS: Final[dict[str, Callable[[Any], Any]]] = {
    "act": _act,
    "commands": _commands,
    "content": lambda _reading: None,
    "joined": joined,
    "fingerprint": lambda reading: fingerprint(reading.event.tool, reading.event.args),
    "leaves": lambda reading: leaves(reading.content),
    "redaction": _redaction,
    "strings": lambda reading: strings(reading.content),
}


E = TypeVar("E", covariant=True)
T = TypeVar("T")


class Reading(Generic[E]):
    """What an event says. A part that nobody asks for is not read; one that was read stays as it
    is.

    Two threads that ask at once read the same, so that it does not matter whose answer is kept.
    """

    __slots__ = (
        "act",
        "commands",
        "content",
        "event",
        "fingerprint",
        "joined",
        "leaves",
        "made",
        "reader",
        "redaction",
        "strings",
    )

    event: E
    reader: Reader
    act: ToolAct
    """What the tool of the event does."""
    commands: tuple[Held, ...]
    """What the call gives to a shell or an interpreter, and where it stands; empty where it runs
    nothing."""
    content: Any
    """What guards read and patches edit; `None` where a stage has none, or it is a question that
    was late."""
    joined: JoinedTexts
    """The texts of the leaves as one."""
    leaves: list[TextLeaf]
    """All texts and where they stand, in their order, a name before its value; short plain names
    are left out."""
    strings: list[str]
    """All texts: values in their order, and after them names."""
    redaction: Action
    """What taking a part out of the event amounts to: `REDACT`; of a call whose arguments run or
    are written here `WARN`, and `ESCALATE` where what runs reaches others, too."""
    fingerprint: Fingerprint
    """What is kept of the call that it is about; only events about a call have it."""
    made: dict[Any, Any]
    """What was made of the event by whoever asked `of`."""

    def __init__(self, event: E, reader: Reader) -> None:
        self.event = event
        self.reader = reader
        self.made = {}
        content = CONTENT.get(type(event))
        if content is not None:
            self.content = content(event)

    def of(self, work: Callable[[Reading[Any]], T]) -> T:
        """What some work makes of the event. It is done once, whoever asks: `work` is the same for
        the same. What was too much once is not begun again."""
        found = self.made.get(work, self)
        if found is self:
            try:
                found = work(self)
            except TooDense as error:
                found = error
            self.made[work] = found
        if type(found) is TooDense:
            raise found
        made: T = found
        return made

    def heard(self, gates: GateSet) -> tuple[int, ...]:
        """The guards among some with a gate that may have something to say, by their places. They
        read characters that are not ASCII in ways of their own: where there are any, all may."""
        found = gates.open_to(self.event)
        texts = self.joined
        if not texts.text.isascii():
            return gates.everybody
        size = len(texts.raw)
        if size < gates.least:
            return found
        for is_flat, find, owners in gates.searches:
            numbers = find(texts.flat if is_flat else texts.raw)
            if is_flat and texts.is_parted:
                found = (*found, *owners)
            elif numbers is not None:
                found = (*found, *[owners[number] for number in numbers])
        for at, work in gates.works:
            if at not in found and gates.lengths[at] <= size and self.of(work) is not None:
                found = (*found, at)
        if size < gates.most:
            return tuple([at for at in found if gates.lengths[at] <= size])
        return found

    def __getattr__(self, part: str) -> Any:
        """Work out a part that was not asked for before."""
        read = PARTS.get(part)
        if read is None:
            raise AttributeError(
                f"a reading has no part `{part}`: it has {', '.join(sorted(PARTS))}"
            )
        made = read(self)
        setattr(self, part, made)
        return made


class Reader:
    """Reads events for one policy. It remembers nothing of them."""

    __slots__ = ("limits", "read")

    read: Callable[[Any], Reading[Any]]
    """Gives the reading of an event; nothing of it is worked out yet."""

    limits: ReadLimits
    """How much of an event is read before it is refused unread."""

    def __init__(self, limits: ReadLimits = LIMITS) -> None:
        self.limits = limits
        self.read = partial(Reading, reader=self)


PLAIN: Final = Reader()


def read(event: T) -> Reading[T]:
    """The reading of an event under no policy."""
    return Reading(event, PLAIN)
