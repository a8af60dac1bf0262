"""What a broker does for each request: it asks the runtime, and words the answer as a message."""

from __future__ import annotations

import logging
from typing import Any, Final, assert_never

import msgspec

from stanchion.approvals.errors import BypassRefused, TicketError
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.decision import Decision, Inputs
from stanchion.kernel.stages import Stage
from stanchion.ops.broker.brokered_runs import BrokeredRuns, NoSuchRun
from stanchion.ops.broker.connection import BrokerSession, Connection
from stanchion.ops.broker.peers import Peer
from stanchion.ops.broker.remote_tool import (
    Gone,
    Remote,
    RemoteTool,
    arguments_of,
    attended,
    value_of,
)
from stanchion.ops.broker.witnesses import Unkept, Witnesses
from stanchion.runtime.calling import call as calling
from stanchion.runtime.calling.reports import UNITS, BadEvent, check, named_in, report, spending
from stanchion.runtime.deciding.undos import roll_back
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.errors import Refused, StateError, ToolFailed
from stanchion.runtime.remote import messages as m
from stanchion.runtime.remote.broker_link import BadFrame, packed
from stanchion.runtime.remote.errors import Elsewhere, raised
from stanchion.runtime.remote.messages import Go
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield
from stanchion.runtime.values import Read, RemoteValue

NOTHING: Final = object()


class ClientSide:
    """The client of one conversation, as a flow sees it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.pass_turn, self.take_turn = connection.pass_turn, connection.take_turn
        self.value: Any = NOTHING
        self.error: Elsewhere | None = None

    def run(self, fn: Remote, args: dict[str, Any], timeout_s: float | None) -> Any:
        """Have the client run a function of its own; gives what it returned, or raises what it
        raised."""
        changed = args if args is not fn.args and not fn.undo else None
        if not fn.undo:
            self.value, self.error = NOTHING, None
        try:
            self.pass_turn()
            self._connection.send(packed(Go(fn.request, changed, timeout_s, fn.undo)))
            outcome = self._connection.outcome()
        except BadFrame as bad:
            self._connection.sorry(str(bad))
            raise Gone from bad
        if outcome.fault is not None:
            error = raised(outcome.fault)
            self.error = self.error if fn.undo else error
            raise error
        value = None if outcome.value is None else value_of(outcome.value)
        if not fn.undo:
            self.value = value
        return value

    def gone(self) -> bool:
        """Whether the client has hung up."""
        return self._connection.gone()


LOG: Final = logging.getLogger("stanchion.service")
DONE: Final = m.Done()


class Judging:
    """Answers requests. Safe between threads: each connection has its own."""

    def __init__(self, shield: Shield, runs: BrokeredRuns, witnesses: Witnesses) -> None:
        self._shield, self._runs, self._witnesses = shield, runs, witnesses

    def answer(
        self, request: m.Request, peer: Peer, session: BrokerSession, connection: Connection
    ) -> m.Reply:
        """The answer to a request; whatever goes wrong, it is one that lets nothing through."""
        client = ClientSide(connection)
        try:
            return self._answer(request, peer, session, client)
        except NoSuchRun as unknown:
            return unknown.reply
        except Refused as refused:
            behind = client.error is not None and refused.__cause__ is client.error
            decision = plain(refused.decision)
            told = (
                refused.approvers,
                refused.partial,
                refused.ticket,
                behind,
                refused.undone,
                refused.beside,
            )
            return m.Refusal(decision, *told)
        except ToolFailed as failed:
            return m.Withheld(str(failed))
        except Unkept as error:
            return m.Sorry(str(error))
        except Elsewhere as error:
            if error is client.error:
                return m.Raised(
                    tuple(error.__notes__[error.told :]) if hasattr(error, "__notes__") else ()
                )
            return m.Sorry("the broker mixed up two errors")
        except (BadEvent, StateError, TicketError, TypeError, ValueError) as error:
            return m.Misused(_kind(error), str(error))
        except Exception as error:
            LOG.exception("a request could not be answered")
            return m.Sorry(f"it failed with `{type(error).__name__}`")

    def _answer(
        self, request: m.Request, peer: Peer, session: BrokerSession, client: ClientSide
    ) -> m.Reply:
        if isinstance(request, m.RunRequest):
            return self._in_run(self._runs.of(request.run, request.token, peer), request, client)
        match request:
            case m.Begin():
                return self._runs.begin(request, peer, session)
            case m.Resume():
                return self._runs.resume(request.passed, peer, session)
            case m.Tighten():
                return self._tightened(request, peer)
            case m.Answer():
                try:
                    self._shield.answer(request.data)
                except TicketError as error:
                    # Whoever carries an answer may be the agent that waits for it: the reason is
                    # for the operator.
                    LOG.warning("an answer of user %s is not accepted: %s", peer.uid, error)
                    return m.Misused(
                        "ValueError",
                        "the broker does not accept this answer; its log and trail say why",
                    )
                return DONE
            case m.Witness():
                return m.Done(value=self._witnesses.write(peer.uid, request))
            case m.Witnessed():
                return m.Done(value=self._witnesses.piece(peer.uid, request.name, request.offset))
            case _:
                assert_never(request)

    def _in_run(self, run: Run, request: m.InRun, client: ClientSide) -> m.Reply:
        match request:
            case m.StageReport():
                return m.Decided(plain(drive(attended(reported(run, request), client), run.desk)))
            case m.CallRequest():
                return called(run, request, client)
            case m.RollBack():
                undone = drive(attended(roll_back(run.desk), client), run.desk)
                return m.Done(value=[list(one) for one in undone])
            case m.Notices():
                return m.Done(value=list(run.notices()))
            case m.Advise():
                return m.Done(value=advised(run, request))
            case m.Escalate():
                return m.Done(value=run.escalate(request.reason))
            case m.AskBypass():
                made = run.request_bypass(
                    request.guardrail, request.reason, request.urgency, call=request.call
                )
                return m.Done(value=msgspec.to_builtins(made))
            case m.End():
                if request.cancel:
                    run.cancel(request.why)
                    return DONE
                was_over = run.desk.ended is not None
                self._runs.end(run, "kernel.ended", "it was closed")
                return m.Done(value=was_over)
            case _:
                assert_never(request)

    def _tightened(self, request: m.Tighten, peer: Peer) -> m.Reply:
        if request.scope in ("fleet", FLEET):
            raise ValueError(
                "a client can only stop what belongs to its own tenant; stop the fleet where the "
                "broker runs"
            )
        by = f"user {peer.uid}"
        about: dict[str, Any] = {
            "why": request.why,
            "tenant": peer.tenant,
            "scope": request.scope,
            "by": by,
        }
        match request.what:
            case "halt":
                self._shield.halt(**about)
            case "safe_mode":
                self._shield.safe_mode(True, **about)
            case "quarantine":
                self._shield.quarantine(for_s=request.for_s, **about)
            case _:
                raise ValueError(
                    f"`{request.what}` is not a way to stop: give halt, quarantine or safe_mode"
                )
        return DONE


def reported(run: Run, request: m.StageReport) -> Any:
    """The flow that judges what a client reports."""
    stage = Stage(request.stage)
    value = request.fields
    if stage is Stage.TOOL_CALL:
        return _checked(run, value)
    if value.unreadable:
        raise BadEvent(f"`{stage}` cannot be read: {value.unreadable}")
    if type(value.content) is not dict or not all(type(name) is str for name in value.content):
        raise BadEvent(f"`{stage}` takes fields by name")
    fields = dict(value.content)
    whole = value_of(value)
    if isinstance(whole, RemoteValue) and isinstance(whole.said, Read) and fields:
        # What was not read is told once, wherever it is: the words say where.
        name = next(reversed(fields))
        fields[name] = RemoteValue(msgspec.structs.replace(whole.said, content=fields[name]))
    if request.fault is not None:
        fields["error"] = raised(request.fault)
    return report(run.desk, stage, fields)


def _checked(run: Run, value: m.Value) -> Any:
    fields = dict(value.content) if type(value.content) is dict else {}
    tool, args = fields.pop("tool", None), fields.pop("args", None)
    if type(tool) is not str:
        raise BadEvent("`tool_call` takes the tool's name and its arguments as a mapping")
    given = arguments_of(msgspec.structs.replace(value, content=args))
    if not UNITS.keys() >= fields.keys():
        return report(run.desk, Stage.TOOL_CALL, {"tool": tool, "args": given, **fields})
    return check(run.desk, tool, given, spending(fields), named_in(fields))


def called(run: Run, request: m.CallRequest, client: ClientSide) -> m.Reply:
    """Judge a call, have the client run it, and say what the agent gets."""
    tool = RemoteTool(request)
    result = drive(attended(calling.call(run.desk, tool, (), {}, request.key), client), run.desk)
    return m.Done(unchanged=True) if result is client.value else m.Done(value=result)


def advised(run: Run, request: m.Advise) -> str:
    """What a run's agent should know, as its policy has it said."""
    if request.tool is None:
        return run.awareness(tokens=request.tokens)
    args = request.args.content
    return run.advice(request.tool, args if type(args) is dict else {})


def plain(decision: Decision) -> Decision:
    """A decision without what it was made from: that is state, and none of a client's."""
    return msgspec.structs.replace(decision, inputs=Inputs(), wrote=())


def _kind(error: Exception) -> str:
    kinds = (BadEvent, StateError, BypassRefused, TicketError, TypeError)
    return next((kind.__name__ for kind in kinds if isinstance(error, kind)), "ValueError")
