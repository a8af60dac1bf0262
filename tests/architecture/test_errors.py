"""Whatever Stanchion raises on its own account can be caught by one name."""

from __future__ import annotations

import importlib

import stanchion
from stanchion.audit.errors import AuditLost, TrailError
from stanchion.runtime.sandbox.sandbox import SandboxError
from stanchion.stores.protocol import StoreError
from tools.api import BESIDE


def test_public_errors_are_of_one_family() -> None:
    public = [("stanchion", name) for name in stanchion.__all__]
    public += [(module, name) for module, names in BESIDE.items() for name in names]
    found = [getattr(importlib.import_module(module), name) for module, name in public]
    errors = [one for one in found if isinstance(one, type) and issubclass(one, Exception)]
    assert len(errors) > 10
    errors += [AuditLost, SandboxError, StoreError, TrailError]
    assert [one for one in errors if not issubclass(one, stanchion.StanchionError)] == []
