"""One run: what the door sees is compared with what was judged, by whichever process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield
from stanchion.audit.reader import TrailReader
from stanchion.audit.trail import Trail
from stanchion.ops.views.coverage import coverage
from stanchion.testing import shield_for
from tests.runtime.coverage.doing import facts
from tests.runtime.door.opened import Opened, opened, said


def _here(strict: bool, trail: Path | None = None) -> Shield:
    policy = {"name": "door", "door": {"strict": strict}, "guards": [{"use": "egress"}]}
    options: dict[str, Any] = {} if trail is None else {"journal": Trail(trail)}
    return shield_for(policy, resolver=lambda *_: ["93.184.216.34"], **options)


def _ask(at: Opened, host: str) -> None:
    """Ask for a host that is not there: it is judged before it is connected to."""
    said(at.http, f"GET http://{host}:0/ HTTP/1.1\r\nHost: {host}:0\r\n\r\n".encode(), ends=True)


def _asks(at: Opened, host: str) -> list[str]:
    """What is decided about such a request."""
    before = len(at.decided)
    _ask(at, host)
    return at.decided[before:]


NAMING: dict[str, tuple[str, dict[str, Any], bool]] = {
    "a URL": ("fetch", {"url": "https://named.test/a"}, True),
    "a command": ("bash", {"command": "git clone https://named.test/a.git"}, True),
    "another spelling": ("fetch", {"url": "https://NAMED.test./a"}, True),
    "another host": ("fetch", {"url": "https://other.test/"}, False),
    "a name in a text": ("note", {"content": "see named.test"}, False),
    "a name under it": ("fetch", {"url": "https://a.named.test/"}, False),
}


@pytest.mark.parametrize("what", NAMING)
def test_in_strict_only_what_a_judged_call_has_named_is_reached(what: str) -> None:
    tool, args, named = NAMING[what]
    with opened(here=_here(True)) as at:
        at.run.check(tool, args)
        decided = _asks(at, "named.test")
        assert ("door.unjudged" in decided) is not named
        told = facts(at.shield.journal)
        assert [fact.data["name"] for fact in told] == ([] if named else ["named.test"])
        assert all(fact.data["stopped"] for fact in told)


def test_what_a_refused_call_has_named_is_not_reached() -> None:
    with opened(here=_here(True)) as at:
        assert not at.run.check("fetch", {"url": "http://user:word@named.test/"}).proceeds
        assert "door.unjudged" in _asks(at, "named.test")


def test_what_nobody_judged_is_told_of_once_and_goes_on() -> None:
    with opened(here=_here(False)) as at:
        _asks(at, "early.test")
        at.run.check("fetch", {"url": "https://named.test/"})
        for host in ("named.test", "hidden.test", "hidden.test", "early.test"):
            assert "door.unjudged" not in _asks(at, host)
        told = facts(at.shield.journal)
        assert [fact.data["name"] for fact in told] == ["hidden.test"]


def test_what_another_process_has_judged_counts_and_coverage_names_the_rest(
    tmp_path: Path,
) -> None:
    """A run below this one, with a trail of its own process in the same folder."""
    first, second = _here(True, tmp_path), _here(True, tmp_path)
    with opened(here=first) as at:
        other = second.run("hook", id="claude-1")
        other.check("fetch", {"url": "https://stranger.test/"})
        child = at.run.spawn("hook")
        child.check("fetch", {"url": "https://named.test/"})
        _ask(at, "named.test")
        _ask(at, "stranger.test")
        run = at.run.id
    first.close()
    second.close()
    found = coverage(TrailReader(tmp_path).backwards(), run)
    assert [(one.name, one.told_by, one.stopped) for one in found.escaped] == [
        ("stranger.test", "door", True)
    ]
