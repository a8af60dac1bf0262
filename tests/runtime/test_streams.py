"""Streams: what is held back and for how long, what ends a stream, and what becomes of its
source."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from stanchion import Action, Finding, Piece, Refused, Shield, Stage
from stanchion.runtime.streams.holdback import LONGEST
from tests.runtime.finders import BLOCK, CARD, KEY, Cards, Keys
from tests.runtime.guards import says

BARE: dict[str, Any] = {"name": "bare"}
STOPPING = [Action.ESCALATE, Action.BLOCK, Action.QUARANTINE, Action.HALT]


class Source:
    """Chunks that are counted as they are taken, from something that has to be closed."""

    def __init__(self, chunks: Iterable[Any]) -> None:
        self._chunks = list(chunks)
        self.taken = 0
        self.closed = 0

    def __iter__(self) -> Iterator[Any]:
        try:
            for chunk in self._chunks:
                self.taken += 1
                yield chunk
        finally:
            self.closed += 1

    async def __aiter__(self) -> AsyncIterator[Any]:
        try:
            for chunk in self._chunks:
                self.taken += 1
                yield chunk
        finally:
            await asyncio.sleep(0)
            self.closed += 1


def streamed(
    driver: str, shield: Shield, source: Any, **options: Any
) -> tuple[list[Any], Refused | None]:
    """What comes out of a stream, and what refused it."""
    out: list[Any] = []
    run = shield.run("ann")

    async def collect() -> None:
        async for piece in run.astream(source, **options):
            out.append(piece)

    try:
        if driver == "async":
            asyncio.run(collect())
        else:
            for piece in run.stream(source, **options):
                out.append(piece)
    except Refused as refused:
        return out, refused
    finally:
        run.close()
    return out, None


both = pytest.mark.parametrize("driver", ["sync", "async"])


@both
def test_what_is_cut_in_two_is_redacted_as_a_whole(driver: str) -> None:
    """The part that came first waits for the rest; the end of the stream lets go of what waits."""
    shield = Shield.load(BARE, guards=[Keys(), Cards()])
    chunks = ["use sk-0a1b", "2c3d4e and ", "4000 ", "1234 56", "78 ", "then st", "op"]
    out, refused = streamed(driver, shield, Source(chunks))
    assert refused is None
    assert "".join(out) == "use [redacted:key] and [redacted:card] then stop"


def test_without_a_guard_that_needs_it_nothing_is_held_back() -> None:
    """Chunks go out as they come, empty ones too."""
    shield = Shield.load(BARE, guards=[says(Action.WARN, Stage.MODEL_CHUNK)])
    assert streamed("sync", shield, ["sk-0a1b", "", "2c3d4e"])[0] == ["sk-0a1b", "", "2c3d4e"]


def test_ordinary_text_is_late_by_no_more_than_the_unfinished_word() -> None:
    """Letter by letter: everything up to the last word has come out when the next letter goes
    in."""
    text = "The quick brown fox, it seems, jumps over the lazy dog.\n"
    run = Shield.load(BARE, guards=[Keys(), Cards()]).run()
    given, late = 0, []

    def letters() -> Iterator[str]:
        nonlocal given
        for letter in text:
            late.append(text[sum(map(len, out)) : given])
            given += 1
            yield letter

    out: list[str] = []
    for piece in run.stream(letters()):
        out.append(piece)
    assert "".join(out) == text
    assert max(map(len, late)) == len("brown")
    assert all(held.isalpha() for held in late if held)


@both
@pytest.mark.parametrize("action", STOPPING, ids=lambda action: str(action.name))
def test_a_refused_piece_ends_the_stream_at_once(driver: str, action: Action) -> None:
    """Its source is closed, no more is taken from it, and nothing of what was held back comes
    out."""
    shield = Shield.load(BARE, guards=[Keys(action)])
    source = Source(["one two ", f"{KEY[:6]}", f"{KEY[6:]} and held", " more", " and more"])
    out, refused = streamed(driver, shield, source)
    assert refused is not None
    assert refused.decision.action == (Action.BLOCK if action == Action.ESCALATE else action)
    assert out == ["one two "]
    assert (source.taken, source.closed) == (3, 1)


@both
def test_a_halt_ends_the_run_with_the_stream(driver: str) -> None:
    """Nothing of the run proceeds any more."""
    shield = Shield.load(BARE, guards=[Keys(Action.HALT)])
    run = shield.run("ann")
    source = Source([f"{KEY} ", "more"])

    async def collect() -> list[str]:
        return [piece async for piece in run.astream(source)]

    with pytest.raises(Refused) as refused:
        _ = asyncio.run(collect()) if driver == "async" else list(run.stream(source))
    assert refused.value.ended
    assert source.closed == 1
    assert run.check("read", {}).action == Action.HALT


def test_a_stream_that_nobody_reads_on_closes_its_source() -> None:
    """The consumer stops early: the source is closed, and what was held back is gone."""
    source = Source(["one two", " three four"])
    stream: Any = Shield.load(BARE, guards=[Keys()]).run().stream(source)
    assert next(stream) == "one "
    stream.close()
    assert (source.taken, source.closed) == (1, 1)


def test_an_async_stream_that_nobody_reads_on_closes_its_source() -> None:
    """By closing it, and by cancelling whoever reads it."""
    closing, cancelled = Source(["one two", " three"]), Source(["one two", " three"])
    run = Shield.load(BARE, guards=[Keys()]).run()

    async def close() -> None:
        stream: Any = run.astream(closing)
        assert await anext(stream) == "one "
        await stream.aclose()

    async def cancel() -> None:
        got = asyncio.Event()

        async def read() -> None:
            async for _ in run.astream(cancelled):
                got.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(read())
        await got.wait()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await asyncio.sleep(0)

    asyncio.run(close())
    asyncio.run(cancel())
    assert (closing.taken, closing.closed) == (1, 1)
    assert cancelled.closed == 1


def test_a_task_that_is_cancelled_while_it_waits_for_a_chunk_closes_the_source() -> None:
    """What was held back does not come out."""
    out: list[str] = []
    closed: list[bool] = []
    run = Shield.load(BARE, guards=[Keys()]).run()

    async def waiting() -> AsyncIterator[str]:
        try:
            yield "one two"
            await asyncio.Event().wait()
        finally:
            closed.append(True)

    async def read(reader: asyncio.Future[asyncio.Task[None]]) -> None:
        task = await reader
        async for piece in run.astream(waiting()):
            out.append(piece)
            asyncio.get_running_loop().call_soon(task.cancel)

    async def main() -> None:
        reader: asyncio.Future[asyncio.Task[None]] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(read(reader))
        reader.set_result(task)
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert out == ["one "]
    assert closed == [True]


def test_an_error_of_the_source_is_handed_on() -> None:
    """What was held back does not come out, for nobody knows what would have followed."""
    out: list[str] = []

    def breaking() -> Iterator[str]:
        yield "one two"
        raise ConnectionError("lost")

    def read() -> None:
        for piece in Shield.load(BARE, guards=[Keys()]).run().stream(breaking()):
            out.append(piece)

    with pytest.raises(ConnectionError, match="lost"):
        read()
    assert out == ["one "]


class Stubborn:
    """A client's stream object: an iterator with a `close` that fails."""

    def __init__(self, *chunks: str) -> None:
        self._chunks = iter(chunks)
        self.closed = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        return next(self._chunks)

    def __aiter__(self) -> AsyncIterator[str]:
        return self

    async def __anext__(self) -> str:
        try:
            return next(self._chunks)
        except StopIteration:
            raise StopAsyncIteration from None

    def close(self) -> None:
        self.closed += 1
        raise ConnectionResetError("gone")


@both
def test_a_source_that_cannot_be_closed_does_not_hide_the_refusal(driver: str) -> None:
    """It is closed once; its own trouble is raised only where nothing else ended the stream."""
    source = Stubborn(f"{KEY} ", "more")
    _, refused = streamed(driver, Shield.load(BARE, guards=[Keys(Action.BLOCK)]), source)
    assert refused is not None
    assert source.closed == 1
    with pytest.raises(ConnectionResetError):
        streamed(driver, Shield.load(BARE), Stubborn("fine"))


@both
def test_channels_are_held_back_apart(driver: str) -> None:
    """A key that is cut by another channel is still a key, and neither channel waits for the
    other."""
    chunks: list[Piece | str] = [
        Piece("reasoning", "I have sk-0a1b"),
        Piece("arguments", '{"key": "sk-0a'),
        "Here it ",
        Piece("reasoning", "2c3d4e now "),
        Piece("arguments", '1b2c3d4e"}'),
        "is: sk-0a1b2c",
        Piece("text", "3d4e"),
    ]
    out, refused = streamed(driver, Shield.load(BARE, guards=[Keys()]), Source(chunks))
    assert refused is None
    assert out == [
        Piece("reasoning", "I have "),
        Piece("arguments", '{"key": "'),
        "Here it ",
        Piece("reasoning", "[redacted:key] now "),
        Piece("arguments", '[redacted:key]"}'),
        "is: ",
        Piece("text", "[redacted:key]"),
    ]


def test_a_named_channel_is_recorded_with_every_piece() -> None:
    """And pieces are numbered through, in the order in which they were passed on."""
    shield = Shield.load(BARE, guards=[Keys()])
    streamed("sync", shield, ["a b", Piece("arguments", "{c"), " d"], channel="reasoning")
    *pieces, whole = [kept.read() for kept in shield.journal.kept()]
    assert [(one.beside, one.content) for one in pieces] == [
        ({"channel": "reasoning"}, "a "),
        ({"channel": "arguments", "index": 1}, "{"),
        ({"channel": "reasoning", "index": 2}, "b "),
        ({"channel": "reasoning", "index": 3}, "d"),
        ({"channel": "arguments", "index": 4}, "c"),
    ]
    assert (whole.stage, whole.content) == ("model_reply", "a b d")
    assert {one.call for one in pieces[1:]} == {pieces[0].id}


@pytest.mark.parametrize(
    ("chunks", "says"),
    [
        ([Piece("text", None)], ("not `NoneType`: give the text")),  # type: ignore[arg-type]  # the mistake that is tested
        (["a", b"b"], "the channel `text` has both text and bytes"),
    ],
)
def test_a_stream_of_anything_else_says_what_it_takes(chunks: list[Any], says: str) -> None:
    """Nothing is silently made a text."""
    with pytest.raises(TypeError, match=says):
        list(Shield.load(BARE).run().stream(chunks))


BROKEN = (
    "é €😀 ".encode()
    + b"\xff\xc3 \xed\xa0\x80 "
    + KEY.encode()
    + b"\xe2\x82 "
    + "ok é".encode()
    + b"\xf0\x9f"
)
"""Bytes that are not quite UTF-8, with a key in them."""


@both
def test_bytes_come_out_as_they_went_in_however_they_are_cut(driver: str) -> None:
    """Characters in two halves, and bytes that are none: only the key is another."""
    expected = BROKEN.replace(KEY.encode(), b"[redacted:key]")
    for guards, wanted in (([Keys()], expected), ([], BROKEN)):
        shield = Shield.load(BARE, guards=guards)
        for size in (1, 2, 3, 7, len(BROKEN)):
            out, refused = streamed(
                driver, shield, Source(BROKEN[at : at + size] for at in range(0, 99, size))
            )
            assert refused is None
            assert all(type(piece) is bytes for piece in out)
            assert b"".join(out) == wanted


def test_halves_of_characters_in_texts_survive() -> None:
    """And are written down spelled out, as JSON has no such thing."""
    shield = Shield.load(BARE, guards=[Keys()], journal="memory:")
    out, refused = streamed("sync", shield, ["a \ud83d", "\ude00 b\udcff ", "\x00 ", KEY])
    assert refused is None
    assert "".join(out) == "a \ud83d\ude00 b\udcff \x00 [redacted:key]"
    assert (
        shield.journal.kept()[-1].read().content == "a \\ud83d\\ude00 b\\udcff \x00 [redacted:key]"
    )


def test_a_redacted_stream_is_not_refused_at_its_end_and_its_whole_is_what_was_delivered() -> None:
    """The reply that is judged is the one the agent got; what the pieces hid is not held against
    it."""
    seen: list[str] = []

    def whole(event: Any) -> None:
        seen.append(event.text)

    whole.stages = [Stage.MODEL_REPLY]  # type: ignore[attr-defined] # how a guard says it
    out, refused = streamed(
        "sync", Shield.load(BARE, guards=[Keys(), whole]), ["a sk-0a1b", "2c3d4e b"]
    )
    assert refused is None
    assert seen == ["".join(out)] == ["a [redacted:key] b"]


def test_what_only_the_whole_shows_is_refused() -> None:
    """A guard that does not judge pieces finds in the whole what can no longer be taken back."""
    shield = Shield.load(BARE, guards=[Keys(stages=frozenset({Stage.MODEL_REPLY}))])
    out, refused = streamed("sync", shield, ["a sk-0a1b", "2c3d4e b"])
    assert refused is not None
    assert refused.decision.code == "test.found"
    assert KEY not in str(refused)
    assert KEY.encode() not in shield.journal.kept()[-1].text
    assert "".join(out) == f"a {KEY} b"


def test_the_reply_is_the_channel_that_is_called_text() -> None:
    """Reasoning and arguments are no part of it; where there is none, it is what began first."""
    shield = Shield.load(BARE)
    streamed(
        "sync",
        shield,
        [Piece("reasoning", "hm"), Piece("text", "yes"), Piece("arguments", "{}"), "!"],
    )
    assert shield.journal.kept()[-1].read().content == "yes!"
    streamed(
        "sync",
        shield,
        [Piece("reasoning", "hm"), Piece("arguments", "{}"), Piece("reasoning", "!")],
    )
    assert shield.journal.kept()[-1].read().content == "hm!"
    streamed("sync", shield, [])
    assert shield.journal.kept()[-1].read().content == ""


class Never(Keys, frozen=True):
    """A guard that never settles anything."""

    id: str = "never"

    def settled(self, text: str) -> int:
        return 0


class Breaks(Keys, frozen=True):
    """A guard that cannot say what is settled."""

    id: str = "breaks"

    def settled(self, text: str) -> int:
        raise LookupError("broken")


@pytest.mark.parametrize(("guard", "error"), [(Never(), "HeldTooLong"), (Breaks(), "LookupError")])
def test_a_guard_that_holds_back_too_much_or_fails_refuses_the_stream(
    guard: Keys, error: str
) -> None:
    """It fails closed, in bounded memory, and no record has what was held back in clear."""
    shield = Shield.load(BARE, guards=[guard])
    source = Source([f"{KEY} ", *["word " * 200] * 20])
    out, refused = streamed("sync", shield, source)
    assert out == []
    assert refused is not None
    assert (refused.decision.code, refused.decision.findings[0].args) == (
        "kernel.guard_error",
        (guard.id, error),
    )
    assert source.taken <= 2 + LONGEST // 1_000
    assert all(KEY.encode() not in kept.text for kept in shield.journal.kept())


@pytest.mark.parametrize("kind", [Never, Breaks])
@pytest.mark.parametrize(
    "field", [{"mode": "shadow"}, {"fail_open": True}], ids=["shadow", "fail_open"]
)
def test_a_guard_that_only_watches_or_may_fail_does_not_end_a_stream(
    kind: type[Keys], field: dict[str, Any]
) -> None:
    """Text goes on without it."""
    chunks = ["word " * 200] * 20
    out, refused = streamed("sync", Shield.load(BARE, guards=[kind(**field)]), chunks)
    assert refused is None
    assert "".join(out) == "word " * 4_000


def test_a_guard_in_shadow_mode_changes_no_text_and_no_record_has_what_it_would_hide() -> None:
    """What is cut in two is found, and written down as it would have it."""
    shield = Shield.load(BARE, guards=[Keys(mode="shadow")])
    out, refused = streamed("sync", shield, ["a sk-0a1b", "2c3d4e b"])
    assert refused is None
    assert "".join(out) == f"a {KEY} b"
    assert all(b"sk-0a1b" not in kept.text for kept in shield.journal.kept())


class Counts(Keys, frozen=True, kw_only=True):
    """Counts how many characters it was asked about."""

    asked: list[int]

    def settled(self, text: str) -> int:
        self.asked.append(len(text))
        return 0 if len(text) < 16_000 else len(text)


def test_what_is_held_back_for_long_is_not_read_again_at_every_letter() -> None:
    """The cost of holding back stays in proportion to the text."""
    guard = Counts(asked=[])
    text = "x" * 16_000
    out, _ = streamed("sync", Shield.load(BARE, guards=[guard]), list(text))
    assert "".join(out) == text
    assert sum(guard.asked) < 130 * len(text)


@pytest.mark.parametrize(
    "unit", ["4111111111111111 ", "card 4111 1111 1111 1111, ", "AKIAQ3EGRXYZ5ABCD7WQ "]
)
def test_guards_that_part_words_in_different_ways_agree_where_to_cut(unit: str) -> None:
    """Each piece brings out what came before it, so that little is ever read again."""
    text = unit * 64
    chunks = [text[at : at + 64] for at in range(0, len(text), 64)]
    out, refused = streamed("sync", Shield.load("default"), chunks)
    assert refused is None
    assert len(out) >= len(chunks)


def test_a_block_of_many_lines_is_held_back_until_it_ends() -> None:
    """And comes out as one."""
    parts = [BLOCK[at : at + 3] for at in range(0, len(BLOCK), 3)]
    out, refused = streamed("sync", Shield.load(BARE, guards=[Keys()]), ["it is ", *parts, "."])
    assert refused is None
    assert [piece for piece in out if piece] == ["it is ", "[redacted:block]", "."]


def test_a_run_that_was_cancelled_passes_nothing_on_that_was_held_back() -> None:
    """The next chunk is refused, though it settles nothing."""
    run = Shield.load(BARE, guards=[Keys()]).run()
    source = Source(["one two", "three", "four", "five"])
    stream = run.stream(source)
    assert next(stream) == "one "
    run.cancel("enough")
    with pytest.raises(Refused, match="enough"):
        next(stream)
    assert (source.taken, source.closed) == (2, 1)


def test_a_reload_in_the_middle_of_a_stream_loses_nothing_that_is_held_back() -> None:
    """The rest of a stream is judged by the policy in force."""
    shield = Shield.load(BARE, guards=[Keys(), Cards()])
    stream = shield.run().stream(["use 4000 ", "1234 5678, ", CARD, " end"])
    assert next(stream) == "use "
    shield.reload({"name": "another"})
    assert "".join(stream) == "[redacted:card], [redacted:card] end"


class Knows(Keys, frozen=True, kw_only=True):
    """Takes down what it is shown of what was passed on before."""

    id: str = "knows"
    seen: list[tuple[str, str]]

    def judge(self, reading: Any, /) -> Finding | None:
        event = reading.event
        if event.stage is Stage.MODEL_CHUNK:
            self.seen.append((event.before, event.text))
        return Keys.judge(self, reading)


def test_a_guard_sees_what_stands_before_a_piece_and_no_record_does() -> None:
    """As the model said it, no more than it needs, and only of the same channel."""
    guard = Knows(seen=[])
    shield = Shield.load(BARE, guards=[guard])
    chunks: list[str | Piece] = ["my pin ", Piece("reasoning", "x "), "908070 ", "is it"]
    out, _ = streamed("sync", shield, chunks)
    assert (
        "".join(piece if isinstance(piece, str) else "" for piece in out)
        == "my pin [redacted:key] is it"
    )
    # Content that was patched is judged once more: that is the fourth of them.
    assert guard.seen == [
        ("", "my pin "),
        ("", "x "),
        (" pin ", "908070 "),
        (" pin ", "[redacted:key] "),
        ("8070 ", "is "),
        ("0 is ", "it"),
    ]
    assert all("before" not in kept.read().beside for kept in shield.journal.kept())
    assert all(b"8070" not in kept.text for kept in shield.journal.kept())
