"""Boot canaries: each adapter whose framework is loaded has a call refused that must not run.

Adapters stand on the runtime, so the runtime does not import them: it knows where their canaries
are.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

from stanchion.audit.journal import Fact
from stanchion.kernel.scopes import FLEET
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
