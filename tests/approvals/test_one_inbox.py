"""Eight processes on one server have one inbox: the same tickets, one answer for all, and each call
starts once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from stanchion.testing import shield_for
from stanchion.testing.operators import operator
from tests.approvals.inbox_worker import POLICY
from tests.stores.servers import Place, place

__all__ = ["place"]

PROCESSES = 8
CALLS = 5
ROOT = Path(__file__).resolve().parents[2]


def told(workers: list[subprocess.Popen[str]]) -> list[list[Any]]:
    """Let all of them take their next phase at once; gives what each says."""
    for one in workers:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    return [json.loads(one.stdout.readline()) for one in workers if one.stdout is not None]


def test_eight_processes_see_one_inbox(place: Place) -> None:
    ann, known = operator("ann")
    shield = shield_for(POLICY, store=place.open(), operators=[known])
    words = [place.server.url, place.schema, known.key, str(CALLS)]
    command = [sys.executable, "-m", "tests.approvals.inbox_worker", *words]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": ROOT}
    workers = [subprocess.Popen(command, **pipes) for _ in range(PROCESSES)]
    try:
        asked = told(workers)
        assert all(one == asked[0] for one in asked)
        assert len(set(asked[0])) == CALLS
        assert {one.generation for one in shield.tickets()} == {1}
        listed = told(workers)
        assert [sorted(one) for one in listed] == [sorted(asked[0])] * PROCESSES
        for ticket in asked[0]:
            shield.approve(ticket, by=ann)
        paid = [amount for each in told(workers) for amount in each]
        assert sorted(paid) == list(range(CALLS))
    finally:
        for one in workers:
            one.kill()
            one.communicate()
