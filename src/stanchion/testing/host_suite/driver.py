"""What an adapter gives to the suite: how scenes are played in its framework, and what is out of
its host's reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from stanchion.testing.host_suite.scene import Ended, Scene


class Driver(msgspec.Struct, frozen=True):
    """How one adapter plays scenes.

    - `name` is the adapter's module under `stanchion.hosts`;
    - `host` is its `Host`: the suite reads `pause` and `stream` from it, and holds it to what it
      says;
    - `play` plays a scene under the adapter, in the framework itself with a stub model that calls
      `scene.ask`;
    - `where` is where this driver can be imported from, `module:NAME`, so that another process can
      go on;
    - `ways` are `sync` and `async`, where the host has both;
    - `beyond` names, for each behaviour that is out of the host's reach, the test in the adapter's
      file that shows it.
    """

    name: str
    host: Any
    play: Callable[[Scene], Ended]
    where: str
    ways: tuple[str, ...] = ("sync", "async")
    beyond: Mapping[str, str] = {}
