"""An operator for tests of commands: enrolled in a store, with a key in a file that is
encrypted."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from stanchion import Shield
from stanchion.approvals.keys import make_key_file
from stanchion.approvals.operators import RECORD, Operator, RosterChange
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.state import Batch, When

WORDS = b"correct horse battery"


class Signing:
    """Somebody who signs with `--key`; everything they do in a test is `ann`'s."""

    def __init__(self, folder: Path, name: str = "ann", agents: tuple[str, ...] = ()) -> None:
        self.name = name
        self.agents = agents
        self.path = folder / f"key-of-{name}"
        self.public = make_key_file(self.path, WORDS, name)

    def enrolled(self, store: str | Path, tenant: str | None = None) -> Signing:
        """The same, as the first operator of a store."""
        with Shield.load({"name": "bare"}, store=store, journal="memory:", tenant=tenant) as shield:
            known = Operator(name=self.name, key=self.public.line, agents=self.agents)
            first = RosterChange(kind="add", operator=known, at=shield.clock())
            put = (RECORD, [msgspec.to_builtins(first)], When.JUDGED, 0, 0)
            shield.store.carry(Batch(f"first-{self.name}-{store}", FLEET, True, puts=(put,)))
        return self

    def words(self) -> list[str]:
        """The options for one command, which reads the passphrase from a pipe."""
        reading, writing = os.pipe()
        os.write(writing, WORDS + b"\n")
        os.close(writing)
        return ["--key", str(self.path), "--passphrase-fd", str(reading)]
