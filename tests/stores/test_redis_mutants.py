"""The tests bite: a fault that is seeded into the server's script is noticed."""

from collections.abc import Iterator
from functools import partial
from typing import Final

import pytest

from stanchion.stores.redis.packed import SETTINGS, Script, source
from stanchion.testing.store_suite import CASES
from tests.stores import redis_server, test_redis
from tests.stores.redis_server import Server, make
from tests.stores.seeding import SOAK, Check, Mutation, check_places, noticed, seeded, tried
from tests.stores.test_redis_equal import compare_batches, compare_forgetting, compare_windows

server = redis_server.server


_M: Final = Mutation

MUTATIONS: Final = (
    _M("identity not checked", "if got[2] then\n", "if false then\n"),
    _M("first answer of a hold is lost", "return sub(got[2], 22, 21 + read('<I4', got[2], 18))",
       "return sub(got[2], 2)"),
    _M("clock runs backwards", "if now < last then now = last end", ""),
    _M("time is not kept", "if now ~= last or next_due", "if next_due"),
    _M("next expiry is not kept", "if now ~= last or next_due ~= "
                                  "was_due then", "if now ~= last then"),
    _M("compare-and-set removed", "if value < lo or value >= hi then", "if false then"),
    _M("expectation off by one", "or value >= hi then", "or value > hi then"),
    _M("expects of a forgotten cell", "if touched + keep > now then value = total else raw = nil "
                                      "end", "value = total"),
    _M("the clock cannot be expected", "local value, raw = now, nil\n", "local value, raw = 0, "
                                                                        "nil\n"),
    _M("a stale batch settles", "if not stale then\n  -- Settles.", "if true then\n  -- Settles."),
    _M("expiry ignored", "local lapsed\nif next_due <= now then", "local lapsed\nif false then"),
    _M("expiry a tick late", "lapsed = call('ZRANGEBYLEX', DUE, '-', '(' .. pack('>d', now + 1))",
       "lapsed = call('ZRANGEBYLEX', DUE, '-', '(' .. pack('>d', now))"),
    _M("hold not released at expiry", "if keeps == 0 then change(key, -amount, bucket) end", ""),
    _M("spend released at expiry", "if keeps == 0 then change(key, -amount, bucket) end",
       "change(key, -amount, bucket)"),
    _M("next expiry forgotten", "next_due = first and read('>d', first) "
                                "or FOREVER", "next_due = FOREVER"),
    _M("permits come back twice", "  call('ZREMRANGEBYLEX', DUE, '-', '(' .. pack('>d', "
                                  "now + 1))\n", ""),
    _M("a lapsed hold is kept for ever", "call('PEXPIRE', name, LAPSED_MS)", ""),
    _M("correction misses the total", "    number = number + "
                                      "amount\n    if number >= EXACT", "    if number >= EXACT"),
    _M("correction misses the window", "if kind == WINDOW and bucket >= 0 then", "if false then"),
    _M("correction in the newest bucket", "if bucket == newest then", "if true then"),
    _M("correction misses the live sum", "if old > newest - 16 then live = live + amount end", ""),
    _M("correction touches", "raw = pack('<Bddd', kind, number, touched, keep) .. tail",
       "raw = pack('<Bddd', kind, number, now, keep) .. tail"),
    _M("correction of a cell that is not a key of the batch", "if raw == nil then raw = "
                                                              "call('GET', name) end", ""),
    _M("double settle", "call('SET', name, 'd' .. sub(raw, 22, 21 + length), 'PX', "
                        "REMEMBER_MS)", ""),
    _M("double settle in one batch", "elseif settled[name] or "
                                     "byte(raw) == DONE then", "elseif byte(raw) == DONE then"),
    _M("settled at its estimate", "correction = read('<d', batch, at + 8 * "
                                  "(unit - 1)) - amount", "correction = 0"),
    _M("settled with another unit", "read('<d', batch, at + 8 * (unit - 1))", "read('<d', batch, "
                                                                              "at)"),
    _M("late settlement is none", "local is_held = read('<d', raw, 2) > now", "local is_held = "
                                                                              "true"),
    _M("late settlement a tick late", "local is_held = read('<d', raw, 2) > now",
       "local is_held = read('<d', raw, 2) >= now"),
    _M("permit of a settled hold stays", "elseif is_held then\n         "
                                         " correction = -amount", "elseif false then\n"),
    _M("permit of a settled hold expires", "if byte(raw) == PERMITS and due > "
                                           "now then", "if false then"),
    _M("stops at ESCALATE", "if outcome >= 7 then stop = number - 1 end", "if outcome >= 6 then "
                                                                          "stop = number - 1 end"),
    _M("lines behind a stop are judged", "if stop >= 0 or (stopped and", "if (stopped and"),
    _M("shadow goes on behind its stop", "if stop >= 0 or (stopped and "
                                         "stopped[shadow]) then", "if stop >= 0 then"),
    _M("shadow stops at ESCALATE", "stopped[shadow] or outcome >= 7", "stopped[shadow] or outcome "
                                                                      ">= 6"),
    _M("shadow refuses", "if outcome > ceiling and shadow > 0 then", "if false then"),
    _M("ceiling ignored", "elseif outcome > ceiling then", "elseif outcome > 3 then"),
    _M("follows ignored", "elseif follows > 0 then", "elseif false then"),
    _M("follows only the last line", "math.max(1, number - follows)", "number - 1"),
    _M("band off by one", "if value + amount > limit and", "if value + amount >= limit and"),
    _M("last band instead of highest", "and action > outcome then "
                                       "outcome = action end", "then outcome = action end"),
    _M("band on the total of a window", "            value = live\n", "            value = "
                                                                      "total\n"),
    _M("window never slides", "if newest ~= bucket then", "if false then"),
    _M("window a bucket too long", "if old > bucket - 16 then", "if old >= bucket - 16 then"),
    _M("window forgets its newest bucket", ".. pack('<dd', newest, current), ''", ", ''"),
    _M("old buckets left behind", "or (turned and turned[where])", ""),
    _M("idle cell is not forgotten", "if touched + keep <= now "
                                     "then raw, kind,", "if false then raw, kind,"),
    _M("level skipped", "if amount ~= 0 and when > 0 and", "if number ~= 2 and amount ~= 0 and "
                                                           "when > 0 and"),
    _M("looks take", "and when > 0 and outcome >= 0", "and outcome >= 0"),
    _M("takes what was skipped", "and when > 0 and outcome >= 0", "and when > 0 and outcome >= -1"),
    _M("takes although refused", "when == 1 or (go and not (refused and refused[shadow]))) then\n  "
                                 "      if new",
       "when == 1 or not (refused and refused[shadow])) then\n        if new"),
    _M("shadow takes what it refuses", "when == 1 or (go and not (refused and refused[shadow]))) "
                                       "then\n        if new",
       "when == 1 or go) then\n        if new"),
    _M("refusal takes nothing of what was judged", "not judged or when == "
                                                   "1 or (go", "not judged or (go"),
    _M("what a refusal took is kept", "again = not judged and (refused or not "
                                      "go)", "again = false"),
    _M("two lines on one counter", "        if new[where] then\n", "        if false then\n"),
    _M("takes twice after a refusal", "if again then new, keeping, taken, longest, permits, "
                                      "inexact = {}, {}, ''",
       "if again then new, keeping, taken, longest, permits, inexact = new, {}, ''"),
    _M("holds twice after a refusal", "= {}, {}, '', 0, false, nil end", "= {}, {}, taken, "
                                                                         "longest, permits, "
                                                                         "nil end"),
    _M("touched counter forgotten", "new[where] = pack('<Bddd', COUNTER, total, now, keep)",
       "new[where] = pack('<Bddd', COUNTER, total, touched, keep)"),
    _M("kept as the first line said", "if idle > keep then", "if keep == 0 then"),
    _M("the server's deadline does not move", "elseif now - now % (keep / 4) ~= touched - touched "
                                              "% (keep / 4) then",
       "elseif false then"),
    _M("nothing is garbage", "'PX', keep + floor(keep / 4) + 60000)", "'KEEPTTL')"),
    _M("garbage before it is forgotten", "'PX', keep + floor(keep / 4) + 60000)", "'PX', 5)"),
    _M("inexact sums", "if total >= EXACT or total <= -EXACT then", "if false then"),
    _M("inexact settlements", "if number >= EXACT then inexact = name end", ""),
    _M("inexact by one", "if total >= EXACT or", "if total > EXACT or"),
    _M("hold lasts as long as its last line", "if hold_ms > longest then "
                                              "longest = hold_ms end", "longest = hold_ms"),
    _M("hold of permits is one of spend", "permits = permits or keeps == 0", ""),
    _M("next hold is not watched", "if due < next_due then next_due = due end", ""),
    _M("put of a refused call written", "if (when == 1 or (go and not (refused and "
                                        "refused[shadow]))) and (stop",
       "if (when == 1 or not (refused and refused[shadow])) and (stop"),
    _M("put of a refused shadow written", "if (when == 1 or (go and not (refused and "
                                          "refused[shadow]))) and (stop",
       "if (when == 1 or go) and (stop"),
    _M("put behind a stop written", "and (stop < 0 or before <= stop) then", "then"),
    _M("record keeps its version", "pack('<Bddd', RECORD, version + 1, now, keep)",
       "pack('<Bddd', RECORD, 1, now, keep)"),
    _M("record of a forgotten cell goes on", "        if touched + "
                                             "kept > now then\n", "        if true then\n"),
    _M("values are lost where nothing is said", "if lines > 0 then reply", "if loud then reply"),
    _M("says nothing", "  if loud then\n    reply", "  if false then\n    reply"),
    _M("a changed cell that no line takes is not written", "if not raw and changed and "
                                                           "changed[where] then",
       "if false then"),
    _M("another cell is not written", "for name, raw in pairs(others) do call('SETRANGE', name, "
                                      "'0', raw) end", ""),
)  # fmt: skip

QUICK: Final = (
    "identity not checked",
    "compare-and-set removed",
    "ceiling ignored",
    "hold not released at expiry",
    "double settle",
    "level skipped",
    "expiry ignored",
    "old buckets left behind",
    "inexact by one",
    "the server's deadline does not move",
)
"""A handful for every test run."""

TRIED: Final = tried(MUTATIONS, QUICK)


def checks(server: Server) -> Iterator[Check]:
    """Everything that may notice, what notices most and soonest first."""
    empty = make(server)
    yield partial(compare_batches, empty, 0)
    yield partial(compare_forgetting, empty, 0)
    yield partial(compare_windows, empty, 0)
    yield from (partial(case.check, empty) for case in CASES)
    for test in (
        test_redis.test_totals_are_exact_below_2_53_and_refused_from_there,
        test_redis.test_a_cell_in_use_is_kept_by_the_server,
        test_redis.test_idle_cells_are_garbage_to_the_server_too_and_never_before_they_are_forgotten,
        test_redis.test_answers_are_remembered_for_a_stated_time_and_holds_until_they_lapsed_long_ago,
        test_redis.test_a_cell_that_was_forgotten_stays_forgotten,
        test_redis.test_a_tenant_s_time_never_runs_backwards_whatever_the_server_s_does,
        test_redis.test_permits_of_many_holds_come_back_at_once,
        test_redis.test_two_lines_of_a_batch_take_from_one_counter,
        test_redis.test_what_was_settled_is_not_watched_any_more,
    ):
        yield partial(test, server)
    yield partial(compare_batches, empty, 1)
    yield partial(compare_forgetting, empty, 1)


def noticed_in(
    server: Server, text: str, monkeypatch: pytest.MonkeyPatch, most: int | None = None
) -> str:
    """Which of so many checks notices what is wrong with a script, and how; nothing where none
    does."""
    monkeypatch.setattr("stanchion.stores.redis.store.source", lambda: text)
    return noticed(checks(server), lambda: server.ask("FLUSHALL"), most)


@pytest.mark.parametrize("mutation", TRIED, ids=[mutation.name for mutation in TRIED])
def test_a_seeded_fault_is_noticed(
    mutation: Mutation, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = seeded(source(), mutation)
    assert isinstance(server.ask("SCRIPT", "LOAD", text), bytes), "it is no script any more"
    assert noticed_in(server, text, monkeypatch)


def test_without_a_fault_nothing_is_noticed(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert noticed_in(server, source(), monkeypatch, None if SOAK else 20) == ""


def test_each_fault_still_has_its_place() -> None:
    check_places(source(), MUTATIONS, QUICK)


def test_a_store_s_settings_have_their_place() -> None:
    assert source().count(SETTINGS) == 1
    text = Script(source(), 5, True).text.decode()
    assert "local REMEMBER_MS, LAPSED_MS, WAITS = '5000', '604800000', true\n" in text
