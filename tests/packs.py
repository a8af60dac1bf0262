"""Packs are loaded once for all tests that only ask what they say of a call."""

import itertools
from functools import cache
from typing import Final

from stanchion import Run, Shield
from stanchion.testing import shield_for

TENANTS: Final = itertools.count()


@cache
def _loaded(pack: str) -> Shield:
    return shield_for({"name": "p", "extends": pack})


def new_run(pack: str = "default") -> Run:
    """A run under a pack, of a tenant that has done nothing before."""
    return _loaded(pack).run("ann", tenant=f"tenant-{next(TENANTS)}")
