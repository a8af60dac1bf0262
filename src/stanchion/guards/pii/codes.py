"""What the PII guard says."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.words import Words, declare

CODES: Final = declare(
    {
        "pii.redacted": Words(
            "personal data ({}) in {} was replaced by placeholders",
            "go on with the placeholders; do not ask for what they stand for",
        ),
        "pii.found": Words(
            "there is personal data ({}) in {}",
            "leave it out, or ask whoever maintains the policy to allow it",
        ),
    }
)
