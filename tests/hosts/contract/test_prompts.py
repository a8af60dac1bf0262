"""Prompts that a host shows only among the messages of its requests."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from stanchion import Refused, Shield
from stanchion.hosts import EVERYTHING, Host
from stanchion.hosts.contract.prompts import Prompts
from tests.rules import rule

KEY = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
GONE = "[redacted:github-pat]"
POLICY: dict[str, Any] = {
    "name": "p",
    "guards": [
        {"use": "secrets"},
        rule("no", "prompt", when="event.text == 'no'", action="block"),
    ],
}


def judged(*requests: list[Any]) -> tuple[list[Any], list[str]]:
    """What becomes of requests, one after the other, and which prompts were judged."""
    shield = Shield.load(POLICY, store="memory:", journal="memory:")

    async def play() -> list[Any]:
        async with Host("h", can=EVERYTHING).run(shield, agent="a", task="t") as hosted:
            prompts = Prompts()
            return [await prompts.judged(hosted, messages) for messages in requests]

    came = asyncio.run(play())
    return came, [
        one.stage
        for one in [kept.read() for kept in shield.journal.kept()]
        if one.stage == "prompt"
    ]


def test_what_is_new_is_judged_once_and_read_redacted_every_time() -> None:
    first = [{"role": "user", "content": f"it is {KEY}"}]
    second = [
        *first,
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": [{"text": KEY}, {"image": 1}]},
    ]
    came, events = judged(first, first, second)
    assert came[1] == [{"role": "user", "content": f"it is {GONE}"}]
    assert came[2] == [
        *came[1],
        second[1],
        {"role": "user", "content": [{"text": GONE}, {"image": 1}]},
    ]
    assert len(events) == 2


def test_what_was_said_before_is_no_prompt_and_nothing_is_copied_without_need() -> None:
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "ok"},
        {"type": "result"},
        "odd",
    ]
    came, events = judged(messages)
    assert all(one is other for one, other in zip(came[0], messages, strict=True))
    assert events == []


def test_a_refused_prompt_is_said_in_the_hosts_words() -> None:
    with pytest.raises(Refused):
        judged([{"role": "user", "content": "no"}])
