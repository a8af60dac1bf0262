"""A lock that another process has, and how often somebody here has asked for it."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from stanchion.locks import files as file_lock


class Held:
    """A file that is locked until `let_go`. `asked` is set when somebody has waited for it so many
    times."""

    def __init__(self, file: Path, monkeypatch: pytest.MonkeyPatch, times: int = 1) -> None:
        self.asked = threading.Event()
        self._left = times
        file.parent.mkdir(parents=True, exist_ok=True)
        self._lock = file_lock.hold(file)
        monkeypatch.setattr(
            file_lock, "time", SimpleNamespace(monotonic=time.monotonic, sleep=self._sleep)
        )

    def _sleep(self, _seconds: float) -> None:
        self._left -= 1
        if self._left <= 0:
            self.asked.set()
        time.sleep(0.0001)

    def let_go(self) -> None:
        """Let others have it."""
        os.close(self._lock)
