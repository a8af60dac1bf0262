"""Who may answer what, and how: one table, asked where an answer is given and again where it is
used."""

from __future__ import annotations

import unicodedata
from typing import Final

import msgspec

from stanchion.approvals.act import RELAYED, Way
from stanchion.approvals.grant_reach import Scope
from stanchion.kernel.autonomy import BYPASSERS, OPERATOR, may_bypass
from stanchion.kernel.names import names
from stanchion.kernel.shown import UNSEEN
from stanchion.kernel.states import NORMAL

UNPROVEN_SCOPES: Final = frozenset({Scope.ONCE, Scope.RUN})
"""How far the yes of somebody reaches who has not proven who they are."""


class Asked(msgspec.Struct, frozen=True):
    """What is asked of people, as far as it matters who answers: whose answer counts, how bad it
    can be, in which mode of autonomy, and which agents ask."""

    roles: tuple[str, ...] = (OPERATOR,)
    critical: bool = False
    lasting: bool = False
    mode: str = NORMAL
    agents: tuple[str, ...] = ()
    high: bool = False
    at_least: str = ""
    """The least strength that the policy takes."""
    relayed: tuple[str, ...] = ()
    """The ways without a key that it takes also where operators have keys."""

    def needs_key(self, way: Way) -> bool:
        """Whether only a signature counts in the place of that way: for what is critical, and for
        what is of high risk at a terminal, which any program can imitate, by a link, which anybody
        can have read, and in a chat."""
        weak = (Way.TERMINAL, *RELAYED)
        return not way.proven and (self.critical or (self.high and way in weak))

    def suits_agent(self, scope: Scope) -> bool:
        """Whether an agent can say yes to it, so far: to one call that asks for a role."""
        return bool(self.roles) and not self.critical and scope is Scope.ONCE

    @property
    def once_only(self) -> bool:
        """Whether a yes can only be for one call."""
        return self.critical or self.lasting


class AnswererRole(msgspec.Struct, frozen=True):
    """Who answers, and how: with which role, and for which agents they stand. `enrolled` says
    whether operators have keys here, `agent` whether it is a program."""

    way: Way
    name: str
    role: str
    agents: tuple[str, ...] = ()
    enrolled: bool = False
    yes: bool = True
    agent: bool = False


def refusal(asked: Asked, answering: AnswererRole, scope: Scope = Scope.ONCE) -> str:
    """Why somebody may not answer like that; empty where they may. A no is everybody's: it lets
    nothing through."""
    if not answering.yes:
        return ""
    way = answering.way
    if not way.proven and answering.enrolled and way not in (Way.DIALOG, *asked.relayed):
        return "operators have keys here: answer with yours, with `--key FILE` or `--ssh-agent`"
    if _same(answering, asked.agents):
        return (
            f"`{answering.name}` asked for it, or an agent of theirs did: somebody else has to "
            f"answer"
        )
    if asked.roles and answering.role not in asked.roles:
        wanted = " or ".join(f"`{one}`" for one in asked.roles)
        return f"the role `{answering.role}` cannot say yes to it: it asks for {wanted}"
    if answering.agent and not asked.suits_agent(scope):
        return "an agent can say yes to one call, which asks for its role and is not critical"
    if not may_bypass(asked.mode, answering.role):
        allowed = BYPASSERS.get(asked.mode, frozenset()) or frozenset()
        who = " or ".join(f"`{one}`" for one in sorted(allowed)) if allowed else "nobody"
        return f"with so little left of the budget, {who} can say yes"
    if not way.strength.reaches(asked.at_least):
        return (
            f"the policy takes no answer that is weaker than a {asked.at_least}, and this is a "
            f"{way.strength} one (`escalation.at_least`)"
        )
    if asked.needs_key(way):
        first = "" if answering.enrolled else "; `stanchion operators add NAME` adds the first one"
        how_bad = "critical" if asked.critical else "of high risk"
        return f"it is {how_bad}: only an operator with a key can say yes{first}"
    return _too_far(asked, way, scope)


def _too_far(asked: Asked, way: Way, scope: Scope) -> str:
    """Why a yes cannot reach so far; empty where it can."""
    if way in (Way.DIALOG, *RELAYED) and scope is not Scope.ONCE:
        return "a yes in a host's dialog, by a link or in a chat can only be for one call"
    if asked.once_only and scope is not Scope.ONCE:
        return "it is critical or cannot be undone: a yes can only be for one call"
    if not way.proven and scope not in UNPROVEN_SCOPES:
        return f"without a key a yes can only be for one call or one run, not for a {scope}"
    return ""


def _same(answering: AnswererRole, agents: tuple[str, ...]) -> bool:
    """Whether somebody answers what they, or an agent of theirs, asked for; however an agent spells
    its name."""
    own = names([folded(one) for one in (answering.name, *answering.agents)])
    return any(folded(agent) in own for agent in agents if agent)


def folded(name: str) -> str:
    """A name without what only looks different: case, width, marks, spaces and what cannot be
    seen."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    return "".join(
        char for char in UNSEEN.sub("", plain) if unicodedata.category(char)[0] not in "MZC"
    )
