"""Whose runs and states a shield's are: the tenant that was named, and what holds where none
was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.tuples import NamedTuple
from stanchion.runtime.errors import NoTenant

TENANT: Final = "STANCHION_TENANT"
DEFAULT: Final = "default"
"""The tenant of everything in a store that one host has for itself."""


class Tenancy(NamedTuple):
    """The tenant that was named, empty where none was, and whether the store is a server that many
    share."""

    named: str = ""
    shared: bool = False

    @property
    def tenant(self) -> str:
        """The tenant; `NoTenant` where a fleet has to name one and did not."""
        if self.named or not self.shared:
            return self.named if self.named else DEFAULT
        raise NoTenant(
            f"the store is a server, which many can share: give the tenant, with `tenant=` where "
            f"the shield is loaded, `--tenant` on the command line, or {TENANT}"
        )

    def of(self, given: str | None) -> str:
        """The tenant that is meant: one that is named now, or this one."""
        return self.tenant if given is None else given


def tenancy_of(given: str | None, environ: Mapping[str, str]) -> Tenancy:
    """The tenant that a program names, or the environment."""
    if given == "":
        raise ValueError("the tenant's name is empty: give one, or leave it out")
    named = environ.get(TENANT, "").strip() if given is None else given
    if named == FLEET:
        raise ValueError(f"`{FLEET}` is not a tenant but the whole fleet: give one tenant")
    return Tenancy(named)
