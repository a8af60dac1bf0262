"""The two engines a scanner can have, chosen as an installation chooses them, and what they look
for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from stanchion.guards.pii import Pii
from stanchion.guards.pii.finder import EntityFinder as Shapes
from stanchion.guards.pii.reader import chosen
from stanchion.guards.secrets import Secrets
from stanchion.guards.secrets.finder import Sought as Kinds, finder
from stanchion.kernel.events import RunInfo
from stanchion.kernel.stages import Stage
from stanchion.policy.compiled import CompiledPolicy
from stanchion.readings.scan import Scanner
from stanchion.readings.scan.hyper import installed
from stanchion.readings.scan.scanner import LONG
from stanchion.runtime.operating.admission import first_policy
from stanchion.runtime.people.authority import NO_TRUST
from stanchion_lab.bench.packs.hand import Sought

CORE: Final = "core"
HYPERSCAN: Final = "Hyperscan"


class Forgetful:
    """Keeps nothing and makes nothing beside: an installation without Hyperscan, which stays with
    RE2."""

    def get(self, _name: str, /) -> bytes | None:
        """Nothing was kept."""
        return None

    def put(self, _name: str, _made: bytes, /) -> None:
        """It is forgotten."""

    def later(self, _work: Callable[[], None], /) -> None:
        """It is never done."""


class AtOnce(Forgetful):
    """Does at once what is otherwise done beside: an installation that has compiled its patterns
    before."""

    def later(self, work: Callable[[], None], /) -> None:
        """Do it."""
        work()


def engines() -> list[str]:
    """The engines that can be measured here."""
    return [CORE, HYPERSCAN] if installed() else [CORE]


def policy_of(source: str | dict[str, Any]) -> CompiledPolicy:
    """The compiled form of a pack."""
    return first_policy(source, None, NO_TRUST)


def choose(source: str | dict[str, Any], engine: str) -> Scanner:
    """Let shields that are loaded for this policy from now on scan by that engine; gives what they
    scan with.

    Guards that look for the same share what scans for it in a process: it is made anew, and kept by
    the guards that were made before.
    """
    guard = _guard(source, Secrets)
    finder.cache_clear()
    made = finder(Kinds(guard.kinds, guard.without, ()))
    made.use(AtOnce() if engine == HYPERSCAN else Forgetful())
    made.scanner.scan("x" * LONG)
    if made.scanner.engine != ("hyperscan" if engine == HYPERSCAN else "re2"):
        raise AssertionError(f"the scanner is `{made.scanner.engine}`, not {engine}")
    return made.scanner


def sought(source: str | dict[str, Any], scanner: Scanner) -> list[Sought]:
    """What a pack's guards look for in texts, as plain patterns: secrets one by one, personal data
    in one of shapes."""
    found = []
    for pattern in scanner.patterns:
        words = () if pattern.head is None else tuple(sorted(pattern.head.literals))
        found.append(Sought(pattern.text, pattern.sieved, words))
    pii = _guard(source, Pii)
    shapes = Shapes(chosen(pii.entities, pii.without)).sieve.pattern.decode()
    return [*found, Sought(shapes, shapes, ())]


def _guard(source: str | dict[str, Any], kind: type[Any]) -> Any:
    seats = policy_of(source).seated(Stage.TOOL_RESULT, "bash", RunInfo("r1"))
    return next(seat.placed.guard for seat in seats if isinstance(seat.placed.guard, kind))
