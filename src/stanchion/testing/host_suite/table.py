"""Where scenes are set and played, and what was seen is written down."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from stanchion import typed
from stanchion.runtime.shield import Shield
from stanchion.testing.host_suite.scene import Driver, Ended, FailingClock, Scene, Seen, Turn
from stanchion.testing.shields import shield_for

ANOTHER = "stanchion.testing.host_suite.another_process"
LONGEST_S = 120


class HostTable:
    """Plays scenes with one driver, one way."""

    def __init__(self, driver: Driver, way: str, folder: Path) -> None:
        self.driver, self.way, self.folder = driver, way, folder
        self.clock = FailingClock()
        self.shield: Shield | None = None
        self._scenes = 0

    def play(
        self,
        policy: dict[str, Any],
        turns: Iterable[Turn],
        *,
        guards: Iterable[Any] = (),
        streams: bool = False,
        others: tuple[str, ...] = (),
        watch: Callable[[], None] | None = None,
    ) -> Seen:
        """Play one scene from its beginning, on a new shield."""
        self.clock = FailingClock()
        self.shield = shield_for(policy, clock=self.clock, guards=guards)
        self._scenes += 1
        folder = self.folder / f"scene-{self._scenes}"
        folder.mkdir()
        scene = Scene(
            self.shield, turns, self.way, folder, streams=streams, others=others, watch=watch
        )
        return played(self.driver, scene)

    def used(self, measure: str) -> int:
        """What the budgets of the scene have counted."""
        assert self.shield is not None
        self.clock.broken = False
        return sum([one.number for one in self.shield.store.look() if f":{measure}:" in one.key])

    def go_on(self, given: dict[str, Any]) -> Seen:
        """Play a scene on in another process, which loads the driver from where it is."""
        given = {"driver": self.driver.where, "way": self.way, "folder": str(self.folder), **given}
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([one for one in sys.path if one]),
        }
        done = subprocess.run(
            [sys.executable, "-m", ANOTHER],
            input=json.dumps(given),
            env=environment,
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return typed.decode(done.stdout.splitlines()[-1], Seen)


def played(driver: Driver, scene: Scene) -> Seen:
    """What is seen of a scene as a driver plays it; what its host raises is part of that."""
    raised = ""
    try:
        ended = driver.play(scene)
    except Exception as error:  # noqa: BLE001 - whatever comes out of the host is judged by the suite
        ended, raised = Ended(), "".join(traceback.format_exception(error))
    pieces = tuple([str(one) for one in ended.pieces])
    return Seen(
        scene.ran,
        scene.asked,
        str(ended.answer),
        pieces,
        ended.state,
        raised,
        decided(scene.shield),
    )


def decided(shield: Shield) -> list[tuple[str, str, str]]:
    """The decisions of a shield: stage, tool or agent, action."""
    kept = [one.read() for one in shield.journal.kept()]
    return [
        (one.stage, one.tool if one.tool else str(one.beside.get("to", "")), one.action)
        for one in kept
    ]
