"""Signs by likeness: the passages of a text that read like texts which command an agent."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from stanchion.readings.hostile.likeness import Like, Model, model
from stanchion.readings.hostile.normal import folded
from stanchion.readings.hostile.sieve import compiled, whole
from stanchion.readings.hostile.signs import Sign
from stanchion.readings.hostile.views import first_view

KIND: Final = "likeness"
SHORTEST: Final = 16
"""What is shorter is too little to be like anything."""
TELLING: Final = (
    r"ai|assistants?|chatbot|\w*gpt|bot|llm|agent|openai|answers?|answering|reply|replies|"
    r"responses?|respond"
    r"|instructions?|prompts?|rules|guidelines|policy|policies|restrictions|ignore|disregard|"
    r"forget|override|bypass"
    r"|pretend|pretending|roleplay|role|simulate|imagine|persona|character|passwords?|passphrase|"
    r"secret|confidential"
    r"|act|transfer|send|delete|email"
)
"""Nearly every text that commands an agent has one of these words. What has none, all in plain
letters, is not scored."""


@cache
def _telling() -> Any:
    return compiled(rf"\b(?:{TELLING})\b|[^\x00-\x7f]{{2}}")


def may_be_alike(texts: Sequence[str]) -> bool:
    """Whether one of several texts has a passage that is strongly like those that command."""
    if _telling().search(folded(whole("\n".join(texts)))) is None:
        return False
    known = model()
    return any(_is_strong(known, folded(whole(text))) for text in texts if len(text) >= SHORTEST)


def _is_strong(known: Model, text: str) -> bool:
    return _telling().search(text) is not None and known.most(text) >= known.settings.strong


def alike(text: str, known: Model | None = None) -> list[Sign]:
    """The passages of a text that are like those that command, in its order: a hint weighs one, a
    strong one two."""
    view = first_view(text)
    if len(view.text) < SHORTEST or _telling().search(view.text) is None:
        return []
    known = model() if known is None else known
    strong = known.settings.strong
    found: list[Sign] = []
    for like in joined(known.likes(view.text, known.settings.weak)):
        found.append(
            Sign(*view.back(like.start, like.end), KIND, 2 if like.likeness >= strong else 1)
        )
    return found


def joined(likes: list[Like]) -> list[Like]:
    """Passages that overlap as one, as much alike as the most alike of them."""
    found: list[Like] = []
    for like in likes:
        if found and like.start <= found[-1].end:
            before = found.pop()
            like = Like(
                before.start, max(before.end, like.end), max(before.likeness, like.likeness)
            )
        found.append(like)
    return found
