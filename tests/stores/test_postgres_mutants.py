"""The tests bite: a fault that is seeded into the server's function is noticed."""

from collections.abc import Iterator
from functools import partial
from importlib import resources
from typing import Final

import pytest

from stanchion.testing.store_suite import CASES
from tests.stores import test_postgres, test_postgres_locking as locking
from tests.stores.seeding import SOAK, Check, Mutation, check_places, noticed, seeded, tried
from tests.stores.servers import Empty, Place, place
from tests.stores.test_postgres_equal import compare_batches, compare_forgetting

__all__ = ["place"]


_M: Final = Mutation

MUTATIONS: Final = (
    _M("identity not checked", "IF hold.id = batch_id THEN", "IF false THEN"),
    _M(
        "identity not checked after waiting",
        "IF EXISTS (SELECT FROM {schema}.batch AS b WHERE b.id = batch_id) THEN",
        "IF false THEN",
    ),
    _M(
        "compare-and-set removed",
        "IF number < expects[i + 1] OR number >= expects[i + 2] THEN",
        "IF false THEN",
    ),
    _M(
        "expectation off by one",
        "OR number >= expects[i + 2] THEN",
        "OR number > expects[i + 2] THEN",
    ),
    _M(
        "time of a stale answer lost",
        "PERFORM set_config('synchronous_commit', 'off', true), setval('{schema}.clock', now_ms);",
        "",
    ),
    _M("ceiling ignored", "IF outcome > ceiling THEN", "IF outcome > 3 THEN"),
    _M(
        "band off by one",
        "IF number + amount > bands[at] THEN",
        "IF number + amount >= bands[at] THEN",
    ),
    _M(
        "lowest band off by one",
        "IF number + amount > lines[j + 10] THEN",
        "IF number + amount > lines[j + 10] + 1 THEN",
    ),
    _M(
        "last band instead of highest",
        "outcome := greatest(outcome, bands[at + 1]);",
        "outcome := bands[at + 1];",
    ),
    _M(
        "level skipped",
        "IF amount <> 0 AND said[i + 1] >= 0 AND (",
        "IF amount <> 0 AND i <> 1 AND said[i + 1] >= 0 AND (",
    ),
    _M("takes although refused", "lines[j + 3] = 2 AND go AND", "lines[j + 3] = 2 AND"),
    _M("looks take", "lines[j + 3] = 2 AND go AND", "go AND"),
    _M(
        "takes what was skipped",
        "IF amount <> 0 AND said[i + 1] >= 0 AND (",
        "IF amount <> 0 AND said[i + 1] >= -1 AND (",
    ),
    _M("shadow takes what it refuses", "AND go AND lines[j + 8] <> ALL (refused)", "AND go"),
    _M("shadow refuses", "IF lines[j + 8] > 0 THEN", "IF false THEN"),
    _M(
        "shadow goes on behind its stop",
        "IF stop >= 0 OR lines[j + 8] = ANY (stopped) THEN",
        "IF stop >= 0 THEN",
    ),
    _M(
        "lines behind a stop are judged",
        "IF stop >= 0 OR lines[j + 8] = ANY (stopped) THEN",
        "IF lines[j + 8] = ANY (stopped) THEN",
    ),
    _M(
        "stop at ESCALATE",
        "                    IF outcome >= 7 THEN\n                        stop := i;",
        "                    IF outcome >= 6 THEN\n                        stop := i;",
    ),
    _M("follows ignored", "ELSIF lines[j + 4] > 0 AND", "ELSIF false AND"),
    _M(
        "follows only the last line",
        "unnest(said[i - lines[j + 4] + 1 : i])",
        "unnest(said[i : i])",
    ),
    _M("put behind a stop written", "AND (stop < 0 OR puts[j + 3] <= stop) THEN", "THEN"),
    _M(
        "put of a refused call written",
        "IF (go AND puts[j + 4] <> ALL (refused) OR puts[j + 2] = 1) AND",
        "IF",
    ),
    _M("put of a refused shadow written", "(go AND puts[j + 4] <> ALL (refused) OR", "(go OR"),
    _M("record keeps its old value", "value = coalesce(u.value, c.value)", "value = c.value"),
    _M("record keeps its version", "numbers[k] := numbers[k] + 1;", ""),
    _M("hold not released at expiry", "numbers[k] := numbers[k] - permit.amount;", ""),
    _M(
        "expiry ignored",
        "IF earliest <= now_ms THEN\n            FOR permit",
        "IF false THEN\n            FOR permit",
    ),
    _M(
        "expiry a tick late",
        "AND p.due <= now_ms\n            LOOP",
        "AND p.due < now_ms\n            LOOP",
    ),
    _M(
        "expiry misses the window",
        "IF permit.bucket > heads[k] - 16 AND permit.bucket <= heads[k] THEN",
        "IF false THEN",
    ),
    _M(
        "permits stay after they expired",
        "DELETE FROM {schema}.permit AS p WHERE p.key = keys[k] AND p.due <= now_ms;",
        "",
    ),
    _M(
        "next expiry forgotten",
        "dues[k] := (SELECT min(p.due) FROM {schema}.permit AS p WHERE p.key = keys[k]);",
        "dues[k] := NULL;",
    ),
    _M("spend released at expiry", "IF lines[j + 6] = 0 THEN", "IF true THEN"),
    _M(
        "hold lasts as long as its last line",
        "longest := greatest(longest, lines[j + 5]);",
        "longest := lines[j + 5];",
    ),
    _M(
        "double settle in one batch",
        "WHEN hold.due IS NULL OR hold.id = ANY (closed) THEN 1",
        "WHEN hold.due IS NULL THEN 1",
    ),
    _M(
        "double settle",
        "SET at = now_ms, due = NULL, keys = NULL, took = NULL, locks = NULL",
        "SET at = now_ms",
    ),
    _M("double settle by two at once", "IF at <> cardinality(closed) THEN", "IF false THEN"),
    _M(
        "hold taken meanwhile is unknown",
        "IF 3 = ANY (settled) AND EXISTS (",
        "IF false AND EXISTS (",
    ),
    _M(
        "settled at its estimate",
        "correction := actuals[5 * i - 4 + hold.took[at + 3]] - amount;",
        "correction := 0;",
    ),
    _M("settled with another unit", "actuals[5 * i - 4 + hold.took[at + 3]]", "actuals[5 * i - 4]"),
    _M(
        "late settlement is none",
        "WHEN hold.due <= now_ms THEN 2",
        "WHEN hold.due <= now_ms THEN 0",
    ),
    _M(
        "permit given back twice",
        "                    ELSE\n                        correction := 0;",
        "                    ELSE\n                        correction := -amount;",
    ),
    _M(
        "permit of a settled hold expires", "AND p.due = hold.due AND p.id = hold.id;", "AND false;"
    ),
    _M(
        "correction misses the window",
        "IF bucket > heads[k] - 16 AND bucket <= heads[k] THEN",
        "IF false THEN",
    ),
    _M(
        "correction brings a forgotten cell back",
        "IF correction <> 0 AND keeps[k] IS NOT NULL THEN",
        "IF correction <> 0 THEN keeps[k] := coalesce(keeps[k], 1); made[k] := true; making := "
        "true;",
    ),
    _M(
        "window bucket off by one",
        "least(bucket - heads[k], 16) - 1 LOOP",
        "least(bucket - heads[k], 16) - 2 LOOP",
    ),
    _M("window never slides", "IF heads[k] < bucket THEN", "IF false THEN"),
    _M("window counts for ever", "number := lives[k];", "number := numbers[k];"),
    _M(
        "idle cell is not forgotten",
        "AND c.touched + c.keep > now_ms",
        "AND c.touched + c.keep > 0",
    ),
    _M(
        "touched counter forgotten",
        "touched = CASE WHEN u.changed = 2 THEN now_ms ELSE c.touched END,",
        "",
    ),
    _M(
        "correction touches",
        "touched = CASE WHEN u.changed = 2 THEN now_ms ELSE c.touched END,",
        "touched = now_ms,",
    ),
    _M("kept as the first line said", "ELSIF keeps[k] < lines[j + 9] THEN", "ELSIF false THEN"),
    _M(
        "permits of a forgotten cell stay",
        "WHERE p.key = u.key AND u.made;",
        "WHERE p.key = u.key AND false;",
    ),
    _M(
        "clock runs backwards",
        "coalesce(clock, (extract(epoch FROM clock_timestamp()) * 1000)::bigint), floor_ms);",
        "coalesce(clock, (extract(epoch FROM clock_timestamp()) * 1000)::bigint));",
    ),
    _M(
        "clock read before locking",
        "extract(epoch FROM clock_timestamp())",
        "extract(epoch FROM statement_timestamp())",
    ),
    _M(
        "nothing is locked",
        "FOREACH lock_id IN ARRAY locks LOOP",
        "FOREACH lock_id IN ARRAY '{{}}'::bigint[] LOOP",
    ),
    _M(
        "looks are not locked",
        "ELSIF NOT pg_try_advisory_xact_lock_shared(lock_id - 1) THEN",
        "ELSIF false THEN",
    ),
    _M(
        "looks lock each other out",
        "IF lock_id & 1 = 0 THEN",
        "lock_id := lock_id - (lock_id & 1); IF true THEN",
    ),
    _M(
        "cells of settled holds are not locked",
        "IF locks IS NULL OR NOT hold.locks <@ locks THEN",
        "IF false THEN",
    ),
    _M("locks in any order", "AS l ORDER BY l);", "AS l ORDER BY l DESC);"),
)

QUICK: Final = (
    "compare-and-set removed",
    "ceiling ignored",
    "level skipped",
    "hold not released at expiry",
    "double settle",
    "clock read before locking",
    "locks in any order",
)
"""A handful for every test run."""

TRIED: Final = tried(MUTATIONS, QUICK)


def checks(place: Place, empty: Empty) -> Iterator[Check]:
    """Everything that may notice, what notices most and soonest first."""
    yield partial(compare_batches, empty, 0)
    yield partial(compare_forgetting, empty, 0)
    yield partial(locking.test_time_is_read_after_waiting, place)
    yield partial(locking.test_locks_are_taken_in_one_order, place)
    yield partial(locking.test_what_was_written_while_waiting_is_seen, place)
    yield partial(locking.test_the_same_batch_at_once_counts_once, place)
    yield partial(locking.test_the_same_batch_at_once_is_not_stale_by_itself, place)
    yield partial(locking.test_a_hold_is_settled_once_by_many_at_once, place)
    yield partial(locking.test_a_hold_that_is_taken_meanwhile_is_not_unknown, place)
    yield from (partial(locking.test_who_waits_for_whom, *one, place) for one in locking.WHO_WAITS)
    yield partial(test_postgres.test_what_is_idle_is_forgotten_whether_or_not_it_is_swept, place)
    yield partial(test_postgres.test_a_counter_is_kept_for_as_long_as_who_takes_from_it_says, place)
    yield from (partial(case.check, empty.store) for case in CASES)
    yield partial(compare_batches, empty, 1)
    yield partial(compare_forgetting, empty, 1)


def noticed_in(place: Place, source: str, most: int | None = None) -> str:
    """Which of so many checks notices what is wrong with the function, and how; nothing where none
    does."""
    empty = Empty(place)
    place.server.do(source, place.schema)
    found = noticed(checks(place, empty), place.forget, most)
    assert ", code 42" not in found, f"this is no fault but a function that does not run: {found}"
    return found


SOURCE: Final = (
    resources.files("stanchion.stores.postgres").joinpath("carry.sql").read_text("utf-8")
)


@pytest.mark.parametrize("mutation", TRIED, ids=[mutation.name for mutation in TRIED])
def test_a_seeded_fault_is_noticed(mutation: Mutation, place: Place) -> None:
    assert noticed_in(place, seeded(SOURCE, mutation))


def test_without_a_fault_nothing_is_noticed(place: Place) -> None:
    assert noticed_in(place, SOURCE, None if SOAK else 8) == ""


def test_each_fault_still_has_its_place() -> None:
    check_places(SOURCE, MUTATIONS, QUICK)
