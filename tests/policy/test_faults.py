"""Whose a failure is: by type, by status, by text, in this order, the policy's own entries
first."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.kernel.faults import FAULTS
from stanchion.policy.errors import PolicyError
from stanchion.policy.faults.entry import wrong_in
from stanchion.policy.faults.lookup import HEAD, TAIL, fault_of, shipped
from stanchion.policy.load import load_policy

PLAIN = load_policy({"name": "plain"})


def told(
    error: str = "ToolError", bases: tuple[str, ...] = (), status: int | None = None, text: str = ""
) -> str:
    return fault_of(PLAIN, error, bases, status, text)


@pytest.mark.parametrize(
    ("error", "bases", "status", "text", "fault"),
    [
        ("TimeoutError", (), None, "", "system"),
        ("Custom", ("Middle", "ConnectionError", "OSError"), None, "", "system"),
        ("HTTPError", ("URLError", "OSError"), 404, "", "user"),
        ("HTTPStatusError", (), 503, "", "system"),
        ("APIStatusError", (), 429, "", "system"),
        ("ToolError", (), 409, "", "business"),
        ("ToolError", (), 418, "", "user"),
        ("ToolError", (), 599, "", "system"),
        ("ToolError", (), 302, "", "unknown"),
        ("ToolError", (), 7, "", "unknown"),
        ("ValueError", (), 500, "connection refused", "user"),
        ("KeyError", ("LookupError",), None, "'x'", "unknown"),
        ("ToolError", (), None, "", "unknown"),
        ("ToolError", (), None, "something else", "unknown"),
    ],
)
def test_the_type_decides_then_the_status(
    error: str, bases: tuple[str, ...], status: int | None, text: str, fault: str
) -> None:
    assert told(error, bases, status, text) == fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("500 Internal Server Error", "system"),
        ("HTTP/1.1 502", "system"),
        ("Read timed out. (read timeout=5)", "system"),
        ("[Errno 111] Connection refused", "system"),
        ("getaddrinfo ENOTFOUND api.example.org", "system"),
        ("dd: error writing '/dev/sda': No space left on device", "system"),
        ("Rate limit reached for requests", "system"),
        (
            "Traceback (most recent call last):\n  File x\nConnectionResetError: [Errno 104]",
            "system",
        ),
        ("bash: docker: command not found", "user"),
        ("ls: cannot access '/x': No such file or directory", "user"),
        ("got an unexpected keyword argument 'x'", "user"),
        ("ERROR 404: Not Found.", "user"),
        ("invalid timeout: give a number", "user"),
        ("Account closed", "business"),
        ("Error: not enough seats on flight HAT229", "business"),
        ("Error: gift card balance is not enough", "business"),
        ("order 17 was already cancelled", "business"),
        ("we sold 500 of them", "unknown"),
        ("the door is closed", "unknown"),
        ("", "unknown"),
    ],
)
def test_the_text_decides_last(text: str, fault: str) -> None:
    assert told(text=text) == fault
    assert told(text=text.upper()) == fault or "Error:" in text, "letters may be small or capital"


def test_a_policy_s_own_entries_are_asked_first() -> None:
    own: dict[str, Any] = {
        "types": {"TimeoutError": "user", "Ours": "business", "RateLimitError": "unknown"},
        "status": {"404": "system", "41x": "business", "5xx": "business"},
        "text": [
            {"pattern": "no such file", "fault": "system"},
            {"pattern": "^moon", "fault": "business"},
        ],
    }
    policy = load_policy({"name": "own", "faults": own})
    said = [
        fault_of(policy, "TimeoutError", (), None, ""),
        fault_of(policy, "Child", ("Ours", "TimeoutError"), None, ""),
        fault_of(policy, "RateLimitError", (), 400, ""),
        fault_of(policy, "E", (), 404, ""),
        fault_of(policy, "E", (), 418, ""),
        fault_of(policy, "E", (), 500, ""),
        fault_of(policy, "E", (), 429, ""),
        fault_of(policy, "E", (), None, "No Such File"),
        fault_of(policy, "E", (), None, "moon phase"),
        fault_of(policy, "E", (), None, "connection refused"),
    ]
    assert said == [
        "user", "business", "user", "system", "business", "business", "system", "system",
        "business", "system",
    ]  # fmt: skip
    assert told("TimeoutError") == "system", "one policy's entries are not another's"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"types": {"E": "nobody"}}, "`nobody` is not a value"),
        ({"status": {"4": "user"}}, "`4` is not a status"),
        ({"status": {"6xx": "user"}}, "`6xx` is not a status"),
        ({"text": [{"pattern": "a(?=b)", "fault": "user"}]}, "the pattern is not RE2"),
        ({"text": [{"pattern": "", "fault": "user"}]}, "it matches every text"),
        ({"text": [{"pattern": "a"}]}, "`fault` is missing"),
        ({"texts": []}, "did you mean `text`?"),
    ],
)
def test_what_is_wrong_in_a_policy_is_said(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(PolicyError) as caught:
        load_policy({"name": "wrong", "faults": wrong})
    assert words in str(caught.value)


def test_only_the_ends_of_a_long_text_are_read() -> None:
    filler = "x " * HEAD * TAIL
    assert told(text=f"connection refused {filler}") == "system"
    assert told(text=f"{filler} connection refused") == "system"
    assert told(text=f"{filler} connection refused {filler}") == "unknown"


def test_the_shipped_table_says_something_about_every_class() -> None:
    table = shipped()
    assert not list(wrong_in(table))
    assert {*table.types.values()} == {*FAULTS}
    assert {*table.status.values()} == {"system", "user", "business"}
    assert {entry.fault for entry in table.text} == {"system", "user", "business"}
