"""A policy that a command is given, the one that is `found` included, and lines that say what it is
made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from stanchion.cli.policy_trust import ProjectTrust
from stanchion.cli.terminal import Terminal, visible
from stanchion.cli.trouble import BadInput
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.errors import PolicyError
from stanchion.policy.found import FoundPolicy, find_policy
from stanchion.policy.load import load_policy
from stanchion.policy.whereabouts import FOUND


class Given(NamedTuple):
    """A policy, and what it was found in where it was found."""

    policy: CompiledPolicy
    found: FoundPolicy | None = None


def given(name: str, env: str | None) -> Given:
    """The policy of a name: a file, a pack, or what is found around the working directory."""
    if name != FOUND:
        return Given(load_policy(name, env))
    found = find_policy(env=env, trusts=ProjectTrust().trusts)
    return Given(found.policy(), found)


def load_given(name: str) -> CompiledPolicy:
    """The policy of a name; `BadInput` with all its faults where it has any."""
    try:
        return given(name, None).policy
    except PolicyError as error:
        raise BadInput(*map(str, error.faults)) from None


def found_data(found: FoundPolicy) -> dict[str, Any]:
    """What a found policy is made of, for programs."""
    files = [
        {
            "file": str(one.file),
            "hash": one.hash,
            "trusted": one.trusted,
            "left_out": [str(o) for o in one.left_out],
        }
        for one in found.files
    ]
    return {"base": found.base, "files": files}


def found_lines(found: FoundPolicy, terminal: Terminal) -> Iterator[str]:
    """The same for people."""
    yield f"  {visible(found.base)}"
    for one in found.files:
        style, said = (
            ("good", "trusted") if one.trusted else ("mild", "not trusted: it only tightens")
        )
        yield f"  {visible(str(one.file))}  {terminal.paint(said, style)}"
        yield f"      {terminal.paint(f'hash {one.hash}', 'dim')}"
        for loosening in one.left_out:
            yield f"      {terminal.paint('left out', 'mild')}  {visible(str(loosening))}"
