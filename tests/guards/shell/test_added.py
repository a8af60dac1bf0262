"""A policy tells of programs of its own, by the words of the table."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion import Shield
from stanchion.kernel.actions import Action
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import load_policy

ACME = {
    "risks": {
        "deletes a customer": ["** customer delete|erase"],
        "sends a letter to everybody": [
            {"words": "letter send", "flags": "--all", "loss": "changed"}
        ],
        "writes over the books": [{"touches": "targets=*/books/*", "loss": "changed"}],
    },
    "hits": [
        "acmectl --region eu customer delete 7",
        "acmectl letter send --all",
        "acmectl customer list > /srv/books/2026.csv",
    ],
    "misses": [
        "acmectl customer list > /srv/letters/all.csv",
        "acmectl letter send --to ann",
        "acmectl letter send --help",
    ],
}


def _policy(programs: dict[str, Any]) -> dict[str, Any]:
    guards = [{"use": "shell", "programs": programs}]
    return {"name": "acme", "version": 1, "guards": guards}


@pytest.mark.parametrize(
    ("command", "action"),
    [
        ("acmectl customer delete 7", Action.BLOCK),
        ("sudo /opt/acme/bin/ACMECTL customer erase 7", Action.BLOCK),
        ("x=customer; echo 7 | xargs acme $x delete", Action.BLOCK),
        ("acmectl letter send --all", Action.ESCALATE),
        ("acmectl customer show 7", Action.ALLOW),
        ("git status --force-delete", Action.ALLOW),
        ("git --no-pager oops all", Action.BLOCK),
        ("git push --mirror", Action.BLOCK),
        ("some-editor --run 'acmectl customer delete 7'", Action.ESCALATE),
    ],
)
def test_own_programs_are_judged_and_nothing_is_taken_away(command: str, action: Action) -> None:
    own = {"acmectl acme": ACME, "git": {"risks": {"loses all": ["oops"]}}}
    with Shield(load_policy(_policy(own))) as shield, shield.run() as run:
        assert run.check("bash", {"command": command}).action == action


def test_two_policies_of_one_process_know_their_own_programs() -> None:
    with Shield(load_policy(_policy({"acmectl": ACME}))) as knows, knows.run() as run:
        assert not run.check("bash", {"command": "acmectl letter send --all"}).proceeds
    plain = {"name": "plain", "version": 1, "guards": [{"use": "shell"}]}
    with Shield(load_policy(plain)) as other, other.run() as run:
        assert run.check("bash", {"command": "acmectl letter send --all"}).proceeds


@pytest.mark.parametrize(
    ("programs", "said"),
    [
        ({"x": {"risks": {"w": ["a"]}, "hits": ["x b"]}}, "no row holds"),
        ({"x": {"risks": {"w": ["a"]}, "misses": ["x a"]}}, "a row holds"),
        ({"x": {"risks": {"w": [{"is": "nonsense"}]}}}, "nothing answers"),
        ({"x": {"risks": {"w": [{"touches": "moves=/srv/*"}]}}}, "says no use of files"),
        ({"x": {"risks": {"w": [{"touches": "writes=@nowhere"}]}}}, "places behind `@`"),
        ({"x": {"risks": {"w": [{"family": "nonsense"}]}}}, "there is no family"),
        ({"x": {"risks": {"w": [{"nonsense": "a"}]}}}, "nonsense"),
        ({">": {"risks": {"w": ["a"]}}}, "names of programs"),
    ],
)
def test_what_nobody_could_follow_is_no_policy(programs: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        load_policy(_policy(programs))
