"""What the secrets guard says."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.words import Words, declare

FINGERPRINT: Final = "fingerprint {3}"
"""What a person allows a false alarm by; an agent that is told it could ask for that in a person's
name."""

CODES: Final = declare(
    {
        "secrets.redacted": Words(
            "a secret ({}) was taken out of `{}`{}",
            "go on without it: whoever needs it gets it from where secrets are kept, not from you",
            FINGERPRINT,
        ),
        "secrets.stays": Words(
            "a secret ({}) in `{}`{}: what runs or is written here is not changed",
            "do not pass it on; whoever needs it gets it from where secrets are kept",
            FINGERPRINT,
            "leave the secret out, or name where it is kept, because this reaches others, too; if "
            "it is not a secret, say so: a person can allow it",
        ),
        "secrets.found": Words(
            "a secret ({}) in `{}`{}",
            "leave the secret out, or name where it is kept; if it is not a secret, say so: a "
            "person can allow it",
            FINGERPRINT,
        ),
        "secrets.own_words": Words(
            "a secret ({}) that the user gave for a login goes ahead, and is not recorded", ""
        ),
        "secrets.login": Words(
            "a secret ({}) goes ahead as the login that the call makes, and is not recorded", ""
        ),
        "secrets.in_pieces": Words(
            "a secret ({}) in pieces side by side, which is not recorded", ""
        ),
    }
)
