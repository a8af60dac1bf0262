"""Streams: replies that come in chunks. Each piece is judged before it is passed on, and held back until it can be."""

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
from stanchion.runtime.calling.pace import END, InTime, Pace
from stanchion.runtime.calling.replies import others
from stanchion.runtime.calling.stream_end import Account, Streaming
from stanchion.runtime.deciding.clean import hidden
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.discretion import WITHHELD
from stanchion.runtime.deciding.judge import judge
from stanchion.runtime.deciding.left import abandoned
from stanchion.runtime.deciding.unread import against, unreadable
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.errors import Refused
from stanchion.runtime.streams.holdback import Held, Item, Keepers, Piece
from stanchion.runtime.values import Unreadable, read, restored
from stanchion.runtime.values.anatomy import MISSING, defined
from stanchion.runtime.values.streams import is_stream
from stanchion.runtime.values.words import LOGPROBS, TEXT, Path, at, fields_of, words_of

SHAPES: Final = (str, bytes, Piece)
"""What a stream is made of; anything else is an object whose words are found by its shape."""

ENDS: Final = frozenset({LOGPROBS, "finish_reason", "usage", "stop_reason"})
"""What is said once, with the last piece, and not again with what was held back."""
NUMBERS: Final = ("output_index", "content_index", "summary_index")
STREAM: Final = "the stream"
"""What a model's stream is called where it is late."""
CONTEXT: Final = 512
"""How much of a field that is no words is remembered."""
BLOCKS: Final = "content_block"
"""What is in the type of an event about one of several blocks."""
SNAPSHOT: Final = "snapshot"
"""Where events of some SDKs repeat the text so far."""


def chunks(
    desk: Desk, source: Iterable[Item], channel: str, account: Account, final: bool | None = None, **about: Any
) -> Iterator[Item]:
    """Pass a streamed reply on; the source is closed as soon as a piece is refused or nobody wants more."""
    if defined(type(source), "__iter__") is MISSING and defined(type(source), "__aiter__") is not MISSING:
        raise TypeError("these chunks have to be awaited: use `astream` instead of `stream`")
    drive(account.begin(**about), desk) if about else None
    stream = Stream(desk, channel, account, final)
    pace = Pace(desk, STREAM, None)
    try:
        try:
            with _closing(source if pace.left_s() is None else InTime(desk, source, pace)) as items:
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
    desk: Desk, source: AsyncIterable[Item], channel: str, account: Account, final: bool | None = None, **about: Any
) -> AsyncIterator[Item]:
    """The same on an event loop."""
    from stanchion.runtime.calling.item_task import next_in_time
    from stanchion.runtime.driving.doors import abegin
    from stanchion.runtime.driving.on_loop import adrive

    if defined(type(source), "__aiter__") is MISSING:
        raise TypeError("these chunks cannot be awaited: use `stream` instead of `astream`")
    if about:
        await abegin(account.begin(**about), desk)
    stream = Stream(desk, channel, account, final)
    pace = Pace(desk, STREAM, None)
    try:
        try:
            async with _aclosing(source, pace) as items:
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
    own = is_stream(reply.source, awaited=True) if awaited else not is_stream(reply.source, awaited=False)
    pass_on: Any = achunks if own else chunks
    return pass_on(desk, reply.source, "text", reply.account, reply.final)


class Stream:
    """One streamed reply: what is held back on each of its channels until it can be judged for good."""

    def __init__(self, desk: Desk, channel: str, account: Account, final: bool | None = None) -> None:
        self._desk = desk
        self._channel = channel
        self._account = account
        self._final = final
        self._calls = False
        self._main = ""
        """The channel of an object's words that began first."""
        self._beside: dict[tuple[str, ...], tuple[str, str]] = {}
        """What came last in each field that is no words: its end, and the last piece of it."""
        self._held: dict[str, Held] = {}
        self._last: dict[str, tuple[Any, Path]] = {}
        """The object that brought the last text of a channel, and where it had it."""
        self._waiting: list[Any] = []
        """Objects without text, which wait behind text that is held back."""
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
        out: list[Any] = []
        for name, held in self._held.items():
            held.end()
            if held.text:
                text = yield from self._pass_on(name, held, len(held.text))
                out.append(self._carried(name, text) if name in self._last else held.shaped(name, text))
        return (*out, *self._released())

    def whole(self) -> Flow[None]:
        """Judge the reply as it was delivered; what can no longer be redacted is refused.

        The reply is the stream's own channel; where nothing came on it, the one that began first.
        """
        known = self._held.get(self._channel, self._held.get(self._main))
        held = next(iter(self._held.values()), None) if known is None else known
        final = not self._calls if self._final is None else self._final
        decision = yield from self._account.whole("" if held is None else "".join(held.passed), final)
        if not decision.proceeds:
            raise self._desk.refusal(decision)

    def _take_object(self, item: Any) -> Flow[tuple[Any, ...]]:
        """Take an object of an SDK: its words go through their channels, and it goes on with what came out of them."""
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
        spoke = False
        for path, channel in words.places:
            given = at(content, path)
            name = self._named(channel, content, path)
            self._main = name if channel == TEXT and not self._main else self._main
            held = self._held.setdefault(name, Held(str))
            passed = yield from self._flow(name, held, given)
            self._last[name] = (item, path)
            spoke = spoke or bool(given)
            if passed != given:
                patches.append(Patch(path, "" if passed is None else passed))
        if isinstance(content, dict) and isinstance(content.get(SNAPSHOT), str):
            own = self._held.get(self._main)
            patches.append(Patch((SNAPSHOT,), "" if own is None else "".join(own.passed)))
        made = restored(seen.handed, content, apply(content, patches))
        if not spoke and any(held.text for held in self._held.values()):
            self._waiting.append(made)
            return ()
        behind = self._released() if not any(held.text for held in self._held.values()) else ()
        return (made, *behind)

    def _named(self, channel: str, content: Any, path: Path) -> str:
        """The channel of a text in an object: each field has its own, and of several calls, choices or blocks each.

        An object's own `index` may just count objects. It is that of a block only where the object says so.
        """
        names: list[str] = [self._channel if channel == TEXT else channel]
        for depth, step in enumerate(path):
            if isinstance(content, dict):
                own = depth or BLOCKS in str(content.get("type"))
                numbers = [content.get(name) for name in (("index", *NUMBERS) if own else NUMBERS)]
                names += [str(number) for number in numbers if type(number) is int]
            names += [step] if isinstance(step, str) else []
            content = content[step]
        return ".".join(names)

    def _clean(self, content: Any, words: set[Path]) -> Flow[list[Patch]]:
        """What has to be hidden in an object beside its words. They are not held back: a secret that comes in pieces is
        cut where it would be whole."""
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
        gone = [Patch(each, "") for each, _ in words.places if each != path and at(seen.content, each)]
        gone += [Patch(place, None) for place in fields_of(seen.content, ENDS)]
        return restored(seen.handed, seen.content, apply(seen.content, [*gone, Patch(path, text)]))

    def _released(self) -> tuple[Any, ...]:
        waiting, self._waiting = tuple(self._waiting), []
        return waiting

    def _refuse(self, findings: tuple[Finding, ...]) -> Flow[None]:
        """Judge that an object cannot be passed on, where something stands against it."""
        if findings:
            event: Any = self._desk.event(ModelChunk, call=self._first, text="", index=self._index)
            decision = yield from judge(self._desk, self._desk.moment(event, refused=findings))
            if not decision.proceeds:
                raise self._desk.refusal(decision)

    def _opened(self, item: Any) -> tuple[str, Held, str | bytes]:
        """The channel of an item, what is held there, and the item's text."""
        shape: type[Any] = type(item)
        name, given = item if shape is Piece else (self._channel, item)
        held = self._held.get(name)
        if held is None or held.shape is not shape or shape is Piece:
            held = self._begun(name, given, shape)
        return name, held, given

    def _begun(self, name: Any, given: Any, shape: type[Any]) -> Held:
        """What is held on a channel on which something comes for the first time, or in another shape."""
        kinds: tuple[type[Any], ...] = SHAPES
        shape = next(kind for kind in kinds if issubclass(shape, kind))
        if not isinstance(given, bytes if shape is bytes else str) or not isinstance(name, str):
            raise TypeError(f"a piece has a text, not `{type(given).__name__}`: give the text of each chunk")
        held = self._held.setdefault(name, Held(shape))
        if (held.shape is bytes) != (shape is bytes):
            raise TypeError(
                f"the channel `{name}` has both text and bytes: give only one of them, or use a channel for each"
            )
        held.shape = shape
        return held

    def _flow(self, name: str, held: Held, given: str | bytes) -> Flow[str | None]:
        """Put a text into its channel; gives what comes out of it, judged, or `None` where nothing does yet."""
        held.add(given)
        count, refused = held.ready(self._keepers) if self._keepers.any else (len(held.text), None)
        if refused is not None or self._desk.ended is not None:
            count = len(held.text)
        if not count and (given or self._keepers.any):
            return None
        return (yield from self._pass_on(name, held, count, refused))

    def _pass_on(self, name: str, held: Held, count: int, refused: Any = None) -> Flow[str]:
        desk = self._desk
        text, before = held.take(count, self._keepers.context)
        event: Any = desk.event(ModelChunk, call=self._first, text=text, channel=name, index=self._index, before=before)
        self._first = self._first if self._first else event.id
        self._index += 1
        decision = yield from judge(desk, desk.moment(event, refused=() if refused is None else (refused,)))
        if not decision.proceeds:
            raise desk.refusal(decision)
        passed = str(decision.patched(text))
        held.passed.append(passed)
        desk.partial.offer(passed)
        return passed


@contextmanager
def _closing(source: Iterable[Item]) -> Iterator[Iterator[Item]]:
    """A source's items; whatever ends the stream, the source is closed, and what ended it is what is raised."""
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
async def _aclosing(source: AsyncIterable[Item], pace: Pace) -> AsyncIterator[AsyncIterator[Item]]:
    from stanchion.runtime.calling.item_task import in_time

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
