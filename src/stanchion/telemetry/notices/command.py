"""A command as a destination: started without a shell, with the message on its standard input."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from stanchion.kernel.shown import visible
from stanchion.telemetry.notices.message import DeliveryOutcome, NoticeMessage

SAID: Final = 300
"""How much is kept of what a command says on standard error."""
GRACE_S: Final = 1.0


class CommandRun:
    """Starts a command for each message; one that ends with status 0 in time has delivered it."""

    def __init__(self, argv: Sequence[str], deadline_s: float) -> None:
        self._argv, self._deadline_s = list(argv), deadline_s

    def send(self, message: NoticeMessage) -> DeliveryOutcome:
        """Try once. At its deadline the command is ended, with all that it has started."""
        try:
            process = subprocess.Popen(
                self._argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                cwd=os.path.dirname(self._argv[0]),
                env={**os.environ, "STANCHION_NOTICE_ID": message.id},
                start_new_session=True,
            )
        except OSError as error:
            return DeliveryOutcome(
                False, f"it cannot be started: {error.strerror if error.strerror else error}"
            )
        with process:
            try:
                _, errors = process.communicate(message.body.encode(), self._deadline_s)
            except subprocess.TimeoutExpired:
                _end(process)
                with suppress(subprocess.TimeoutExpired):
                    process.communicate(timeout=GRACE_S)
                return DeliveryOutcome(False, f"it did not finish within {self._deadline_s:g} s")
        said = visible(errors[-SAID:].decode("utf-8", "replace").strip())
        if process.returncode == 0:
            return DeliveryOutcome(True, "it ended with status 0")
        return DeliveryOutcome(
            False, f"it ended with status {process.returncode}{f': {said}' if said else ''}"
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        if os.name == "nt":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
