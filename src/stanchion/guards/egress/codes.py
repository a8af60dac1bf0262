"""What the egress guard says."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.contract.values import Cure
from stanchion.kernel.words import Words, declare

CODES: Final = declare(
    {
        "egress.too_long": Words(
            "the URL has {} characters, and {} are allowed",
            "send data in the body of a request, not in its URL",
        ),
        "egress.unreadable": Words(
            "`{}` cannot be read as a URL: {}",
            "write the whole URL plainly, such as `https://example.com/page`",
        ),
        "egress.scheme": Words(
            "scheme `{}` may not be used: {} are allowed", "use one of these, or another tool"
        ),
        "egress.denied": Words(
            "`{}` is denied: {}", "do without it; other names for the same host are denied too"
        ),
        "egress.metadata": Words(
            "`{}` is where a cloud hands out its credentials: {}",
            "do not use it; ask a person for what you need to know about the machine",
        ),
        "egress.internal": Words(
            "`{}` is not on the public network: {}",
            "use a public host, or ask for this one to be allowed",
        ),
        "egress.ambiguous": Words(
            "programs do not agree on how to read `{}`: {}", "write scheme, host and port plainly"
        ),
        "egress.credentials": Words(
            "the URL of `{}` carries a user name or a password",
            "leave them out: a tool that needs credentials gets them in another way",
        ),
        "egress.login": Words("the URL contains a login; it is sent but not recorded", ""),
        "egress.not_allowed": Words(
            "`{}` is not among the hosts that may be reached",
            "use one of those that are, or ask for it to be added",
        ),
        "egress.port": Words("port {} of `{}` may not be used: {} are allowed", "use one of these"),
        "egress.method": Words("method `{}` may not be used: {} are allowed", "use one of these"),
        "egress.unresolved": Words(
            "`{}` has no address, so its destination is unknown",
            "check the name, or try again later",
        ),
    }
)

CURES: Final = {
    "egress.internal": (Cure("internal_hosts+", "{0}", "host"),),
    "egress.not_allowed": (Cure("allowed_hosts+", "{0}", "host"),),
    "egress.port": (Cure("ports+", "{0}"),),
    "egress.method": (Cure("methods+", "{0}"),),
    "egress.credentials": (Cure("credentials", True),),
}
"""Lines that may cure what it says."""
