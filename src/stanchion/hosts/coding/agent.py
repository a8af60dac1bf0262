"""A coding agent as data: the events of its hooks, what they say, and the words in which it is
answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from stanchion.kernel.regex import regex
from stanchion.kernel.shown import StanchionError, brief
from stanchion.kernel.stages import Stage
from stanchion.readings.act_words import STARTS
from stanchion.readings.names import plain

LONGEST_BODY: Final = 16 * 1024 * 1024
"""How many bytes the body of a hook may have."""
LONGEST_NAME: Final = 512
"""How long the name of a session, a call or a sub-agent may be."""
LONGEST_PATH: Final = 4_096
RELAYED: Final = regex(r"\s*(?:<[A-Za-z]|# /loop|# Autonomous loop)")
"""How prompts begin that a host has put together."""
SERVED: Final = "mcp__"
"""How the names of tools begin that a server of tools has."""
STATUS: Final = "exit_code"
"""The field of a command's result that says how it ended; hosts have none."""
ENDED: Final = frozenset({"stdout", "stderr", "interrupted", "isImage", "noOutputExpected"})
"""The fields that a host gives to the result of a command of which there is nothing to say."""
HERE: Final = "cwd"
"""The argument of a call that says in which folder the session is."""


Says = Literal[
    "begins", "prompt", "call", "asks", "result", "failure", "reply", "child", "child_reply",
    "ends", "news", "settings",
]  # fmt: skip
"""What an event tells: that a session or a sub-agent begins or ends, words of the user, a call that
is about to be made, or that the host is about to ask about, what came of it, that a file of
settings has changed, or nothing to be judged."""

EVENTS: Final[Mapping[str, Says]] = {
    "SessionStart": "begins",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "call",
    "PermissionRequest": "asks",
    "PostToolUse": "result",
    "PostToolUseFailure": "failure",
    "SubagentStart": "child",
    "SubagentStop": "child_reply",
    "Stop": "reply",
    "SessionEnd": "ends",
    "PreCompact": "news",
    "ConfigChange": "settings",
}
"""What events tell, by the names that coding agents give them."""
TELLS: Final = frozenset({"begins", "prompt", "call", "result", "failure", "child"})
"""What can be answered with words for the agent."""

_CALL: Final = {"tool_name": str, "tool_input": dict}
NEEDED: Final[Mapping[Says, Mapping[str, type]]] = {
    "prompt": {"prompt": str},
    "call": {**_CALL, "tool_use_id": str},
    "asks": _CALL,
    "result": {**_CALL, "tool_use_id": str},
    "failure": {**_CALL, "tool_use_id": str, "error": str},
    "child": {"agent_id": str},
    "child_reply": {"agent_id": str},
}
"""The fields without which an event of a kind cannot be judged."""


class BadHook(StanchionError, ValueError):
    """What a hook says cannot be judged; `event` is what it calls itself, if anything."""

    def __init__(self, event: str, words: str) -> None:
        super().__init__(event, words)
        self.event, self.words = event, words


class HostAnswer(Struct, frozen=True):
    """What a hook tells its host. Over HTTP `stdout` is the body, and is never empty."""

    stdout: str
    stderr: str = ""
    status: int = 0


class Heard(Struct, frozen=True):
    """What a hook says, read: what is to be judged of it at which stage, and for whom."""

    event: str
    says: Says
    session: str
    cwd: str
    stage: Stage | None = None
    """Where it is judged; `None` for what only tells."""
    fields: Mapping[str, Any] = {}
    """The fields of the event at that stage."""
    key: str = ""
    """The host's own name for the call."""
    child: str = ""
    """The sub-agent that speaks; empty for the main one."""
    kind: str = ""
    """The kind of that sub-agent."""
    mode: str = ""
    """What the host asks its user about."""
    typed: bool = False
    """Whether the host says that its user has written this prompt."""
    again: bool = False
    """Whether a reply was sent back once already."""
    tool: str = ""
    given: Mapping[str, Any] = {}
    """The arguments of a call, as the host has them."""


class HookVerdict(Struct, frozen=True):
    """What becomes of an event, before it is in a host's words.

    `ask` leaves it to the person before the host. `changed` is what goes on in the place of what
    was said, and `command` is what a person answers the open question with.
    """

    outcome: Literal["go", "ask", "refuse", "end"] = "go"
    words: str = ""
    notices: tuple[str, ...] = ()
    changed: Any = msgspec.UNSET
    command: str = ""

    @property
    def told(self) -> str:
        """All words for whoever is refused."""
        return f"{self.words}\n{self.command}" if self.command else self.words


GO: Final = HookVerdict()


class CodingAgent(Struct, frozen=True):
    """One coding agent: the form of each event, and what becomes of a decision."""

    name: str
    says: Mapping[str, Says]
    """What each event tells that is listened to."""
    words: Callable[[Heard, HookVerdict], HostAnswer]
    """Answers an event in the host's own words."""
    asking_modes: frozenset[str] = frozenset()
    """The modes of permission in which a person answers what a hook wants asked."""
    relays: bool = False
    """Whether the host writes prompts of its own, in a tag, with the words of others in them."""
    later_prompts: frozenset[str] = frozenset()
    """Tools by which an agent writes a prompt that comes later."""
    renamed: Mapping[str, Mapping[str, str]] = {}
    """Arguments of tools that are called otherwise than what they are."""
    shells: frozenset[str] = frozenset()
    """Tools whose failures are the exit codes of commands."""
    runs_itself: Callable[[Heard], bool] = lambda _: False
    """Whether the host carries a call out itself, without a process, and never says what came of
    it."""
    fed: Callable[[Heard], str] = lambda _: ""
    """The program that a call starts and that is typed into unheard; empty where there is none."""
    programs: tuple[str, ...] = ()
    """The names of its program."""
    marks: tuple[str, ...] = ()
    """The variables that it gives to every command it starts."""
    stdin: Literal["socket", "pipe"] = "pipe"
    """What a hook of it has as standard input."""

    def read(self, body: bytes) -> Heard:
        """What the body of a hook says; raises `BadHook` for what cannot be judged."""
        if len(body) > LONGEST_BODY:
            raise BadHook("", f"the hook says {len(body)} bytes: at most {LONGEST_BODY} are read")
        try:
            said = msgspec.json.decode(body)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            raise BadHook("", "the hook does not say JSON: report its events as they are") from None
        return self.heard(said)

    def heard(self, body: Any) -> Heard:
        """The same for a body that is an object already."""
        if type(body) is not dict:
            raise BadHook("", "the hook says no object: report its events as they are")
        event = _text(body, "hook_event_name")
        says = self.says.get(event)
        if says is None:
            raise BadHook(event, f"{brief(event)} is no event of {self.name} that is known here")
        _check(says, event, body)
        stage, fields = self._fields(says, body)
        return Heard(
            event=event,
            says=says,
            session=body["session_id"],
            cwd=body["cwd"],
            stage=stage,
            fields=fields,
            key=_text(body, "tool_use_id"),
            child=_text(body, "agent_id"),
            kind=_text(body, "agent_type"),
            mode=_text(body, "permission_mode"),
            typed=says == "prompt" and self._is_typed(body),
            again=body.get("stop_hook_active") is True,
            tool=_text(body, "tool_name"),
            given=body["tool_input"] if "tool_input" in NEEDED.get(says, {}) else {},
        )

    def own_args(self, heard: Heard, args: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments as the host has them, from those that were judged."""
        names = self.renamed.get(heard.tool, {})
        return {own: args.get(names.get(own, own), one) for own, one in heard.given.items()}

    def refusal(self, event: str, words: str) -> HostAnswer:
        """Refuse an event in the host's own words, whatever the event is, and known or not."""
        says = self.says.get(event, "call")
        name = event if event in self.says else "PreToolUse"
        return self.words(Heard(name, says, "", "/", again=True), HookVerdict("refuse", words))

    def _fields(self, says: Says, body: dict[str, Any]) -> tuple[Stage | None, dict[str, Any]]:
        match says:
            case "prompt":
                return Stage.PROMPT, {"text": body["prompt"]}
            case "reply" | "child_reply":
                said = _text(body, "last_assistant_message")
                return (Stage.MODEL_REPLY, {"text": said, "final": True}) if said else (None, {})
            case "call" | "asks":
                return Stage.TOOL_CALL, self._called(body)
            case "result":
                return Stage.TOOL_RESULT, {
                    **self._called(body),
                    "result": self._came(body),
                }
            case "failure":
                return self._failed(body)
            case "settings" if _text(body, "source").endswith("_settings"):
                return None, {"file": _text(body, "file_path")}
            case _:
                return None, {}

    def _called(self, body: dict[str, Any]) -> dict[str, Any]:
        """A call as guards see it: with the folder from which its paths are seen. A host's own
        tools work where the session is, whatever folder an agent names; a server's as it is
        told."""
        tool, given = body["tool_name"], body["tool_input"]
        names = self.renamed.get(tool, {})
        args = {names.get(name, name): one for name, one in given.items()}
        named = [name for name in args if plain(name) in STARTS]
        if not (named and tool.startswith(SERVED)):
            args = {name: one for name, one in args.items() if name not in named}
            args[HERE] = body["cwd"]
        return {"tool": tool, "args": args}

    def _came(self, body: dict[str, Any]) -> Any:
        """What came of a call, with the status of a command that has ended well: its host says what
        did not as a failure, and names what else there is to say."""
        came = body.get("tool_response")
        if body["tool_name"] not in self.shells or not isinstance(came, dict):
            return came
        ended = came.keys() <= ENDED and came.get("interrupted") is False
        return {**came, STATUS: 0} if ended else came

    def _failed(self, body: dict[str, Any]) -> tuple[Stage, dict[str, Any]]:
        """A failure; what a command's exit code says is no failure of the tool that ran it."""
        called, text = self._called(body), body["error"]
        if body["tool_name"] in self.shells and text.startswith("Exit code"):
            return Stage.TOOL_RESULT, {**called, "result": text}
        error = "Interrupted" if body.get("is_interrupt") is True else "ToolError"
        return Stage.ERROR, {**called, "error": error, "text": text}

    def _is_typed(self, body: dict[str, Any]) -> bool:
        """Whether its user has written a prompt, as far as the host says: what it has put together
        itself has words of others in it."""
        if self.relays and RELAYED.match(body["prompt"]) is not None:
            return False
        return body.get("source", "user") in ("user", "sdk")


def refused(heard: Heard, words: str, ask: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
    """The refusal of an event, or the question to the person before the host: what every event
    says, and what belongs to this one alone."""
    match heard.says:
        case "call":
            decided = "ask" if ask else "deny"
            return {}, {"permissionDecision": decided, "permissionDecisionReason": words}
        case "asks":
            return {}, {"decision": {"behavior": "deny", "message": words}}
        case "failure":
            return {}, {"additionalContext": words}
        case "reply" | "child_reply" if heard.again:
            return {"systemMessage": words}, {}
        case "prompt" | "result" | "reply" | "child_reply":
            return {"decision": "block", "reason": words}, {}
        case "settings":
            return {"decision": "block", "reason": words, "systemMessage": words}, {}
        case _:
            return {"systemMessage": words}, {}


def in_json(
    heard: Heard, said: dict[str, Any], own: dict[str, Any], notices: tuple[str, ...] = ()
) -> str:
    """An answer with what belongs to its event alone, and the words for the agent."""
    if notices and heard.says in TELLS:
        told = filter(None, (own.get("additionalContext"), *notices))
        own = {**own, "additionalContext": "\n".join(told)}
    more = {"hookSpecificOutput": {"hookEventName": heard.event, **own}} if own else {}
    return msgspec.json.encode({**said, **more}).decode()


def _check(says: Says, event: str, body: Mapping[str, Any]) -> None:
    """Raise `BadHook` where a body does not say what an event of its kind needs."""
    for name, kind in {"session_id": str, "cwd": str, **NEEDED.get(says, {})}.items():
        if type(body.get(name)) is not kind:
            raise BadHook(event, f"`{event}` does not say its `{name}` as a {kind.__name__}")
    session, cwd = body["session_id"], body["cwd"]
    names = [session, *[_text(body, name) for name in ("tool_use_id", "agent_id")]]
    if not session or any(len(name) > LONGEST_NAME for name in names):
        raise BadHook(event, f"`{event}` has a name that is empty or too long")
    if not cwd.startswith("/") or len(cwd) > LONGEST_PATH or "\0" in cwd:
        raise BadHook(event, f"`{event}` names no folder that it is in")


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    return value if type(value) is str else ""
