"""What guarded clients themselves say, besides the guards."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.words import Words, declare

UNSEEN: Final = "client.unseen"
UNJUDGED: Final = "client.unjudged_tools"

CODES: Final = declare(
    {
        UNSEEN: Words(
            "`{}` would open a connection on which nothing can be judged",
            "ask the model by requests instead: each is judged by itself, and so is its reply",
        ),
        UNJUDGED: Words(
            "`{}` runs tools whose calls nobody judges",
            "ask the model by requests, and run the calls of each reply by `run_tools`",
        ),
    }
)
