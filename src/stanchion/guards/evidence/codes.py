"""What the evidence guard says."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.words import Words, declare

CODES: Final = declare(
    {
        "evidence.untested": Words(
            "code was changed (`{}`), and {}",
            "run the tests as a command of their own, fix what fails, and then repeat this step",
        ),
        "evidence.unlinted": Words(
            "code was changed (`{}`), and {}", "run the linter on the changed code, and fix what it finds"
        ),
        "evidence.unfounded": Words(
            "the text says that {}, but {}",
            "run them and check the result, or say plainly that you did not run them or that they failed",
        ),
    }
)
