"""Weights: what of a name, of what stands between, and of a value speaks for a secret, and how
much.

A value counts where the sum reaches `ENOUGH`. Each feature is one line of a table, so that a figure
can be discussed.
"""

from __future__ import annotations

from typing import Final

from stanchion.readings.word_lists import in_order, listed, sections

ENOUGH: Final = 4.0


def _weights(words: dict[float, str]) -> dict[str, float]:
    """The weight of each word, by the words that weigh the same."""
    return {word: weight for weight, text in words.items() for word in text.split()}


NAMES: Final = _weights(
    {
        3.5: "apikey authtoken",
        3.0: (
            "password passwd passwort kennwort passphrase pwd contrasena senha secret token "
            "bearer credential credentials creds authorization privkey accesskey secretkey "
            "securestring psk"
        ),
        2.5: "pass secrets cred passcode",
        2.0: "pw pat key licensekey sas sig",
        1.5: "auth cookie signature",
    }
)
"""What a word of the name promises; the most that any of them does counts."""
ENDS: Final = in_order("password passwd passphrase apikey privkey token secret pwd pass key")
"""What a name may end with that is written as one word."""
NO_NAMES: Final = listed(
    "bypass compass donkey hockey hotkey jockey monkey turkey trespass whiskey keykey"
)
"""Words that end so and promise nothing."""
HUMAN: Final = listed(
    "password passwd passwort kennwort passphrase pwd pass pw contrasena senha secret "
    "passcode securestring psk creds credentials"
)  # fmt: skip
"""What people choose, and so need not look as if chance had made it."""
MORE: Final = _weights(
    {
        1.0: "api access secret private signing encryption recovery",
        0.5: (
            "auth admin master client service webhook bot deploy root personal server account "
            "app refresh session"
        ),
    }
)
"""What another word adds to one of those."""
_MAKERS: Final = sections(__package__, "makers.txt")
ALONE: Final = _MAKERS["alone"]
MAKERS: Final = ALONE | _MAKERS["named"]
"""Who issues keys, and whose name alone says that a key of theirs stands beside it."""
BY_MAKER: Final = 2.0
"""What the name of a maker promises by itself."""
OF_MAKER: Final = 1.5
"""What it adds to another name."""
AGAINST: Final = _weights(
    {
        -0.5: "storage",
        -1.5: "s3",
        -2.0: "uuid guid file url uri field prefix ref row site verify",
        -2.5: "name",
        -3.0: (
            "id ids version path type policy label primary format expires index object routing "
            "encrypted bucket keyid nonce author authority"
        ),
        -4.0: (
            "public pub publishable hash hashed sha sha1 sha256 sha512 md5 checksum checksums "
            "digest integrity commit page pagination scroll marker next cursor continuation "
            "continue tokenizer size length count hint placeholder foreign sort cache partition "
            "idempotency fingerprint kid thumbprint arn algorithm ttl regex pattern example etag "
            "sealed csrf xsrf request anon sync resume authenticity socket search color colors "
            "sitekey invalid wrong fake bogus malformed dummy non matching mismatched"
        ),
    }
)
"""What a word of the name says against it."""
BETWEEN: Final = {"header": 1.5, "called": 1.5, "assigned": 0.5, "said": 0.25, "beside": -0.75}
"""Where a value stands: in a header of credentials, in a maker's call or address, behind a sign,
behind a word such as `is`, behind a blank."""
QUOTED: Final = 0.25

LONG: Final = ((24, 1.0), (20, 0.75), (16, 0.25), (12, 0.0), (0, -0.5))
"""By the length of a value."""
CLASSES: Final = {1: -1.5, 2: 0.25, 3: 1.0, 4: 1.0}
"""By how many of capitals, small letters, digits and signs there are."""
CHANGES: Final = ((0.4, 1.0), (0.25, 0.75), (0.15, 0.25), (0.0, -0.5))
"""By how often one class follows another, for each character."""
WORDS: Final = -3.5
"""By the share of letters that stand in words."""
CHOSEN_WORDS: Final = -2.0
"""The same in a password as people choose one."""
FLAT: Final = ((0.85, 0.5), (0.75, 0.0), (0.0, -1.0))
"""By the entropy, as a share of the most that the length and the alphabet allow."""
HEXADECIMAL: Final = 0.25
HASH: Final = -1.25
"""Hexadecimal of the length that a hash has, behind a name that promises little."""
CHOSEN: Final = 1.25
"""A password as people choose one: letters, digits and signs, or both cases and digits."""
NO_DIGIT: Final = -2.0
"""Letters without a digit that are not in wild cases, either."""
DENIED: Final = -4.0
"""What a name has to say against a secret so that it is none, however it looks."""
UNLIKELY: Final = -3.0
"""The same for what is weighed."""
