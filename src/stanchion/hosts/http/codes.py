"""What the HTTP transports themselves say, besides the guards."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.words import Words, declare

PROXY: Final = "http.proxy"
HOST: Final = "http.host"
FRAMING: Final = "http.framing"
OVERRIDE: Final = "http.override"
TOO_LONG: Final = "http.too_long"
UNREDACTABLE: Final = "http.unredactable"
UNPINNED: Final = "http.unpinned"

CODES: Final = declare(
    {
        PROXY: Words(
            "requests may not go through proxy `{}`",
            "send the request without a proxy, or ask for it to be listed under `proxies` of the "
            "guard `egress`",
        ),
        HOST: Words(
            "the header `host` names a different host than `{}`, which is where the request goes",
            "leave the header out, or name its host in the URL",
        ),
        FRAMING: Words(
            "servers may read this request in different ways: {}",
            "leave `content-length` and `transfer-encoding` to the client, and write headers "
            "plainly",
        ),
        OVERRIDE: Words(
            "`{}` asks for something other than the URL that was judged",
            "leave it out, and put what you want into the URL",
        ),
        TOO_LONG: Words(
            "the body has more than {} bytes, and a body that cannot be judged as a whole is not "
            "sent",
            "send less at a time, or ask for a larger `max_body` of the client",
        ),
        UNREDACTABLE: Words(
            "a guard wants something hidden in the request, which cannot be done: {}",
            "take what is confidential out of the request, then send it again",
        ),
        UNPINNED: Words(
            "the guards do not agree on an address for `{}`",
            "send the request again; if it fails again, report it to whoever maintains the policy",
        ),
    }
)
