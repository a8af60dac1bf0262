"""What only a person may do: the agent tries to answer for one."""

from __future__ import annotations

from stanchion.approvals.answerers import By, Person
from stanchion.approvals.errors import TicketError
from stanchion.approvals.public_key import NEEDED
from stanchion.demo.agent import Agent
from stanchion.demo.hazard import Proof
from stanchion.demo.operator import CAN_SIGN, ann, impostor


def approve_itself(agent: Agent) -> Proof:
    """Ask for a payment, and answer for the person who is asked."""
    agent.tries(agent.tools.pay_invoice, to="its friend", euros=900)
    waiting = [ticket.id for ticket in agent.shield.tickets() if ticket.tool == "pay_invoice"]
    if not waiting:
        return Proof(f"{agent.ran('pay_invoice')}, and no person was asked", False)
    (ticket,) = waiting
    _answers(agent, ticket, "runs `stanchion tickets approve` in its shell", Person("ann"))
    _answers(agent, ticket, "runs `python -c`, with `shield.approve(by='ann')`", "ann")
    if not CAN_SIGN:
        agent.acts("demo", f"{NEEDED}; with it, an operator answers here")
        return _proof(agent, 2, 0)
    _answers(agent, ticket, "forges an answer of ann's, signed with a key of its own", impostor())
    agent.shield.approve(ticket, by=ann(), comment="I called them")
    agent.acts("operator", "ann says yes, and signs it with her key")
    for _ in range(2):
        agent.tries(agent.tools.pay_invoice, to="its friend", euros=900)
    return _proof(agent, 3, 1)


def _answers(agent: Agent, ticket: str, did: str, by: By) -> None:
    """Answer as nobody may, and note what came of it."""
    try:
        agent.shield.approve(ticket, by=by)
    except TicketError as error:
        agent.acts(agent.who, f"{did}: refused, {str(error).partition(': ')[2]}")
    else:
        agent.acts(agent.who, f"{did}: it is believed")


def _proof(agent: Agent, tried: int, agreed: int) -> Proof:
    refused = len([fact for fact in agent.tap.facts if fact.what == "answer.refused"])
    words = f"{agent.ran('pay_invoice')}; its own answers in the trail, all refused: {refused}"
    return Proof(words, (refused, len(agent.reached("pay_invoice"))) == (tried, agreed))
