"""Behaviours of streamed replies."""

from __future__ import annotations

from typing import Final

from stanchion.testing.host_suite.expecting import same
from stanchion.testing.host_suite.script import script
from stanchion.testing.host_suite.table import Table
from stanchion.testing.host_suite.tools import KEY

SAID: Final = f"The key of ann is {KEY}, as you have asked."
HIDDEN: Final = "The key of ann is [redacted:github-pat], as you have asked."


def stream(table: Table) -> None:
    """A secret that comes in pieces is redacted before anybody sees one of them; a host that cannot
    do that streams nothing at all."""
    seen = table.play({"name": "s", "guards": [{"use": "secrets"}]}, script(SAID), streams=True)
    said = "".join(seen.pieces)
    for part in (KEY, KEY[:20], KEY[20:]):
        assert part not in seen.everything, "a part of the secret was streamed"
    if table.driver.host.stream == "none":
        same(said, "")
        assert seen.raised, "the host streams nothing: whoever asks for a stream has to be told"
        return
    same((seen.raised, said), ("", HIDDEN))
    if table.driver.host.stream == "chunk":
        assert len(seen.pieces) > 2, f"the host streams chunks, and gave {len(seen.pieces)}"
