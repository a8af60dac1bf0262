"""A hostile program in a contained run: what it reaches is what the page says, and behind walls of
namespaces it is nothing."""

from __future__ import annotations

import os
import subprocess

import pytest

from stanchion.runtime.sandbox.contained import NEEDED
from stanchion.runtime.sandbox.sandbox import Wall, WallKind
from tests.runtime.contained.found import APART, WHO, kept, reached
from tests.runtime.contained.hostile import TRIES
from tests.runtime.sandbox.conftest import lacking


def unable() -> str:
    """Why nobody can be hostile here; empty where somebody can."""
    if os.getuid() != 0:
        return "only root can make a network with hosts in it"
    made = subprocess.run([*APART, "ip", "link"], capture_output=True, check=False)
    return "" if made.returncode == 0 else "there is no network to be made here"


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("kind", list(WallKind))
def test_nothing_is_reached_but_what_the_page_says(kind: WallKind, who: str) -> None:
    if why := unable() or lacking(kind):
        pytest.skip(why)
    got, said = reached(kind, who)
    assert got == kept()[kind][who]
    assert said["tried"] == sum(map(len, TRIES.values()))
    assert said["status"] == 0
    if Wall.NETWORK in said["walls"]:
        assert not got
        assert not said["changed"]
        assert set(NEEDED) <= set(said["walls"])


def test_the_page_tells_of_every_kind() -> None:
    found = kept()
    assert {kind: sorted(of_kind) for kind, of_kind in found.items()} == {
        kind: sorted(WHO) for kind in WallKind
    }
    names = {name for tries in TRIES.values() for name in tries}
    assert all(set(got) <= names for of_kind in found.values() for got in of_kind.values())
    assert found[WallKind.LANDLOCK]["user"], "it cannot hold a network"
    assert not any(found[WallKind.NAMESPACES].values())
    assert not any(found[WallKind.BUBBLEWRAP].values())
