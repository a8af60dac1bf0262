"""The script that carries a batch out on the server, and the name under which the server remembers
it."""

from __future__ import annotations

from hashlib import sha1
from importlib import resources
from typing import Final

SETTINGS: Final = "local REMEMBER_MS, LAPSED_MS, WAITS = '3600000', '604800000', false"


class Script:
    """A script's text with this store's settings in it, and its hash."""

    def __init__(self, text: str, remember_s: int, waits: bool) -> None:
        settings = (
            f"local REMEMBER_MS, LAPSED_MS, WAITS = '{remember_s * 1000}', '604800000', "
            f"{str(waits).lower()}"
        )
        self.text: Final = text.replace(SETTINGS, settings).encode()
        self.hash: Final = sha1(self.text, usedforsecurity=False).hexdigest().encode()


def source() -> str:
    """The script as it is written."""
    return resources.files("stanchion.stores.redis").joinpath("batch.lua").read_text("utf-8")
