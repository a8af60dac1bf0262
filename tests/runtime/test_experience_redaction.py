"""What is kept of an outcome has no secrets: in no part of it, and however large it was."""

from __future__ import annotations

import base64
import random
import time
from typing import Any

import pytest
from hypothesis import given, strategies as st

from stanchion.experience.bounded import CUT
from stanchion.experience.incident import Incident
from stanchion.runtime.learning.redacted import (
    MOST_HIDDEN,
    SECRET,
    WIDEST,
    closed,
    everywhere,
    hidden_in,
    hiding,
    window,
    windowed,
)
from stanchion.runtime.learning.shelves import shelf_of
from stanchion.testing import shield_for

TOKEN = "ghp_" + "Z9y8X7w6V5u4T3s2R1q0P9o8N7m6L5k4J3i2"
WORD = "hunter2plainword"
PERSISTENT = {"name": "x", "experience": {"tier": "persistent"}}


def kept(tool: str, error: Any, args: dict[str, Any], task: str = "", guards: Any = ()) -> Incident:
    """What the store has of a failure."""
    with shield_for({**PERSISTENT, "guards": [*guards]}) as shield:
        shield.run("a", task).error(tool, error, args=args)
        assert shield.experience.flush()
        (one,) = shelf_of(shield.store).newest("default", "", 10)
    return one


@pytest.mark.parametrize("guards", [(), ({"use": "secrets"},)], ids=["no guard", "secrets"])
def test_hints_and_names_are_redacted_whatever_the_policy_has(guards: Any) -> None:
    one = kept(TOKEN, ValueError("no"), {}, f"use {TOKEN}, the password is {WORD}", guards)
    assert TOKEN not in str(one)
    assert WORD not in str(one)
    assert one.context_hint.startswith("use [github-pat-")
    assert one.tool_name.startswith("[github-pat-")


@pytest.mark.parametrize(
    ("error", "args", "task"),
    [
        (ValueError(f"login {WORD} was refused"), {"password": WORD}, ""),
        (ValueError(f"login {WORD[:12]}"), {"password": WORD}, ""),
        (f"wrong login: {WORD}", {"password": WORD}, ""),
        (ValueError("no"), {"password": WORD, "command": f"login -p{WORD} now"}, ""),
        (ValueError("no"), {"password": WORD}, f"log in with {WORD}"),
        (
            ValueError(f"the password is {WORD}"),
            {"words": ["log", "in", WORD]},
            f"log in with {WORD}",
        ),
        (ValueError("no"), {"q": WORD}, f"the password is {WORD}"),
        (ValueError("login 83921746"), {"private_key": 83921746, "again": 83921746}, ""),
        (ValueError("login 83921746"), {"credentials": {"password": ["83921746"]}}, ""),
    ],
)
def test_what_is_redacted_in_one_part_is_redacted_in_all(
    error: Any, args: dict[str, Any], task: str
) -> None:
    said = str(kept("login", error, args, task))
    assert WORD[:12] not in said
    assert "83921746" not in said


def test_a_short_secret_is_hidden_as_a_word_and_not_inside_of_others() -> None:
    one = kept("login", ValueError("test failed at the latest try"), {"password": "test"})
    assert one.error_reason == "ValueError: [redacted] failed at the latest try"


def test_what_has_no_secrets_is_kept_as_it_is() -> None:
    one = kept(
        "search",
        ValueError("no [such] page"),
        {"q": "a [b] c", "n": [1, 2.5, None, True]},
        "find [it]",
    )
    assert (one.error_reason, one.context_hint) == ("ValueError: no [such] page", "find [it]")
    assert one.call_data == '{"n":[1,2.5,null,true],"q":"a [b] c"}'


@pytest.mark.parametrize("where", ["argument", "error", "task", "many"])
def test_what_is_large_is_cut_before_it_is_redacted(where: str) -> None:
    large = "a" * 1_000_000
    drawn: dict[str, dict[str, Any]] = {
        "argument": {"x": large},
        "many": {"x": [large[:9_000]] * 300},
    }
    args = drawn.get(where, {})
    before = time.process_time()
    kept(
        "t", ValueError(large if where == "error" else "no"), args, large if where == "task" else ""
    )
    assert time.process_time() - before < 5, "it was 12 seconds, and is a fraction of one"


def pem(length: int) -> str:
    """A private key of a length, as it stands in a file."""
    body = base64.b64encode(random.Random(7).randbytes(length)).decode()[: length - 54]
    return f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----"


@pytest.mark.parametrize("seen", [5, 12, 20, 30, 39, 40, 41])
def test_no_secret_is_cut_in_half(seen: int) -> None:
    """So much is hidden before a secret at the end of a window that the end comes into what is
    kept."""
    keys = f"{pem(3_000)}\n{pem(3_000)}\n"
    text = keys + pem(WIDEST - seen - len(keys) - 1) + "\n" + TOKEN + " and more"
    assert text[:WIDEST].endswith(TOKEN[:seen] + " and more"[: max(0, seen - len(TOKEN))])
    one = kept("t", ValueError(text), {"x": text}, text)
    assert TOKEN[:5] not in str(one)


def test_windows_hold_what_is_kept_and_no_more() -> None:
    assert windowed({"b": 1, "a": ["x", (2.5, None)]}) == {"a": ["x", [2.5, None]], "b": 1}
    assert closed(window("x" * WIDEST)) == "x" * WIDEST
    assert closed(window("x" * (WIDEST + 1))) == "x" * (WIDEST - SECRET) + CUT
    deep: Any = 1
    for _ in range(3_000):
        deep = [deep]
    assert CUT in str(windowed({"x": deep}))


def test_where_too_much_is_hidden_texts_beside_it_are_withheld() -> None:
    hide = hiding([f"secret number {number}" for number in range(MOST_HIDDEN + 1)])
    assert (hide("anything"), hide("")) == ("[withheld]", "")


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="[]"), max_size=12)


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=4), TEXTS)
def test_what_signs_stand_for_is_hidden_in_the_text_itself(
    parts: list[tuple[str, str]], end: str
) -> None:
    """However a text was redacted, what is found to be hidden covers all that is not shown."""
    raw = "".join([f"{plain}{secret}" for plain, secret in parts]) + end
    shown = "".join([f"{plain}[redacted]" for plain, _ in parts]) + end
    found = "".join(hidden_in(raw, shown))
    assert len(found) >= len(raw) - len(shown.replace("[redacted]", "")) or raw == shown


def test_every_text_is_hidden_names_included() -> None:
    hide = hiding(["abcdefghi", "123456789"])
    assert everywhere({"x abcdefghi": ["abcdefghi", 123456789, True, None]}, hide) == {
        "x [redacted]": ["[redacted]", "[redacted]", True, None]
    }
