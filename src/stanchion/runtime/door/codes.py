"""What the door itself says, besides the guards."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.words import Words, declare

HEAD: Final = "door.head"
NAME: Final = "door.name"
HIDDEN: Final = "door.hidden"
OPAQUE: Final = "door.opaque"
UNGUARDED: Final = "door.unguarded"
NAMES: Final = "door.names"
QUESTION: Final = "door.question"
BYTES: Final = "door.bytes"
OWN: Final = "door.own"
UNJUDGED: Final = "door.unjudged"
STRAYED: Final = "door.strayed"
PACKED: Final = "door.packed"

CODES: Final = declare(
    {
        HEAD: Words(
            "the request is not passed on: {}",
            "write it plainly: each reader has to understand the same request",
        ),
        NAME: Words(
            "the connection was asked for `{}`, and TLS in it asks for `{}`",
            "ask for the same host in both places",
        ),
        HIDDEN: Words(
            "TLS to `{}` does not show which host it asks for: {}",
            "send the host's name openly, or ask for `door.hidden_names: allow`",
        ),
        OPAQUE: Words(
            "what is said to `{}` is neither TLS nor HTTP, so nobody can judge it",
            "use HTTP or TLS, or ask for the place to be listed under `door.opaque`",
        ),
        UNGUARDED: Words(
            "nobody has judged where `{}` leads",
            "have the policy judge requests by `egress`, with `resolve: true`",
        ),
        NAMES: Words(
            "`{}` is one name too many: {} different ones may be asked for",
            "use names that were asked for before; data does not go into names",
        ),
        QUESTION: Words(
            "`{}` is asked for what only its name servers would see: {}",
            "ask for the address of a plain name",
        ),
        BYTES: Words(
            "{} bytes were {}, and {} are allowed",
            "do with what has gone through, or ask for a higher limit under `door`",
        ),
        UNJUDGED: Words(
            "no call that was judged has named `{}`",
            "make the call by a tool that is guarded, and name the host in it",
        ),
        STRAYED: Words(
            "the placeholder of credential `{}` was sent to `{}`, and stands for nothing there",
            "use it with the local URL that it came with, and nowhere else",
        ),
        PACKED: Words(
            "the answer of `{}` is packed, so nobody can see whether a secret is in it",
            "ask it for plain answers",
        ),
        OWN: Words(
            "`{}` leads to this machine itself",
            "use a public host, or ask for this one to be named in `allowed_hosts`",
        ),
    }
)
