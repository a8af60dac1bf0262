"""Packs that extend `default` have what it has, or more of it."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import pytest

from stanchion.guards.files.protected import shown_by
from stanchion.kernel.actions import Action
from stanchion.policy.load import load_policy
from stanchion.policy.loosening import loosenings
from stanchion.runtime.shield import Shield

STRICTER: Final = ("strict", "coding-agent", "mcp")
OTHERWISE: Final = {
    "files": {"root", "paths_only", "real_paths", "surroundings"},  # it judges more, from a folder
    "egress": {"internal_hosts", "credentials"},  # programs under work listen on this machine
    "injection": {"model"},  # it warns of more
    "step-limit": {"max_steps"},  # a session of a coding agent goes on for days
}
"""Options whose change is not in itself stricter or looser."""
TOOLS: Final = {"read": "read_file", "write": "write_file", "delete": "delete_file"}
CALLS: Final[list[tuple[str, dict[str, Any]]]] = [
    *[(TOOLS[use], {"path": path}) for _, path, use in shown_by("hit")],
    *[("fetch_url", {"url": f"http://{host}/"}) for host in ("169.254.169.254", "metadata.goog")],
    ("bash", {"command": "curl 169.254.169.254/latest/meta-data/iam"}),
    ("bash", {"command": "cat /etc/shadow"}),
    *[
        ("run_sql", {"sql": text})
        for text in (
            "DROP TABLE users",
            "TRUNCATE users",
            "DELETE FROM users",
            "DROP DATABASE prod",
        )
    ],
]


@cache
def actions(pack: str) -> list[Action]:
    """What a pack answers to the calls, each in a run and of an agent of its own."""
    with Shield.load(pack, store="memory:", journal="memory:") as shield:
        found: list[Action] = []
        for number, (tool, args) in enumerate(CALLS):
            with shield.run(f"ann-{number}", "work") as run:  # an agent asks people so often alone
                found.append(run.check(tool, args).action)
        return found


@pytest.mark.parametrize("pack", STRICTER)
def test_every_guard_of_default_is_in_a_stricter_pack(pack: str) -> None:
    stood = load_policy("default")
    changed = [str(one) for one in loosenings(stood, load_policy(pack))]
    known = [f"guard `{name}`: {option} " for name, of in OTHERWISE.items() for option in of]
    known += ["policy: escalation.dialogs "]  # the yes of a person, for one call
    assert [text for text in changed if not text.startswith(tuple(known))] == []


@pytest.mark.parametrize("pack", STRICTER)
def test_what_default_refuses_a_stricter_pack_refuses(pack: str) -> None:
    weaker = [
        (call, is_.name, was.name)
        for call, was, is_ in zip(CALLS, actions("default"), actions(pack), strict=True)
        if is_ < was
    ]
    assert weaker == []


def test_nobody_touches_what_default_protects() -> None:
    answered = zip(CALLS, actions("default"), strict=True)
    assert [call for call, action in answered if action < Action.ESCALATE] == []
