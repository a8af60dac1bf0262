"""No text makes the guard slow or ends the process: what is too much is unclear, and the rest costs
what it is long."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

import pytest

from stanchion.kernel.sizes import LIMITS
from stanchion.readings.sql.lexer import STEPS_A_TOKEN, UnreadSql, reader_of, work_of
from stanchion.readings.sql.recognise import classify, is_sql
from tests.guards.sql.shapes import BEGINNINGS, LONG, NESTED, PIECES, long
from tests.guards.steps import steps_of

ROOT: Final = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("shape", NESTED)
@pytest.mark.parametrize("dialect", [None, "bigquery", "mysql"])
def test_deep_texts_are_read_or_unclear(shape: str, dialect: str | None) -> None:
    for depth in (1, 8, LIMITS.query_depth, 500, 3_000):
        found = classify(NESTED[shape](depth), dialect)
        assert all(one.why or one.does < 5 for one in found)


@pytest.mark.parametrize("shape", LONG)
def test_twice_the_length_costs_at_most_twice_the_steps(shape: str) -> None:
    """The parser is compiled and counted elsewhere; these are the steps of the guard's own code."""
    classify(LONG[shape](7), "postgres")
    small, large = (
        steps_of(partial(classify, LONG[shape](size), "postgres")) for size in (60, 120)
    )
    assert large <= 2.2 * small + 50


@pytest.mark.parametrize("shape", LONG)
def test_what_is_too_long_is_not_read(shape: str) -> None:
    text = LONG[shape](LIMITS.query_chars)
    assert len(text) > LIMITS.query_chars
    assert steps_of(lambda: classify(text, "postgres")) < 30
    assert classify(text, "postgres")[0].why == "it is too long to be read"


@pytest.mark.parametrize("read", [classify, is_sql])
def test_a_long_text_that_cannot_be_read_is_tried_in_few_dialects(
    read: Callable[[str], object],
) -> None:
    """It costs about as much as one that can."""
    sums = "+".join(["a"] * 1_100)
    read("select b from")
    good, bad = [steps_of(partial(read, f"select {sums} from{rest}")) for rest in (" b", " where")]
    assert bad <= 1.5 * good


def test_a_short_text_is_tried_in_all_dialects() -> None:
    assert is_sql("SELECT * FROM b QUALIFY ROW_NUMBER() OVER (ORDER BY c) = 1 -- " + "x" * 900)


def test_too_many_words_are_not_parsed() -> None:
    assert (
        classify("SELECT " + "a," * (LIMITS.query_steps // STEPS_A_TOKEN) + "a", "postgres")[0].why
        == "it is too long to be read"
    )


def test_honest_texts_are_far_from_the_limits() -> None:
    query = long(
        "SELECT STRUCT(DATE(a), ARRAY[1, 2, DATE(b)]) FROM t WHERE x IN (", "1", ", ", ")"
    )(500)
    assert not classify(query, "bigquery")[0].why
    rows = long("INSERT INTO t (id, at) VALUES ", "(%, DATE('2024-01-01'))", ", ")(300)
    assert not classify(rows, "postgres")[0].why


DIALECTS: Final = (
    "postgres",
    "mysql",
    "sqlite",
    "tsql",
    "oracle",
    "snowflake",
    "bigquery",
    "duckdb",
    "spark",
)


def drawn(count: int, seed: int) -> list[tuple[str, str]]:
    """Texts of pieces inside each other, few kinds at a time, some of them cut off."""
    random = Random(seed)
    texts = []
    for _ in range(count):
        some = random.sample(PIECES, random.choice((1, 2, 3, len(PIECES))))
        chosen = [random.choice(some) for _ in range(random.randint(3, 31))]
        begins, ends = (
            "".join([one[0] for one in chosen]),
            "".join([one[1] for one in reversed(chosen)]),
        )
        text = f"{random.choice(BEGINNINGS)} {begins}1{ends}"
        texts.append(
            (
                random.choice(DIALECTS),
                text[: random.randint(9, len(text))] if random.random() < 0.3 else text,
            )
        )
    return texts


def counted(texts: list[tuple[str, str]]) -> list[list[int] | None]:
    """The expected work and the parser's steps for each, counted in a process where the parser is
    Python."""
    command = [sys.executable, "-m", "tests.guards.sql.count_steps"]
    place = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    done = subprocess.run(
        command,
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=place,
    )
    answers: list[list[int] | None] = json.loads(done.stdout)
    return answers


def test_the_parser_takes_no_more_steps_than_expected() -> None:
    soak = os.environ.get("STANCHION_SOAK") is not None
    texts = drawn(20_000 if soak else 400, seed=7)
    texts += [
        (dialect, make(size))
        for make in NESTED.values()
        for size in (3, 12, 30)
        for dialect in DIALECTS[:7]
    ]
    texts += [("postgres", make(size)) for make in LONG.values() for size in (20, 200)]
    answers = counted(texts)
    assert sum(answer is not None for answer in answers) > len(texts) / 2
    for text, answer in zip(texts, answers, strict=True):
        if answer is not None:
            work, steps = answer
            assert steps <= 6 * work + 50, text


def test_the_count_sees_what_is_read_again_and_again() -> None:
    """Types inside each other double the parser's steps; the expected work grows faster."""
    texts = [("postgres", NESTED["types"](depth)) for depth in (2, 4)]
    shallow, deep = counted(texts)
    assert shallow is not None
    assert deep is not None
    assert deep[1] > 2.5 * shallow[1]
    reader = reader_of("postgres")
    with pytest.raises(UnreadSql, match="too complicated"):
        work_of(reader.tokens(NESTED["types"](12)), reader.types)
