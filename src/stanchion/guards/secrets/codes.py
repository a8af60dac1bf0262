"""What the secrets guard says."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.words import Words, declare

CODES: Final = declare(
    {
        "secrets.redacted": Words(
            "a secret ({}) was taken out of `{}`, fingerprint {}{}",
            "go on without it: whoever needs it gets it from where secrets are kept, not from you",
        ),
        "secrets.found": Words(
            "a secret ({}) in `{}`, fingerprint {}{}",
            "leave the secret out, or name where it is kept; where it is none, a person can allow its fingerprint",
        ),
        "secrets.in_pieces": Words("a secret ({}) in pieces that stand side by side, which is not written down", ""),
    }
)
