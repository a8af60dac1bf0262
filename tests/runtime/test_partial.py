"""Partial results: bounded, in order, and never lost when they overflow."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from stanchion import Shield
from stanchion.runtime.deciding.run_memory import (
    MAX_BYTES,
    MAX_CHUNKS,
    PartialOverflow,
    PartialResults,
)


def test_chunks_come_back_in_order_as_plain_data() -> None:
    """Texts joined where only they are asked for."""
    kept = PartialResults()
    for chunk in ("a", {"b": (1, 2)}, "c", b"d", None):
        kept.append(chunk)
    assert kept.chunks == ("a", {"b": [1, 2]}, "c", "d", None)
    assert kept.text == "acd"
    assert len(kept) == 5
    assert kept.size_bytes == 1 + len('{"b":[1,2]}') + 1 + 1 + 4


def test_what_is_kept_is_a_copy_that_nobody_changes() -> None:
    """A value that is changed later is kept as it was."""
    kept, value = PartialResults(), [1]
    kept.append(value)
    value.append(2)
    assert kept.chunks == ([1],)


def test_so_many_chunks_and_not_one_more() -> None:
    """The one that finds no room raises, with all that was kept."""
    kept = PartialResults()
    for number in range(MAX_CHUNKS):
        kept.append(number)
    with pytest.raises(
        PartialOverflow,
        match=r"10,000 chunks and .+ no room for more: at most 10,000 and 10,485,760",
    ) as full:
        kept.append("one more")
    assert full.value.kept == tuple(range(10_000))
    assert len(kept) == MAX_CHUNKS


def test_so_many_bytes_and_not_one_more() -> None:
    """The last byte still fits; a smaller chunk may fit where a larger one does not."""
    kept = PartialResults()
    kept.append("x" * (MAX_BYTES - 3))
    with pytest.raises(PartialOverflow) as full:
        kept.append("four")
    assert [len(chunk) for chunk in full.value.kept] == [MAX_BYTES - 3]
    kept.append("abc")
    assert kept.size_bytes == MAX_BYTES == 10 * 1024 * 1024
    with pytest.raises(PartialOverflow):
        kept.append("d")


def test_letters_count_as_the_bytes_they_have() -> None:
    """Not as letters."""
    kept = PartialResults(max_bytes=10)
    with pytest.raises(PartialOverflow):
        kept.append("é" * 6)
    assert kept.size_bytes == 0


def test_after_completion_nothing_is_added() -> None:
    """By mistake a run would otherwise go on with another's results."""
    kept = PartialResults()
    kept.append("a")
    kept.complete()
    with pytest.raises(ValueError, match="complete: start new ones with another run"):
        kept.append("b")
    assert not kept.offer("c")
    assert (kept.chunks, kept.left_out, kept.completed) == (("a",), 1, True)


def test_an_offer_is_counted_where_there_is_no_room() -> None:
    """Work goes on; what is missing is known."""
    kept = PartialResults(max_chunks=2)
    assert [kept.offer(chunk) for chunk in ("a", "b", "c", "d")] == [True, True, False, False]
    assert (kept.chunks, kept.left_out) == (("a", "b"), 2)


def nested(depth: int) -> Any:
    """Data so deep."""
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


def test_what_cannot_be_read_is_not_kept() -> None:
    """Too deep to be shown: as if there was no room. Half a character is written out."""
    kept = PartialResults()
    assert not kept.offer(nested(200))
    assert kept.offer({"half": "\ud800"})
    assert kept.offer("\ud800")
    assert kept.chunks == ({"half": "\ufdd0\\ud800"}, "\ufdd0\\ud800")


@pytest.mark.parametrize(("chunks", "size"), [(0, 1), (1, 0), (-1, -1)])
def test_no_room_at_all_is_a_mistake(chunks: int, size: int) -> None:
    """It says what to give."""
    with pytest.raises(ValueError, match="at least 1"):
        PartialResults(chunks, size)


def test_many_threads_lose_nothing_and_overflow_nothing() -> None:
    """Every chunk is kept once, and the bound holds exactly."""
    kept = PartialResults(max_chunks=500)
    overflown: list[int] = []
    begin = threading.Barrier(8)

    def work(worker: int) -> None:
        begin.wait()
        for number in range(100):
            try:
                kept.append(worker * 100 + number)
            except PartialOverflow:
                overflown.append(worker * 100 + number)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kept) == 500
    assert sorted([*kept.chunks, *overflown]) == list(range(800))


def test_a_run_keeps_until_it_is_full() -> None:
    """And says so to whoever keeps; streams go on without."""
    with Shield.load({"name": "x"}).run() as run:
        for number in range(MAX_CHUNKS):
            run.keep(number)
        with pytest.raises(PartialOverflow):
            run.keep("one more")
        assert list(run.stream(["a", "b"])) == ["a", "b"]
        assert len(run.partial) == MAX_CHUNKS
        assert run.desk.partial.left_out == 2


@pytest.mark.parametrize(
    ("chunk", "bytes_each"), [("a", 1), ("é", 2), ("日", 3), ("😀", 4), ("\n", 1)]
)
def test_a_text_takes_the_bytes_that_it_has(chunk: str, bytes_each: int) -> None:
    kept = PartialResults(max_bytes=12)
    while kept.offer(chunk):
        pass
    assert (len(kept), kept.size_bytes) == (12 // bytes_each, 12)
