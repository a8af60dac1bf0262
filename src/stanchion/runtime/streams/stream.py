"""Streams: replies that come in chunks. Each piece is judged before it is passed on, and held back
until it can be."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import Any, Final

from stanchion.kernel.events import ModelChunk
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.patches import apply
from stanchion.kernel.stages import Stage
from stanchion.runtime.calling.model_call import others
from stanchion.runtime.calling.pace import END, InTime, Pace, in_time, next_in_time
from stanchion.runtime.calling.stream_end import StreamAccount, Streaming
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.discretion import WITHHELD, hidden
from stanchion.runtime.deciding.judging import judge
from stanchion.runtime.deciding.left import abandoned
from stanchion.runtime.deciding.unreadable_content import against, unreadable
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.errors import Refused
from stanchion.runtime.streams.holdback import (
    Block,
    HeldText,
    Item,
    Keepers,
    Order,
    Piece,
    ended_by,
    is_of,
    is_whole,
    numbers_of,
)
from stanchion.runtime.values import Unreadable, read, restored
from stanchion.runtime.values.anatomy import MISSING, defined
from stanchion.runtime.values.form_of import is_stream
from stanchion.runtime.values.words import LOGPROBS, TEXT, Path, at, fields_of, words_of


@contextmanager
def closing(source: Iterable[Item]) -> Iterator[Iterator[Item]]:
    """A source's items; whatever ends the stream, the source is closed, and what ended it is what
    is raised."""
    items = iter(source)
    try:
        yield items
    except BaseException:
        with suppress(Exception):
            _close(items, source)
        raise
    _close(items, source)


def _close(*ends: Any) -> None:
    for end in {id(end): end for end in ends}.values():
        close = getattr(end, "close", None)
        if close is not None:
            close()


@asynccontextmanager
async def aclosing(source: AsyncIterable[Item], pace: Pace) -> AsyncIterator[AsyncIterator[Item]]:
    own = aiter(source)
    items = in_time(own, partial(_aclose, own, source), pace)
    ends = (own, source) if items is own else (items,)
    try:
        yield items
    except BaseException:
        with suppress(Exception):
            await _aclose(*ends)
        raise
    await _aclose(*ends)


async def _aclose(*ends: Any) -> None:
    for end in {id(end): end for end in ends}.values():
        close = getattr(end, "aclose", getattr(end, "close", None))
        done = None if close is None else close()
        if inspect.isawaitable(done):
            await done


SHAPES: Final = (str, bytes, Piece)
"""What a stream is made of; anything else is an object whose words are found by its shape."""

ENDS: Final = frozenset({LOGPROBS, "finish_reason", "usage", "stop_reason"})
"""What is said once, with the last piece, and not again with what was held back."""
STREAM: Final = "the stream"
"""What a model's stream is called where it is late."""
CONTEXT: Final = 512
"""How much of a field that is no words is remembered."""
SNAPSHOT: Final = "snapshot"
"""Where events of some SDKs repeat the text so far."""


def chunks(
    desk: Desk,
    source: Iterable[Item],
    channel: str,
    account: StreamAccount,
    final: bool | None = None,
    **about: Any,
) -> Iterator[Item]:
    """Pass a streamed reply on; the source is closed as soon as a piece is refused or nobody wants
    more."""
    if (
        defined(type(source), "__iter__") is MISSING
        and defined(type(source), "__aiter__") is not MISSING
    ):
        raise TypeError("these chunks have to be awaited: use `astream` instead of `stream`")
    drive(account.begin(**about), desk) if about else None
    stream = ReplyStream(desk, channel, account, final)
    pace = Pace(desk, STREAM, None)
    try:
        try:
            with closing(source if pace.left_s() is None else InTime(desk, source, pace)) as items:
                for item in items:
                    yield from drive(stream.take(item), desk)
                yield from drive(stream.rest(), desk)
        except Refused:
            drive(account.refused(), desk)
            raise
        except BaseException as error:
            drive(account.broken(error), desk)
            raise
        drive(stream.whole(), desk)
    except BaseException as error:
        abandoned(desk, account.call, error)
        raise


async def achunks(
    desk: Desk,
    source: AsyncIterable[Item],
    channel: str,
    account: StreamAccount,
    final: bool | None = None,
    **about: Any,
) -> AsyncIterator[Item]:
    """The same on an event loop."""
    from stanchion.runtime.driving.doors import abegin
    from stanchion.runtime.driving.on_loop import adrive

    if defined(type(source), "__aiter__") is MISSING:
        raise TypeError("these chunks cannot be awaited: use `stream` instead of `astream`")
    if about:
        await abegin(account.begin(**about), desk)
    stream = ReplyStream(desk, channel, account, final)
    pace = Pace(desk, STREAM, None)
    try:
        try:
            async with aclosing(source, pace) as items:
                while (item := await next_in_time(items, pace)) is not END:
                    for piece in await adrive(stream.take(item), desk):
                        yield piece
                for piece in await adrive(stream.rest(), desk):
                    yield piece
        except Refused:
            await adrive(account.refused(), desk)
            raise
        except BaseException as error:
            await adrive(account.broken(error), desk)
            raise
        await adrive(stream.whole(), desk)
    except BaseException as error:
        abandoned(desk, account.call, error)
        raise


def delivered(desk: Desk, reply: Streaming, awaited: bool) -> Any:
    """A streamed reply as it comes, for code of either kind."""
    own = (
        is_stream(reply.source, awaited=True)
        if awaited
        else not is_stream(reply.source, awaited=False)
    )
    pass_on: Any = achunks if own else chunks
    return pass_on(desk, reply.source, "text", reply.account, reply.final)


class ReplyStream:
    """One streamed reply: what is held back on each of its channels until it can be judged for
    good."""

    def __init__(
        self, desk: Desk, channel: str, account: StreamAccount, final: bool | None = None
    ) -> None:
        self._desk = desk
        self._channel = channel
        self._account = account
        self._final = final
        self._calls = False
        self._mains: list[str] = []
        """The channels of objects' words, in the order in which they began."""
        self._wholes: dict[str, str] = {}
        """Texts that came as a whole, and what was passed on of each."""
        self._beside: dict[tuple[str, ...], tuple[str, str]] = {}
        """What came last in each field that is no words: its end, and the last piece of it."""
        self._held: dict[str, HeldText] = {}
        self._last: dict[str, tuple[Any, Path]] = {}
        """The object that brought the last text of a channel, and where it had it."""
        self._blocks: dict[str, Block] = {}
        """The block that a channel is a part of."""
        self._order = Order(self._held)
        self._plans = desk.plans
        self._keepers = Keepers(self._plans.policy, self._plans.run)
        self._index = 0
        self._first = ""

    def take(self, item: Any) -> Flow[tuple[Any, ...]]:
        """Take an item of the source; gives what can be passed on now, judged."""
        if self._desk.plans is not self._plans:
            self._plans = self._desk.plans
            self._keepers = Keepers(self._plans.policy, self._plans.run)
        shape: type[Any] = type(item)
        if shape not in SHAPES and not issubclass(shape, SHAPES):
            return (yield from self._take_object(item))
        name, held, given = self._opened(item)
        text = yield from self._flow(name, held, given)
        return () if text is None else (held.shaped(name, text),)

    def rest(self) -> Flow[tuple[Any, ...]]:
        """What is left on each channel at the end of the stream, and what waited behind it."""
        return (yield from self._flushed(self._order.first()))

    def whole(self) -> Flow[None]:
        """Judge the reply as it was delivered; what can no longer be redacted is refused.

        The reply is the stream's own channel, or the words of its objects; where nothing came on
        them, the channel that began first.
        """
        said = [self._channel] if self._channel in self._held else self._mains
        said = said if said else list(self._held)[:1]
        text = "\n".join(["".join(self._held[name].passed) for name in said])
        final = not self._calls if self._final is None else self._final
        decision = yield from self._account.whole(text, final)
        if not decision.proceeds:
            raise self._desk.refusal(decision)

    def _flushed(self, names: Iterable[str]) -> Flow[tuple[Any, ...]]:
        """What is left on these channels, on which nothing more comes, and what waited behind
        it."""
        out: list[Any] = []
        for name in names:
            held = self._held[name]
            held.end()
            if held.text:
                text = yield from self._pass_on(name, held, len(held.text))
                left = self._carried(name, text) if name in self._last else held.shaped(name, text)
                out += self._order.put(left, (name,))
        return (*out, *self._order.settle())

    def _take_object(self, item: Any) -> Flow[tuple[Any, ...]]:
        """Take an object of an SDK: its words go through their channels, and it goes on with what
        came out of them."""
        try:
            seen = read(item)
        except Unreadable as error:
            yield from self._refuse(unreadable(error))
            raise
        yield from self._refuse(against(self._desk, Stage.MODEL_CHUNK, "", seen))
        content = seen.content
        words = words_of(content)
        self._calls = self._calls or not words.final
        self._account.heard(content)
        patches = yield from self._clean(content, {path for path, _ in words.places})
        ended, repeats = ended_by(content), is_whole(content)
        named = [
            (path, channel, *self._named(channel, content, path)) for path, channel in words.places
        ]
        spoke = [name for path, _, name, _ in named if at(content, path)] if not repeats else []
        before = yield from self._ended(ended, spoke)
        known = len(self._held)
        for path, channel, name, block in named:
            given = at(content, path)
            passed: str | None
            if repeats:
                passed = yield from self._again(name, given)
            else:
                passed = yield from self._piece(
                    name, block, channel, given, name in spoke and _is_over(block, ended)
                )
                self._last[name] = (item, path)
            if passed != given:
                patches.append(Patch(path, "" if passed is None else passed))
        if isinstance(content, dict) and isinstance(content.get(SNAPSHOT), str):
            own = self._held.get(self._mains[0]) if self._mains else None
            patches.append(Patch((SNAPSHOT,), "" if own is None else "".join(own.passed)))
        made = restored(seen.handed, content, apply(content, patches))
        last = any(_is_over(self._blocks[name], ended) for name in spoke)
        return (*before, *self._order.put(made, spoke, list(self._held)[known:], last))

    def _piece(
        self, name: str, block: Block, channel: str, given: str, last: bool
    ) -> Flow[str | None]:
        """Put a piece of an object's words into its channel; gives what comes out of it, all of it
        with the last."""
        held = self._held.get(name)
        if held is None:
            held = self._held[name] = HeldText(str)
            self._blocks[name] = block
            self._mains += [name] if channel == TEXT else []
        return (yield from self._flow(name, held, given, last))

    def _ended(self, blocks: list[Block], spoke: list[str]) -> Flow[tuple[Any, ...]]:
        """What is left of blocks that end, but for the channels on which more comes with their
        end."""
        known = [name for name in self._order.first() if name in self._blocks and name not in spoke]
        return (
            yield from self._flushed(
                [name for name in known if _is_over(self._blocks[name], blocks)]
            )
        )

    def _again(self, name: str, given: str) -> Flow[str]:
        """A whole text: what was passed on of it where it came before, in pieces or as a whole;
        otherwise it is judged by itself."""
        for held in self._held.values():
            if held.is_all(given):
                return "".join(held.passed)
        if given and given not in self._wholes:
            self._wholes[given] = yield from self._judged(name, given, "")
        return self._wholes.get(given, given)

    def _named(self, channel: str, content: Any, path: Path) -> tuple[str, Block]:
        """The channel of a text in an object, and its block: each field has its own channel, and of
        several calls, choices or blocks each."""
        names: list[str] = [self._channel if channel == TEXT else channel]
        block: Block = ()
        for depth, step in enumerate(path):
            numbers = numbers_of(content, not depth)
            names += [str(number) for number in numbers]
            block += numbers
            names += [step] if isinstance(step, str) else []
            content = content[step]
        return ".".join(names), block

    def _clean(self, content: Any, words: set[Path]) -> Flow[list[Patch]]:
        """What has to be hidden in an object beside its words. They are not held back: a secret
        that comes in pieces is cut where it would be whole."""
        texts: list[tuple[Path, str]] = []
        tails: dict[Path, int] = {}
        patches: list[Patch] = []
        for path, text in others(content, words, shortest=1):
            if LOGPROBS in path:
                continue
            place = tuple([step for step in path if isinstance(step, str)])
            tail, last = self._beside.get(place, ("", ""))
            if text == last:
                continue
            self._beside[place] = ((tail + text)[-CONTEXT:], text)
            tails[path] = len(tail)
            texts.append((path, tail + text))
        found, refused = hidden(self._desk, texts)
        yield from self._refuse(refused)
        for patch in found:
            start, end = patch.start - tails[patch.path], patch.end - tails[patch.path]
            if patch.start < 0:
                patches.append(Patch(patch.path, WITHHELD))
            elif end > 0:
                patches.append(Patch(patch.path, patch.value, max(0, start), end))
        if self._keepers.any:
            patches += [Patch(place, None) for place in fields_of(content, frozenset({LOGPROBS}))]
        return patches

    def _carried(self, name: str, text: str) -> Any:
        """Text that is left, in an object like the one that brought the text before it."""
        item, path = self._last[name]
        seen = read(item)
        words = words_of(seen.content)
        gone = [
            Patch(each, "") for each, _ in words.places if each != path and at(seen.content, each)
        ]
        gone += [Patch(place, None) for place in fields_of(seen.content, ENDS)]
        return restored(seen.handed, seen.content, apply(seen.content, [*gone, Patch(path, text)]))

    def _refuse(self, findings: tuple[Finding, ...]) -> Flow[None]:
        """Judge that an object cannot be passed on, where something stands against it."""
        if findings:
            event: Any = self._desk.event(ModelChunk, call=self._first, text="", index=self._index)
            decision = yield from judge(self._desk, self._desk.moment(event, refused=findings))
            if not decision.proceeds:
                raise self._desk.refusal(decision)

    def _opened(self, item: Any) -> tuple[str, HeldText, str | bytes]:
        """The channel of an item, what is held there, and the item's text."""
        shape: type[Any] = type(item)
        name, given = item if shape is Piece else (self._channel, item)
        held = self._held.get(name)
        if held is None or held.shape is not shape or shape is Piece:
            held = self._begun(name, given, shape)
        return name, held, given

    def _begun(self, name: Any, given: Any, shape: type[Any]) -> HeldText:
        """What is held on a channel on which something comes for the first time, or in another
        shape."""
        kinds: tuple[type[Any], ...] = SHAPES
        shape = next(kind for kind in kinds if issubclass(shape, kind))
        if not isinstance(given, bytes if shape is bytes else str) or not isinstance(name, str):
            raise TypeError(
                f"a piece has a text, not `{type(given).__name__}`: give the text of each chunk"
            )
        held = self._held.setdefault(name, HeldText(shape))
        if (held.shape is bytes) != (shape is bytes):
            raise TypeError(
                f"the channel `{name}` has both text and bytes: give only one of them, or use a "
                f"channel for each"
            )
        held.shape = shape
        return held

    def _flow(
        self, name: str, held: HeldText, given: str | bytes, last: bool = False
    ) -> Flow[str | None]:
        """Put a text into its channel; gives what comes out of it, judged, or `None` where nothing
        does yet."""
        held.add(given)
        count, refused = held.ready(self._keepers) if self._keepers.any else (len(held.text), None)
        if refused is not None or last or self._desk.ended is not None:
            count = len(held.text)
        if not count and (given or self._keepers.any):
            return None
        return (yield from self._pass_on(name, held, count, refused))

    def _pass_on(self, name: str, held: HeldText, count: int, refused: Any = None) -> Flow[str]:
        text, before = held.take(count, self._keepers.context)
        passed = yield from self._judged(name, text, before, refused)
        held.passed.append(passed)
        self._desk.partial.offer(passed)
        return passed

    def _judged(self, name: str, text: str, before: str, refused: Any = None) -> Flow[str]:
        """A text of a channel as it may be passed on; raises `Refused` where it may not."""
        desk = self._desk
        event: Any = desk.event(
            ModelChunk, call=self._first, text=text, channel=name, index=self._index, before=before
        )
        self._first = self._first if self._first else event.id
        self._index += 1
        decision = yield from judge(
            desk, desk.moment(event, refused=() if refused is None else (refused,))
        )
        if not decision.proceeds:
            raise desk.refusal(decision)
        return str(decision.patched(text))


def _is_over(block: Block, ended: list[Block]) -> bool:
    """Whether a block ends with one of these."""
    return any(is_of(block, one) for one in ended)
