"""Reviews: who has reviewed the changes as they are now. Only a run of a reviewer's role says so,
and never of work that its own agent has a part in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from stanchion.guards.evidence.shell_texts import shell_texts
from stanchion.guards.evidence.targets import ran_by
from stanchion.readings.act import act_of
from stanchion.readings.names import plain
from stanchion.readings.word_lists import listed

KEPT: Final = 16
"""How many agents are remembered of each kind."""
ANYBODY: Final = "*"
"""Stands for more authors than are remembered: nobody is known not to be one of them."""
NEVER: Final = -1

SAID: Final = ("review", "verdict", "decision", "event", "state", "status")
"""Under which names a verdict is given."""
APPROVED: Final = listed("approve approved accept accepted pass passed")
REJECTED: Final = frozenset(
    {
        "reject", "rejected", "requestchanges", "changesrequested", "needschanges", "block",
        "blocked", "fail", "failed", "deny", "denied",
    }
)  # fmt: skip


class Reviews(msgspec.Struct, frozen=True, array_like=True):
    """`authors` have changed code since the last review. `begun` are reviewers at work, each with
    the number of changes that there were when they began. `reviewed` is the number of changes that
    were there when one approved."""

    authors: tuple[str, ...] = ()
    begun: tuple[tuple[str, int], ...] = ()
    reviewed: int = NEVER

    def written(self, agent: str) -> Reviews:
        """Somebody has changed code."""
        if agent in self.authors or ANYBODY in self.authors:
            return self
        authors = (*self.authors, agent) if len(self.authors) < KEPT else (ANYBODY,)
        return msgspec.structs.replace(self, authors=authors)

    def begins(self, agent: str, changes: int) -> Reviews:
        """A reviewer was handed the work, or looks at something; who is at it already goes on."""
        if any(name == agent for name, _ in self.begun):
            return self
        return msgspec.structs.replace(self, begun=(*self.begun, (agent, changes))[-KEPT:])

    def says(self, agent: str, good: bool, changes: int, settled: bool) -> Reviews:
        """A reviewer gives a verdict. A yes counts where nothing has changed since that one began,
        nothing is being changed (`settled`), and nothing of it is that one's own; a no takes back
        what was said before."""
        begun = tuple([one for one in self.begun if one[0] != agent])
        if not good:
            return msgspec.structs.replace(self, begun=begun, reviewed=NEVER)
        own = agent in self.authors or ANYBODY in self.authors
        if own or not settled or (agent, changes) not in self.begun:
            return msgspec.structs.replace(self, begun=begun)
        return Reviews((), begun, changes)


def verdict_in(payload: Mapping[str, Any]) -> bool | None:
    """The verdict that a handoff or the arguments of a call give; `None` where they give none."""
    for name in SAID:
        given = payload.get(name)
        if isinstance(given, dict):
            found = verdict_in(given)
        else:
            word = plain(given) if isinstance(given, str) else ""
            found = True if word in APPROVED else False if word in REJECTED else None
        if found is not None:
            return found
    return None


def verdict_of(tool: str, traits: tuple[str, ...], args: Mapping[str, Any]) -> bool | None:
    """The verdict that a call gives: of a tool for reviews, or of a command that reviews a pull
    request."""
    texts = shell_texts(args)
    if texts:
        return _by_command(texts[0]) if len(texts) == 1 else None
    said = act_of(tool, traits).words
    if "review" in said or "approve" in said:
        given = verdict_in(args)
        return True if given is None and "approve" in said else given
    return None


def _by_command(text: str) -> bool | None:
    """The verdict of a text that ends well only where the review is made."""
    for one in ran_by(text) if "gh" in text or "glab" in text else ():
        if not one.last:
            continue
        words = one.argv
        if words[:3] == ("gh", "pr", "review"):
            if not {"--approve", "-a"}.isdisjoint(words):
                return True
            return None if {"--request-changes", "-r"}.isdisjoint(words) else False
        if words[:3] == ("glab", "mr", "approve"):
            return True
        if words[:3] == ("glab", "mr", "revoke"):
            return False
    return None
