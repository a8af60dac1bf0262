"""Learning: what was reached is written as a policy that lets that through, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stanchion.policy.load import load_policy
from stanchion.policy.schema import id_of
from stanchion.runtime.door.listeners import DoorError, ports
from stanchion.testing import shield_for
from tests.hosts.http.servers import serving
from tests.runtime.door.opened import Opened, opened, said


def _get(at: Opened, place: str) -> bytes:
    head = f"GET http://{place}/ HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n"
    return said(at.http, head.encode())


def _egress(file: Path) -> Any:
    (found,) = [one for one in load_policy(file).file.guards if id_of(one) == "egress"]
    return found


@pytest.mark.parametrize("mode", ["enforce", "shadow"])
def test_what_was_reached_is_a_policy_that_lets_it_through(mode: str, tmp_path: Path) -> None:
    """Where a policy only tells, that is everything; elsewhere the rest stands there as refused."""
    with serving() as server:
        place, other = f"public.test:{server.port}", f"other.test:{server.port}"
        guards = [{"use": "egress", "allowed_hosts": [place], "internal_hosts": [place]}]
        policy = {"name": "one", "mode": mode, "guards": guards}
        here = shield_for(policy, resolver=lambda *_: ["127.0.0.1"])
        with opened(here=here) as at:
            for one in (place, other, place):
                _get(at, one)
            learned = at.door.learned("default")
    file = tmp_path / "learned.yaml"
    file.write_text(learned)
    guard = _egress(file)
    reached = [other, place] if mode == "shadow" else [place]
    assert list(guard.allowed_hosts) == list(guard.internal_hosts) == reached
    assert list(guard.methods) == ["GET"]
    assert f'"{place}"  # GET 2' in learned
    assert (f"{other} (egress.not_allowed)" in learned) is (mode == "enforce")


def test_nothing_reached_is_a_policy_that_lets_nothing_through(tmp_path: Path) -> None:
    with opened() as at:
        file = tmp_path / "learned.yaml"
        file.write_text(at.door.learned("default"))
    guard = _egress(file)
    assert guard.allowed_hosts == ()


def test_there_are_only_so_many_local_doors() -> None:
    assert ports(2)[4:] == [(3130, True), (3131, True), (443, True), (80, True)]
    with pytest.raises(DoorError, match="there may be 64"):
        ports(65)
