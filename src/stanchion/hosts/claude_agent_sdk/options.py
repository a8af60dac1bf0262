"""Claude Agent SDK: options whose hooks judge every prompt, tool call, result and answer of a
session, and of its sub-agents.

The hooks say what those of Claude Code say, and are answered in its words; they run in this
process, and no daemon is asked.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

import msgspec
from msgspec import UNSET
from msgspec.structs import replace as with_fields

from stanchion.hosts import Host, Hosted, Refusal, Told, Works, tried
from stanchion.hosts.claude_agent_sdk.own_server import OwnServer
from stanchion.hosts.coding.agent import BadHook, Heard, HookVerdict, HostAnswer
from stanchion.hosts.coding.claude import CLAUDE
from stanchion.hosts.coding.session import MOST_CALLS, CodingSession, HostAtWork
from stanchion.hosts.coding.speaker import SOME_HOST, Speaker
from stanchion.hosts.contract.canary import TOOL
from stanchion.kernel.regex import regex
from stanchion.locks import Lock
from stanchion.runtime.asides import aside
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield

with tried("claude-agent-sdk", "0.2.178", "0.3"):
    from anyio import to_thread
    from claude_agent_sdk import (
        ClaudeAgentOptions,
        HookMatcher,
        PermissionResultAllow,
        PermissionResultDeny,
        Transport,
        query,
    )

EVENTS: Final = (
    "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch",
    "SubagentStart", "SubagentStop", "Stop",
)  # fmt: skip
"""The events of a session that are judged. `PostToolBatch` is the last one before the model reads
what came of its calls."""
AGENT: Final = with_fields(
    CLAUDE, name="claude-agent-sdk", says={**CLAUDE.says, "PostToolBatch": "news"}
)
HANDS_OVER: Final = frozenset({"Agent", "Task"})
"""The tools by which an agent has another one work."""
GENERAL: Final = "general-purpose"
"""The agent that works where none is named."""
WITHOUT_HOOKS: Final = ("bare", "safe-mode")
"""Options of Claude Code with which it asks no hook."""
KEEPS_HOOKS: Final = {"CLAUDE_CODE_SIMPLE": "0", "CLAUDE_CODE_SAFE_MODE": "0"}
"""The same as variables of its environment, as they do no harm."""
CHANGED: Final = {
    "updatedInput": "tool_input",
    "updatedMCPToolOutput": "tool_response",
    "updatedToolOutput": "tool_response",
}
"""What a hook can put into the place of something, and where that stands in what hooks are told."""
UNASKED: Final = "nobody was asked about these arguments: make the call with them"
UNNAMED: Final = regex(r"[^a-zA-Z0-9_-]")
"""What is no part of a server's name in the names of its tools."""
PROGRAM: Final = Speaker(SOME_HOST)
"""Who speaks: this program itself has started Claude Code, and is told by nobody else."""

Hook = Callable[[Any, Any, Any], Awaitable[Any]]


def _as_is(refusal: Refusal) -> Refusal:
    """The refusal itself: its words are made later, by what the event is."""
    return refusal


CLAUDE_AGENT_SDK: Final = Host(
    AGENT.name, can=["warn", "redact", "retry", "escalate"], refused=_as_is, ended=_as_is
)


class SdkSession(CodingSession):
    """One session of the SDK. `has_dialog` says that the program asks a person, by its
    `can_use_tool`."""

    def __init__(self, hosted: Hosted, has_dialog: bool) -> None:
        super().__init__(AGENT, hosted, SOME_HOST, HostAtWork())
        self._has_dialog = has_dialog
        self._held: dict[tuple[str, str], str] = {}
        """Why an agent must not read what came of a call, by the agent and the call."""
        self._handing: dict[str, str] = {}
        """The last decision to hand over to an agent, by the agent's kind."""

    def hear(self, heard: Heard, speaker: Speaker = PROGRAM) -> HostAnswer:
        """Judge what the host says; raises `BadHook` for what cannot be judged."""
        if heard.event == "PostToolBatch":
            named = [one for one in list(self._held) if one[0] == heard.child]
            if held := [self._held.pop(one) for one in named]:
                return AGENT.words(heard, HookVerdict("end", "\n".join(held)))
        if heard.says == "child" and (call := self._handing.pop(heard.kind, "")):
            self.hosted.report("handoff_done", to=heard.kind, call=call)
        return super().hear(heard, speaker)

    def judged(self, key: str) -> Heard | None:
        """A call that may run; `None` for one that was not judged, or is refused."""
        with self._lock:
            call = self._calls.get(key)
        return call.heard if call is not None and call.verdict.outcome in ("go", "ask") else None

    def failed(self, heard: Heard) -> str:
        """Judge what a tool of this program has failed with; gives what the agent may read of it.
        What Claude Code says of that afterwards is known."""
        hosted = self._of(heard)
        self._came(hosted, heard)
        told = self._report(hosted, heard, dict(heard.fields))
        verdict = self._decided(heard, told)
        self._held.pop((heard.child, heard.key), None)
        self._remember(self._over, heard.key, AGENT.words(heard, verdict))
        return str(told.content) if verdict.outcome == "go" else verdict.words

    def again(self, heard: Heard) -> HookVerdict:
        """Judge what somebody has put into the place of something that was judged."""
        return self._decided(heard, self._report(self._of(heard), heard, dict(heard.fields)))

    def settle(self, key: str, wanted: Heard | None, why: str) -> HookVerdict:
        """Take in what is said of a call by whom the program asks: how it may run, or `None`. What
        was not judged so is judged now."""
        with self._lock:
            call = self._calls[key]
            self._calls[key] = with_fields(call, asked=None)
        given = None if wanted is None else wanted.given
        is_same = given == call.heard.given
        if call.asked is not None:
            other = "" if wanted is None or is_same else "allowed with other arguments"
            self._of(call.heard).answered(call.asked, is_same, why if wanted is None else other)
        elif given == call.verdict.changed or (is_same and call.verdict.changed is UNSET):
            return HookVerdict()
        if wanted is None:
            return HookVerdict("refuse", why)
        verdict = self.again(call.heard if is_same else wanted)
        return HookVerdict("refuse", UNASKED) if verdict.outcome == "ask" else verdict

    def _called(self, hosted: Hosted, heard: Heard) -> HookVerdict:
        """Judge a call; one that has another agent work is a handoff first."""
        if heard.tool in HANDS_OVER:
            kind, payload = str(heard.given.get("subagent_type", GENERAL)), dict(heard.given)
            told = hosted.report("handoff", to=kind, payload=payload, key=f"handoff:{heard.key}")
            if not told.proceeds:
                verdict = self._decided(heard, told)
                return with_fields(verdict, outcome="end" if verdict.outcome == "end" else "refuse")
            if told.content != payload:
                why = f"This is not handed over: {told.decision.message}. Say it without that."
                return HookVerdict("refuse", why)
            self._handing[kind] = told.decision.id
        return super()._called(hosted, heard)

    def _decided(self, heard: Heard, told: Told) -> HookVerdict:
        """What becomes of an event. Claude Code shows the words of a failure whatever is answered:
        where they must not be read, the turn ends before the model is asked."""
        verdict = with_fields(super()._decided(heard, told), command="")
        if heard.event == "PostToolUseFailure":
            said = heard.fields.get("text", heard.fields.get("result"))
            if verdict.outcome != "go" or told.content != said:
                why = f"What `{heard.fields['tool']}` has failed with is withheld"
                self._held[heard.child, heard.key] = f"{why}: {told.decision.message}"
        return verdict

    def _is_attended(self, _heard: Heard) -> bool:
        return self._has_dialog


class SdkGuarding:
    """The hooks of guarded options, for all sessions that are begun with them."""

    def __init__(self, options: Any, shield: Any, agent: str, task: str) -> None:
        self._ask = options.can_use_tool
        made = partial(SdkSession, has_dialog=self._ask is not None)
        self._works = Works(CLAUDE_AGENT_SDK, shield, made, agent=agent, task=task)
        self._own: list[str] = []
        """How the names of tools begin that this program runs itself."""
        self._lock = Lock()
        self._open: OrderedDict[str, SdkSession | None] = OrderedDict()
        """Whose calls are open, by what Claude Code calls them; `None` where two have the same."""

    def hooks(self, given: Any) -> dict[str, list[Any]]:
        """The hooks of a session: those that judge, and what the program has itself."""
        own: dict[str, list[Any]] = {
            event: [
                replace(one, hooks=[self._theirs(hook) for hook in one.hooks]) for one in matchers
            ]
            for event, matchers in (given if given is not None else {}).items()
        }
        judging = HookMatcher(hooks=[self.judge], on_failure="block")
        return {**own, **{event: [judging, *own.get(event, [])] for event in EVENTS}}

    def servers(self, given: Any) -> Any:
        """The servers of a session: those of this program run what was judged."""
        if not isinstance(given, Mapping):
            return given
        made = dict(given)
        for name, one in given.items():
            if isinstance(one, Mapping) and one.get("type") == "sdk":
                self._own.append(f"mcp__{UNNAMED.sub('_', name)}__")
                server = OwnServer(one["instance"], self.is_judged, self.failed)
                made[name] = {**one, "instance": server}
        return made

    def is_judged(self, call: str) -> bool:
        """Whether a call may run."""
        session = self._open.get(call)
        return session is not None and session.judged(call) is not None

    async def failed(self, call: str, text: str) -> str:
        """What an agent may read of what a tool of this program has failed with."""
        return await to_thread.run_sync(self._failed, call, text)

    def _failed(self, call: str, text: str) -> str:
        session = self._open.get(call)
        heard = None if session is None else session.judged(call)
        if session is None or heard is None:
            return "it has failed, and nobody knows whose call it was"
        said = self._of(heard, hook_event_name="PostToolUseFailure", error=text)
        return session.failed(said)

    async def judge(self, said: Any, _call: Any, _context: Any) -> Any:
        """Judge what a hook says, and answer it."""
        return await to_thread.run_sync(self._answer, said, SdkSession.hear)

    async def may_use(self, tool: str, given: dict[str, Any], context: Any) -> Any:
        """Ask whom the program asks; what they allow is judged as they allow it."""
        call = context.tool_use_id
        session = self._open.get(call)
        heard = None if session is None else session.judged(call)
        if session is None or heard is None:
            return PermissionResultDeny(message="nobody knows whose call this is: make it again")
        answer = await self._ask(tool, given, context)
        wanted, why = None, str(getattr(answer, "message", ""))
        if isinstance(answer, PermissionResultAllow):
            asked = given if answer.updated_input is None else answer.updated_input
            wanted = self._of(heard, tool_input=asked, tool_use_id=f"{call}+")
        came = await to_thread.run_sync(session.settle, call, wanted, why)
        if wanted is None:
            return answer
        if came.outcome != "go":
            return PermissionResultDeny(message=came.words, interrupt=came.outcome == "end")
        return answer if came.changed is UNSET else replace(answer, updated_input=came.changed)

    def _theirs(self, hook: Hook) -> Hook:
        """A hook of the program's own: what it puts into the place of something is judged."""

        async def judged(said: Any, call: Any, context: Any) -> Any:
            answer: Any = await hook(said, call, context)
            own: Any = answer.get("hookSpecificOutput") if isinstance(answer, Mapping) else None
            for name in [name for name in CHANGED if own and name in own]:
                body = {**said, CHANGED[name]: own[name], "tool_use_id": f"{call}+"}
                mine = await to_thread.run_sync(self._answer, body, _again)
                if mine["continue"]:
                    del mine["continue"]
                kept = {one: value for one, value in own.items() if one not in CHANGED}
                place = "updatedInput" if name == "updatedInput" else "updatedToolOutput"
                own = {place: own[name], **kept, **mine.pop("hookSpecificOutput", {})}
                answer = {**answer, **mine, "hookSpecificOutput": own}
            return answer

        return judged

    def _answer(self, said: Any, judged: Callable[[SdkSession, Heard], HostAnswer]) -> Any:
        """What is answered to a hook; what cannot be judged is refused."""
        event = str(said.get("hook_event_name", "")) if isinstance(said, Mapping) else ""
        try:
            heard = self._heard(said)
            session: SdkSession = self._works.at(heard.session)
            if heard.says == "call":
                self._opened(heard.key, session)
            answer = judged(session, heard)
            if heard.says in ("result", "failure"):
                self._open.pop(heard.key, None)
        except BadHook as bad:
            answer = AGENT.refusal(event, f"Stanchion refuses this: {bad.words}")
        except Exception as error:  # noqa: BLE001 - Claude Code goes on where some of its hooks fail
            aside(f"`{event}` of {AGENT.name} could not be judged", error)
            why = f"it could not be judged: `{type(error).__name__}`"
            answer = AGENT.refusal(event, f"Stanchion refuses this: {why}")
        return msgspec.json.decode(answer.stdout)

    def _heard(self, said: Any) -> Heard:
        """What a hook says. A tool that this program runs has its own name and arguments alone:
        it does not work in the session's folder."""
        heard = AGENT.heard(said)
        prefix = next((one for one in self._own if heard.tool.startswith(one)), "")
        if not prefix or "args" not in heard.fields:
            return heard
        fields = {"tool": heard.tool.removeprefix(prefix), "args": dict(heard.given)}
        return with_fields(heard, fields={**heard.fields, **fields})

    def _of(self, heard: Heard, **said: Any) -> Heard:
        """What would be heard if something else were said of a call."""
        told = {
            "hook_event_name": heard.event,
            "session_id": heard.session,
            "cwd": heard.cwd,
            "tool_use_id": heard.key,
            "agent_id": heard.child,
            "agent_type": heard.kind,
            "permission_mode": heard.mode,
            "tool_name": heard.tool,
            "tool_input": dict(heard.given),
        }
        return self._heard({**told, **said})

    def _opened(self, call: str, session: SdkSession) -> None:
        with self._lock:
            known = self._open.get(call, session)
            self._open[call] = session if known is session else None
            self._open.move_to_end(call)
            if len(self._open) > MOST_CALLS:
                self._open.popitem(last=False)


def _again(session: SdkSession, heard: Heard) -> HostAnswer:
    return AGENT.words(heard, session.again(heard))


def guarded(options: Any, shield: Any, *, agent: str = "", task: str = "") -> Any:
    """Options like these, whose sessions are judged: each has a run of its own, or works in the one
    that is given.

    Give them to `query` and to `ClaudeSDKClient`, as often and to as many at once as you like.
    Raises `TypeError` for options with which something would pass unjudged.
    """
    if not isinstance(options, ClaudeAgentOptions):
        raise TypeError(f"`{type(options).__name__}` cannot be guarded: give `ClaudeAgentOptions`")
    here = shield.run if isinstance(shield, Hosted) else shield
    if not isinstance(here, Shield | Run):
        raise TypeError(f"`{type(here).__name__}` cannot judge here: give a `Shield`, or its run")
    unheard = [name for name in WITHOUT_HOOKS if name in options.extra_args]
    if unheard:
        raise TypeError(f"Claude Code asks no hook with `{unheard[0]}`: take it from `extra_args`")
    if options.permission_prompt_tool_name is not None:
        raise TypeError("`permission_prompt_tool_name` would pass unjudged: give `can_use_tool`")
    if options.include_partial_messages:
        raise TypeError("no hook sees the pieces of a reply: leave `include_partial_messages` out")
    guarding = SdkGuarding(options, shield, agent, task)
    return replace(
        options,
        hooks=guarding.hooks(options.hooks),
        mcp_servers=guarding.servers(options.mcp_servers),
        can_use_tool=None if options.can_use_tool is None else guarding.may_use,
        env={**options.env, **KEEPS_HOOKS},
    )


class Rehearsal(Transport):
    """Stands for Claude Code, which asks its hooks about one call, and makes it unless they hold
    it back."""

    def __init__(self, body: Callable[[], str]) -> None:
        self._body = body
        self._hooks: list[Any] = []
        self._says: asyncio.Queue[Any] = asyncio.Queue()

    async def write(self, data: str) -> None:
        """Answer what the SDK says."""
        said = msgspec.json.decode(data)
        match said:
            case {"request": {"subtype": "initialize"} as asked, "request_id": name}:
                self._hooks = (asked.get("hooks") or {}).get("PreToolUse", [])
                came = {"hook_on_failure_supported": True}
                answer = {"subtype": "success", "request_id": name, "response": came}
                self._says.put_nowait({"type": "control_response", "response": answer})
                return
            case {"type": "user"} if self._hooks and self._hooks[0].get("onFailure") == "block":
                call = {"tool_name": TOOL, "tool_input": {}, "tool_use_id": TOOL, "cwd": "/"}
                told = {**call, "session_id": TOOL, "hook_event_name": "PreToolUse"}
                named = {"callback_id": self._hooks[0]["hookCallbackIds"][0], "tool_use_id": TOOL}
                asked = {"subtype": "hook_callback", "input": told, **named}
                asks = {"type": "control_request", "request_id": TOOL, "request": asked}
                self._says.put_nowait(asks)
                return
            case {"response": {"response": {"hookSpecificOutput": {"permissionDecision": "deny"}}}}:
                pass
            case {"response": {"subtype": "error"}}:
                pass
            case _:
                self._body()
        self._says.put_nowait(None)

    async def connect(self) -> None:
        """Nothing is started."""

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        """What it has to say."""
        while (said := await self._says.get()) is not None:
            yield said

    async def close(self) -> None:
        """Say nothing more."""
        self._says.put_nowait(None)

    def is_ready(self) -> bool:
        """It always is."""
        return True

    async def end_input(self) -> None:
        """Nothing more is said to it."""


async def canary(shield: Any, body: Callable[[], str]) -> None:
    """Have Claude Code's part played by somebody who calls the canary."""
    options = guarded(ClaudeAgentOptions(), shield, agent=TOOL)
    async for _ in query(prompt="call it", options=options, transport=Rehearsal(body)):
        pass
