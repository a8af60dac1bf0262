"""What guarded clients themselves say, besides the guards."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.words import Words, declare

UNSEEN: Final = "client.unseen"

CODES: Final = declare(
    {
        UNSEEN: Words(
            "`{}` would open a connection on which nothing can be judged",
            "ask the model by requests instead: each is judged by itself, and so is its reply",
        ),
    }
)
