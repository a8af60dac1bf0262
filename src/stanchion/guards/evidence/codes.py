"""What the evidence guard says."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.words import Words, declare

CODES: Final = declare(
    {
        "evidence.untested": Words(
            "code was changed (`{}`), and {}",
            "run the tests as a command of their own, mend what fails, and then take this step again",
        ),
        "evidence.unlinted": Words(
            "code was changed (`{}`), and {}", "run the linter on what was changed, and mend what it finds"
        ),
        "evidence.unfounded": Words(
            "it is said that {}, but {}",
            "run them and look at what comes of it, or say plainly that you have not or that they failed",
        ),
    }
)
