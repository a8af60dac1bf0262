"""Loading a shield that is in a broker: what a program asks for besides is said to be the
broker's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stanchion.runtime.options import known
from stanchion.runtime.remote.errors import NotThroughBroker
from stanchion.runtime.remote.shield import RemoteShield
from stanchion.runtime.standing.places import BROKER
from stanchion.telemetry.loggers import POLICY, WARNING, say


def through_broker(path: str, source: Any, options: Mapping[str, Any]) -> Any:
    """The shield at a broker; `NotThroughBroker` for an option that is the broker's to choose, a
    word in the log where a policy was named: the broker has its own."""
    known(options, "env", "journal", "project")
    for name, given in options.items():
        if given is not None:
            raise NotThroughBroker(
                f"`{name}` is chosen by the broker: leave it out, or use a store of your own"
            )
    if source != "default" and not str(source).startswith(BROKER):
        named = source if isinstance(source, str) else "that was handed in"
        say(
            POLICY,
            WARNING,
            f"the policy `{named}` is not in force: the broker at `{path}` uses its own",
        )
    return RemoteShield(path)
