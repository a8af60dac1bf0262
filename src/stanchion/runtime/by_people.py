"""What people do with a shield: look at it, command it, answer its tickets, say who is an
operator."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from stanchion.runtime.later import later

if TYPE_CHECKING:
    from stanchion.advice.guidance import Beside
    from stanchion.kernel.decision import Decision
    from stanchion.runtime.deciding.desk import Desk
    from stanchion.runtime.learning import advising, methods as learning
    from stanchion.runtime.learning.keeper import Keeper
    from stanchion.runtime.operating import (
        accept_store as accepting,
        acts,
        commands,
        effect_answers,
    )
    from stanchion.runtime.people import (
        enrol as enrolling,
        missed_reviews,
        nobody_beside as beside,
        ticket_methods,
    )
    from stanchion.runtime.standing import how_it_stands

KEEPER: Final = "_experience"


def _commands() -> ModuleType:
    from stanchion.runtime.operating import commands

    return commands


def _acts() -> ModuleType:
    from stanchion.runtime.operating import acts

    return acts


def _accept_store() -> ModuleType:
    from stanchion.runtime.operating import accept_store

    return accept_store


def _ticket_methods() -> ModuleType:
    from stanchion.runtime.people import ticket_methods

    return ticket_methods


def _missed_reviews() -> ModuleType:
    from stanchion.runtime.people import missed_reviews

    return missed_reviews


def _enrol() -> ModuleType:
    from stanchion.runtime.people import enrol

    return enrol


def _effect_answers() -> ModuleType:
    from stanchion.runtime.operating import effect_answers

    return effect_answers


def _nobody_beside() -> ModuleType:
    from stanchion.runtime.people import nobody_beside

    return nobody_beside


def _how_it_stands() -> ModuleType:
    from stanchion.runtime.standing import how_it_stands

    return how_it_stands


def _learning() -> ModuleType:
    from stanchion.runtime.learning import methods

    return methods


def _advising() -> ModuleType:
    from stanchion.runtime.learning import advising

    return advising


class ByPeople:
    """The methods of a shield that agents never call: most processes need none of them."""

    if TYPE_CHECKING:
        safe_mode, halt = commands.safe_mode, commands.halt
        quarantine, resume, signal = commands.quarantine, commands.resume, commands.signal
        reset_tool, release_call, top_up = (
            commands.reset_tool,
            commands.release_call,
            commands.top_up,
        )
        break_lock = commands.break_lock
        tickets, ticket = ticket_methods.tickets, ticket_methods.ticket
        grants, ticketing = ticket_methods.grants, ticket_methods.ticketing
        approve, deny = ticket_methods.approve, ticket_methods.deny
        answer, revoke = ticket_methods.answer, ticket_methods.revoke
        review, tell_missed = ticket_methods.review, missed_reviews.tell_missed
        standing, health = how_it_stands.standing, how_it_stands.health
        guardrails = how_it_stands.guardrails
        reliability, similar = learning.reliability, learning.similar
        advise_with, advice_stats = advising.advise_with, advising.advice_stats
        act, wish, settle_by = acts.carry_out, acts.wish_for, effect_answers.settle_by
        accept_store, enrol, nobody_beside = (
            accepting.accept_store,
            enrolling.enrol,
            beside.nobody_beside,
        )
    else:
        safe_mode, halt = later(_commands), later(_commands)
        quarantine, resume, signal = later(_commands), later(_commands), later(_commands)
        reset_tool, release_call, top_up = later(_commands), later(_commands), later(_commands)
        break_lock = later(_commands)
        tickets, ticket = later(_ticket_methods), later(_ticket_methods)
        grants, ticketing = later(_ticket_methods), later(_ticket_methods)
        approve, deny = later(_ticket_methods), later(_ticket_methods)
        answer, revoke = later(_ticket_methods), later(_ticket_methods)
        review, tell_missed = later(_ticket_methods), later(_missed_reviews)
        standing, health, guardrails = (
            later(_how_it_stands),
            later(_how_it_stands),
            later(_how_it_stands),
        )
        reliability, similar = later(_learning), later(_learning)
        advise_with, advice_stats = later(_advising), later(_advising)
        act, wish, settle_by = (
            later(_acts, "carry_out"),
            later(_acts, "wish_for"),
            later(_effect_answers),
        )
        accept_store, enrol, nobody_beside = (
            later(_accept_store),
            later(_enrol),
            later(_nobody_beside),
        )

    @property
    def experience(self) -> Keeper:
        """Keeps what calls came to, as the policy says under `experience`; made when it is first
        needed."""
        kept: Keeper | None = self.__dict__.get(KEEPER)
        if kept is None:
            from stanchion.runtime.learning.keeper import Keeper

            shield: Any = self
            kept = self.__dict__.setdefault(KEEPER, Keeper(shield))
        return kept

    def beside(self, desk: Desk, decision: Decision) -> Beside | None:
        """What is known beside a decision that refused a call of a run; `None` where nothing is."""
        from stanchion.runtime.learning.advising import beside

        known = beside(desk, decision)
        return known if known else None

    def _close_experience(self) -> None:
        if KEEPER in self.__dict__:
            self.experience.close()
