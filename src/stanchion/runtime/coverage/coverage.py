"""The coverage of a shield: its runs are watched, runs that begin inside them are their children,
and canaries are driven before a run relies on an adapter."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Final, Literal, get_args

from stanchion.runtime.coverage.canaries import loaded_adapters, prove
from stanchion.runtime.coverage.hook import REFUSE, install, unwatch, watch
from stanchion.runtime.coverage.sightings import Sightings

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
