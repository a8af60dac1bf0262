"""What scans for a pack, and what it looks for."""

from __future__ import annotations

from typing import Any

from stanchion.guards.pii import Pii
from stanchion.guards.pii.finder import EntityFinder as Shapes
from stanchion.guards.pii.reader import chosen
from stanchion.guards.secrets import Secrets
from stanchion.guards.secrets.finder import Sought as Kinds, finder
from stanchion.kernel.events import RunInfo
from stanchion.kernel.stages import Stage
from stanchion.policy.compiled import CompiledPolicy
from stanchion.readings.scan import Scanner
from stanchion.runtime.operating.admission import first_policy
from stanchion.runtime.people.authority import NO_TRUST
from stanchion_lab.bench.packs.hand import Sought


def policy_of(source: str | dict[str, Any]) -> CompiledPolicy:
    """The compiled form of a pack."""
    return first_policy(source, None, NO_TRUST)


def choose(source: str | dict[str, Any]) -> Scanner:
    """Let shields that are loaded for this policy from now on scan anew; gives what they scan with.

    Guards that look for the same share what scans for it in a process: it is made anew, and kept by
    the guards that were made before.
    """
    guard = _guard(source, Secrets)
    finder.cache_clear()
    return finder(Kinds(guard.kinds, guard.without, ())).scanner


def sought(source: str | dict[str, Any], scanner: Scanner) -> list[Sought]:
    """What a pack's guards look for in texts, as plain patterns: secrets one by one, personal data
    in one of shapes."""
    found = []
    for pattern in scanner.patterns:
        words = () if pattern.head is None else tuple(sorted(pattern.head.literals))
        found.append(Sought(pattern.text, words))
    pii = _guard(source, Pii)
    shapes = Shapes(chosen(pii.entities, pii.without)).sieve.pattern.decode()
    return [*found, Sought(shapes, ())]


def _guard(source: str | dict[str, Any], kind: type[Any]) -> Any:
    seats = policy_of(source).seated(Stage.TOOL_RESULT, "bash", RunInfo("r1"))
    return next(seat.placed.guard for seat in seats if isinstance(seat.placed.guard, kind))
