"""Operators as they may be shown: pinned by a policy or a program, or enrolled in a store."""

from __future__ import annotations

from pathlib import Path

import pytest

from stanchion import Shield
from stanchion.ops.views.people import operators
from stanchion.testing import FakeClock, shield_for
from stanchion.testing.operators import operator
from tests.cli.signing import Signing
from tests.ops.views.shown import KINDS, START, stored

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize("kind", KINDS)
def test_who_is_pinned(kind: str, tmp_path: Path) -> None:
    clock = FakeClock(START)
    known = [operator("bob", "reviewer", agents=(SECRET,))[1], operator("ann")[1]]
    with stored(kind, tmp_path, clock) as kept:
        ann, bob = operators(
            shield_for({"name": "p"}, clock=clock, store=kept, operators=known).authority.known()
        )
    assert (ann.name, ann.pinned, ann.added_by, ann.since_ms) == ("ann", True, "", 0)
    assert (bob.roles, bob.fingerprint[:7]) == (("reviewer",), "SHA256:")
    assert SECRET not in bob.agents[0]


def test_who_is_enrolled(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    signing = Signing(tmp_path).enrolled(path)
    with Shield.load({"name": "bare"}, store=path, journal="memory:") as shield:
        (ann,) = operators(shield.authority.known())
    assert (ann.name, ann.key, ann.pinned, ann.added_by) == ("ann", signing.public.line, False, "")
    assert ann.since_ms > 0
