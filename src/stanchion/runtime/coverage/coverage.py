"""The coverage of a shield: its runs are watched, runs that begin inside them are their children,
and canaries are driven before a run relies on an adapter."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final, Literal, get_args

from stanchion.audit.journal import Fact
from stanchion.kernel.counter_scopes import FLEET
from stanchion.runtime.coverage.hook import REFUSE, install, unwatch, watch
from stanchion.runtime.coverage.sightings import Sightings
from stanchion.runtime.errors import Ungoverned
from stanchion.runtime.standing.veil import tell

CAUGHT, MISSED = "coverage.canary", "coverage.canary_missed"
HOME: Final = "stanchion.hosts.canaries"
"""Where the canaries of all adapters are listed."""


def loaded_adapters() -> frozenset[str]:
    """The adapters whose framework is loaded in this process."""
    found: frozenset[str] = import_module(HOME).loaded()
    return found


def prove(shield: Any, adapters: Sequence[str], refuses: bool) -> None:
    """Drive canaries, and write down which were caught; raises `Ungoverned` where one is not and
    `refuses` says so."""
    home: Any = import_module(HOME)
    missed = []
    for name in adapters:
        came = home.driven(name)
        data = {"adapter": name, "version": came.version}
        what = CAUGHT if came.caught else MISSED
        tell(shield, Fact(shield.clock(), what, f"adapter:{name}", FLEET, why=came.why, data=data))
        if not came.caught:
            missed.append(f"`{name}` ({came.why})")
    if missed and refuses:
        raise Ungoverned(
            f"the adapter {', '.join(missed)} does not catch its canary: install a version that it "
            f"is made for, or "
            "start with coverage `observe`"
        )


Mode = Literal["observe", "refuse"]
MODES: Final = get_args(Mode)

_numbers: Callable[[], int] = itertools.count(1).__next__


class Coverage:
    """Watches the runs of one shield."""

    def __init__(self, shield: Any, mode: Mode, open_runs: Callable[[], tuple[Any, ...]]) -> None:
        if mode not in MODES:
            raise ValueError(f"coverage is `{mode}`: write `observe` or `refuse`, or leave it out")
        self._shield, self.mode, self._open_runs = shield, mode, open_runs
        self._proven: frozenset[str] = frozenset()

    def start(self) -> None:
        """Hear what the process does from now on, and drive the canary of every adapter whose
        framework is loaded by now and was not before; raises `Ungoverned` where one is not caught
        and this shield is to refuse."""
        install(self._open_runs)
        loaded = loaded_adapters() - self._proven
        if loaded:
            self._proven |= loaded
            prove(self._shield, sorted(loaded), self.mode == REFUSE)

    def enter(self, desk: Any) -> None:
        """A run is open from now on."""
        self.start()
        desk.sightings = Sightings(desk, self.mode, _numbers())
        watch(desk)

    def leave(self, desk: Any) -> None:
        """A run has ended."""
        unwatch(desk)
        desk.sightings.leave()

    def parent(self, named: Any) -> Any:
        """Whose child a run is that begins here: of the one that is named, or else of the run
        around the caller."""
        if named is not None:
            return named
        around = [
            run
            for run in self._open_runs()
            if run.desk.shield is self._shield and run.desk.ended is None
        ]
        return around[-1] if around else None


def coverage_of(shield: Any, mode: Mode, open_runs: Callable[[], tuple[Any, ...]]) -> Coverage:
    """Who watches what a shield's runs do; raises `Ungoverned` where it is to refuse, and an
    adapter that is loaded does not catch its canary."""
    made = Coverage(shield, mode, open_runs)
    made.start()
    return made
