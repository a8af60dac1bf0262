"""Transcripts of coding agents: what their files say, as the bodies that hooks would have said."""

from __future__ import annotations

import heapq
import os
import shlex
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice, product
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct, field

from stanchion.kernel.regex import regex
from stanchion.readings.word_lists import in_order, listed

Body = dict[str, Any]

LONGEST: Final = 32 * 1024 * 1024
"""The longest line that is read; the rest of a longer one is passed over."""
OPEN_CALLS: Final = 1_024
"""How many calls without a result are remembered in a file."""
HEAD: Final = 50
"""In how many lines a file has to say whose it is."""


class TranscriptEvent(Struct, frozen=True):
    """One thing that a transcript tells: when, what a hook would have said of it, and what was
    used. `key` is the same in every copy of a session, and empty where there are no copies.
    `refused` says that the host itself did not carry the call out."""

    at_ms: int
    body: Body | None = None
    key: str = ""
    tokens: int = 0
    cost_usd: float = 0
    refused: bool = False


class TranscriptLines(Struct):
    """What was met in files: how many lines, how many that cannot be read, and those of kinds that
    are not known. `told` hears how many bytes were read."""

    lines: int = 0
    unreadable: int = 0
    read_bytes: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    unopened: dict[str, str] = {}
    told: Callable[[int], object] = int

    def read(self, length: int) -> None:
        """Count a line."""
        self.lines += 1
        self.read_bytes += length
        self.told(self.read_bytes)


class RecordedSession(Struct, frozen=True):
    """One session of a coding agent: its files, those of its sub-agents included, and when they
    were last written to."""

    agent: str
    id: str
    files: tuple[Path, ...]
    changed_ms: int
    size: int


class TranscriptFile:
    """One file as it is read: what of it has to be known to understand the next line."""

    def __init__(self, session: str, met: TranscriptLines) -> None:
        self.session, self.met = session, met
        self.cwd = self.agent_id = self.message = ""
        self.agent_type = "subagent"
        self.at_ms = self.tokens = 0
        self.cost_usd = 0.0
        self.forked = False
        self.calls: OrderedDict[str, Body] = OrderedDict()

    def said(self, key: str, event: str, **more: Any) -> TranscriptEvent:
        """What a hook would have said."""
        whose = {"agent_id": self.agent_id, "agent_type": self.agent_type} if self.agent_id else {}
        body = {"hook_event_name": event, "session_id": self.session, "cwd": self.cwd, **whose}
        return TranscriptEvent(self.at_ms, {**body, **more}, key)

    def called(
        self, key: str, call: str, tool: str, args: Any, cwd: str | None = None
    ) -> TranscriptEvent:
        """What a hook would have said before a tool runs."""
        about = {"tool_name": tool, "tool_input": args, "tool_use_id": call}
        self.calls[call] = {**about, "cwd": cwd or self.cwd}
        while len(self.calls) > OPEN_CALLS:
            self.calls.popitem(last=False)
        return self.said(key, "PreToolUse", **self.calls[call])

    def came(self, key: str, call: str, event: str = "", **more: Any) -> TranscriptEvent:
        """What a hook would have said after a tool has run; nothing where it did not, or where its
        call is not in the file."""
        about = self.calls.pop(call, None)
        if about is None or not event:
            return TranscriptEvent(self.at_ms, None, key, refused=not event)
        return self.said(key, event, **about, **more)

    def replied(self, key: str, words: str) -> TranscriptEvent:
        """What a hook would have said at the end of a turn."""
        event = "SubagentStop" if self.agent_id else "Stop"
        return self.said(key, event, last_assistant_message=words)

    def used(self, tokens: int = 0, cost_usd: float = 0.0) -> TranscriptEvent:
        """What was used since the last time, of totals that only grow."""
        old = self.tokens, self.cost_usd
        self.tokens, self.cost_usd = max(tokens, old[0]), max(cost_usd, old[1])
        new = self.tokens - old[0], self.cost_usd - old[1]
        return TranscriptEvent(self.at_ms, tokens=new[0], cost_usd=new[1])


Told = Iterator[TranscriptEvent]

# Claude Code: a line a message, of one part each in newer versions; what the host notes for itself
# stands between.

CLAUDE_QUIET: Final = listed(
    "cost-state summary queue-operation attachment last-prompt atis-latch api-request mode tag "
    "api-request-shape api-request-blob tools-used file-history-snapshot file-history-delta system "
    "ai-title custom-title agent-name agent-color agent-setting progress pr-link bridge-session "
    "permission-mode worktree-state content-replacement attribution-snapshot task-summary"
)
"""Kinds of lines that say nothing of what was done."""
NOT_RUN: Final = regex(
    r"<tool_use_error>(?:Error: )?No such tool|The user doesn't want to (?:proceed|take)"
    r"|Permission to use .{1,80} has been denied|\[Request interrupted by user"
)
"""How a result begins of a call that did not run."""
COMMANDS: Final = ("<command-", "<local-command-", "<bash-", "[Request interrupted by user")
"""How a text begins that stands among the user's words and is none of them."""
USED: Final = in_order(
    "input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens"
)


def claude_line(line: Body, file: TranscriptFile) -> Told:
    """What a line of Claude Code says."""
    kind = line.get("type")
    if kind in ("user", "assistant"):
        message, key = line["message"], str(line.get("uuid") or "")
        content = message["content"] if isinstance(message, dict) else message
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        words = "\n".join([part["text"] for part in parts if part["type"] == "text"])
        file.cwd = line.get("cwd") or file.cwd
        file.agent_id = (line.get("agentId") or "sidechain") if line.get("isSidechain") else ""
        if kind == "user":
            yield from _claude_user(line, key, parts, words, file)
        else:
            yield from _claude_reply(line, key, parts, words, file)
    elif kind == "cost-state":
        yield file.used(cost_usd=float(line["totalCostUSD"]))
    elif kind not in CLAUDE_QUIET:
        file.met.unknown[str(kind)] += 1


def _claude_user(line: Body, key: str, parts: list[Body], words: str, file: TranscriptFile) -> Told:
    results = [part for part in parts if part["type"] == "tool_result"]
    told = line.get("toolUseResult") if len(results) == 1 else None
    for part in results:
        call, content, failed = part["tool_use_id"], part.get("content", ""), part.get("is_error")
        text = _text(content)
        if _is_refused(line) or (failed and NOT_RUN.match(text)):
            yield file.came(key, call)
        elif failed:
            yield file.came(key, call, "PostToolUseFailure", error=text)
        else:
            response = content if told is None else told
            yield file.came(key, call, "PostToolUse", tool_response=response)
    made = line.get("isMeta") or line.get("isCompactSummary") or file.agent_id
    if words and not made and not words.startswith(COMMANDS):
        yield file.said(key, "UserPromptSubmit", prompt=words)


def _is_refused(line: Body) -> bool:
    said = line.get("permissionDecision") or {}
    return "toolDenialKind" in line or said.get("decision") == "reject"


def _claude_reply(
    line: Body, key: str, parts: list[Body], words: str, file: TranscriptFile
) -> Told:
    message, usage = line["message"], line["message"].get("usage")
    file.agent_type = (file.agent_id and line.get("attributionAgent")) or file.agent_type
    if usage and message.get("id") != file.message:
        file.message = message.get("id", "")
        tokens = sum([usage.get(name) or 0 for name in USED])
        yield TranscriptEvent(file.at_ms, None, key, tokens, float(line.get("costUSD") or 0))
    for part in parts:
        if part["type"] == "tool_use":
            yield file.called(key, part["id"], part["name"], part["input"])
    if words and message.get("stop_reason") == "end_turn":
        yield file.replied(key, words)


def _text(content: Any) -> str:
    """The text of a result, which is a text or a list of parts."""
    if isinstance(content, str):
        return content
    return "\n".join([str(part.get("text", "")) for part in content if isinstance(part, dict)])


# Codex: a line an item in an envelope of time, type and payload; the oldest versions have the bare
# items.

CODEX_QUIET: Final = listed(
    "message reasoning web_search_call ghost_snapshot compaction compaction_summary other state "
    "image_generation_call tool_search_call tool_search_output context_compaction compacted "
    "world_state token_usage_record inter_agent_communication mcp_list_tools"
)
"""Kinds of lines and items that say nothing of what was done."""
SHELLS: Final = {"exec_command": "cmd", "shell_command": "command", "shell": "command"}
"""Tools that run a command, and the argument that has it."""
SPAWNED: Final = regex(r"(?:\S*/)?(?:ba|z|da)?sh -l?c ")
HEADED: Final = regex(
    r"(?:(?:(?:Chunk ID|Wall time|Exit code|Original token count|Total output lines): [^\n]*"
    r"|Process [^\n]*)\n){1,6}Output:\n"
)
"""What stands above the output of a command."""
NOT_DONE: Final = regex(
    r"unsupported (?:custom tool )?call:|(?:Wall time: [^\n]*\n)?aborted by user"
)
"""How a result begins of a call that did not run, or not to its end."""


def codex_line(line: Body, file: TranscriptFile) -> Told:
    """What a line of Codex says: the item in an envelope, or a line that has none."""
    kind = line.get("type", "state")
    item = line["payload"] if kind in ("event_msg", "response_item") else line
    call = str(item.get("call_id") or item.get("id") or "")
    key, theirs = call if file.forked else "", not file.agent_id
    match item:
        case {"type": "session_meta", "payload": {"id": own} as about}:
            file.cwd = about.get("cwd") or file.cwd
            file.forked = "forked_from_id" in about
            if own != file.session:
                file.agent_id, file.agent_type = own, about.get("agent_role") or file.agent_type
        case {"type": "turn_context", "payload": about}:
            file.cwd = about.get("cwd") or file.cwd
        case {"type": "user_message", "message": words} if theirs:
            yield file.said("", "UserPromptSubmit", prompt=words)
        case {"type": "item_completed", "item": {"type": "UserMessage", "content": parts}} if (
            theirs
        ):
            yield from [
                file.said("", "UserPromptSubmit", prompt=one) for one in [_text(parts)] if one
            ]
        case {"type": "item_completed", "item": {"status": "failed", "server": _, "id": failed}}:
            file.calls.pop(failed, None)  # no hook hears of it
        case {"type": "task_complete", "last_agent_message": str(words)}:
            yield file.replied("", words)
        case {"type": "token_count", "info": {"total_token_usage": {"total_tokens": int(total)}}}:
            yield file.used(total, file.cost_usd)
        case {"type": "function_call" | "custom_tool_call" | "local_shell_call"}:
            yield file.called(key, call, *_codex_call(item))
        case {
            "type": "function_call_output" | "custom_tool_call_output" | "local_shell_call_output"
        }:
            given = item.get("output", "")
            text = given.get("content", "") if isinstance(given, dict) else given
            if isinstance(text, str) and NOT_DONE.match(text):
                yield file.came(key, call)
            else:
                yield file.came(key, call, "PostToolUse", tool_response=_codex_output(text))
        case _ if kind != "event_msg" and item.get("type", "state") not in CODEX_QUIET:
            file.met.unknown[str(item["type"])] += 1


def _codex_call(item: Body) -> tuple[str, Any, str | None]:
    """A call as a hook of Codex names it: the tool, its arguments, and the folder it runs in."""
    match item:
        case {"type": "local_shell_call", "action": action}:
            command = _joined(action["command"])
            return "Bash", {"command": command}, action.get("working_directory")
        case {"type": "custom_tool_call", "name": str(name)}:
            return name, {"command": item["input"]}, None
    name, space = str(item["name"]), item.get("namespace") or ""
    args = msgspec.json.decode(item["arguments"]) if item["arguments"] else {}
    if SHELLS.get(name) in args:
        return "Bash", {"command": _joined(args[SHELLS[name]])}, args.get("workdir")
    return f"{space}__{name}" if space.startswith("mcp__") else name, args, None


def _joined(command: Any) -> str:
    """A command as a shell reads it: the text that a shell is given, or the words one by one."""
    words = [command] if isinstance(command, str) else [str(word) for word in command]
    if len(words) == 3 and SPAWNED.match(f"{words[0]} {words[1]} "):
        return words[2]
    return command if isinstance(command, str) else shlex.join(words)


def _codex_output(output: Any) -> Any:
    """What a call gave, without what Codex writes above it."""
    if isinstance(output, list):
        headed = output and HEADED.fullmatch(f"{output[0].get('text', '')}\n")
        return {"content": output[1:]} if headed else output
    if output.startswith('{"output":'):
        try:
            return msgspec.json.decode(output)["output"]
        except (msgspec.DecodeError, KeyError, TypeError):
            return output
    while headed := HEADED.match(output):
        output = output[headed.end() :]
    return output


# Files: where they are, which of them are one session, and their lines in the order of time.

READERS: Final[Mapping[str, Callable[[Body, TranscriptFile], Told]]] = {
    "claude": claude_line,
    "codex": codex_line,
}
PLACES: Final[Mapping[str, tuple[str, tuple[str, ...], tuple[str, ...]]]] = {
    "claude": (
        "CLAUDE_CONFIG_DIR",
        ("~/.claude", "~/.config/claude"),
        ("projects/*/*.jsonl", "projects/*/*/subagents/**/*.jsonl"),
    ),
    "codex": (
        "CODEX_HOME",
        ("~/.codex",),
        ("sessions/**/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl"),
    ),
}
"""Where each agent keeps its files: the variable that says it, the usual folders, and what is below
them."""


def homes(agent: str, environ: Mapping[str, str]) -> list[Path]:
    """The folders in which an agent keeps its transcripts."""
    variable, usual, _ = PLACES[agent]
    named = environ.get(variable, "")
    return [Path(one).expanduser() for one in ([named] if named else usual)]


def files_of(agent: str, environ: Mapping[str, str], met: TranscriptLines) -> list[Path]:
    """The transcripts that an agent has kept; folders that cannot be read are noted."""
    found: list[Path] = []
    for home, below in product(homes(agent, environ), PLACES[agent][2]):
        folder = home / below.partition("/")[0]
        try:
            os.listdir(folder)
        except FileNotFoundError:
            continue
        except OSError as error:
            met.unopened[str(folder)] = str(error.strerror)
        found += sorted(home.glob(below))
    return found


def sessions_in(files: Iterable[Path], met: TranscriptLines) -> Iterator[RecordedSession]:
    """The sessions that files belong to, in the order in which they were last written to; `met`
    notes the files that cannot be read, or are no transcripts."""
    grouped: dict[tuple[str, str], dict[Path, os.stat_result]] = {}
    for path in files:
        beside = (path.with_suffix("") / "subagents").glob("**/*.jsonl")
        for one in (path, *sorted(beside)):
            try:
                whose = _whose(one)
                if whose is None:
                    raise OSError(0, "it is no transcript of Claude Code or of Codex")
                grouped.setdefault(whose, {})[one] = one.stat()
            except OSError as error:
                met.unopened[str(one)] = str(error.strerror)
    found = [
        RecordedSession(
            *whose,
            tuple(stats),
            max(int(stat.st_mtime * 1000) for stat in stats.values()),
            sum(stat.st_size for stat in stats.values()),
        )
        for whose, stats in grouped.items()
    ]
    return iter(sorted(found, key=lambda one: (one.changed_ms, one.id)))


def _whose(path: Path) -> tuple[str, str] | None:
    """The agent and the session that a file is of; `None` where its first lines do not say."""
    with path.open("rb") as file:
        for raw, _ in islice(_lines(file), HEAD):
            match _object(raw):
                case None:
                    return None
                case {"sessionId": str(session)} if session:
                    return "claude", session
                case (
                    {"type": "session_meta", "payload": {"session_id": str(session)}}
                    | {"type": "session_meta", "payload": {"source": {"subagent": {
                        "thread_spawn": {"parent_thread_id": str(session)}}}}}
                    | {"type": "session_meta", "payload": {"id": str(session)}}
                    | {"id": str(session), "timestamp": str(), "instructions": _}
                ):  # fmt: skip
                    return "codex", session
    return None


def told_in(session: RecordedSession, met: TranscriptLines) -> Iterator[TranscriptEvent]:
    """What a session's files tell, in the order of time; lines are read one by one."""
    streams = [_told(session, path, met) for path in session.files]
    return heapq.merge(*streams, key=lambda one: one.at_ms)


def _told(session: RecordedSession, path: Path, met: TranscriptLines) -> Told:
    file, read = TranscriptFile(session.id, met), READERS[session.agent]
    try:
        with path.open("rb") as source:
            for raw, length in _lines(source):
                met.read(length)
                line = _object(raw)
                try:
                    if line is None:
                        raise TypeError
                    file.at_ms = max(file.at_ms, _at_ms(line))
                    told = list(read(line, file))
                except (TypeError, KeyError, ValueError, AttributeError, msgspec.DecodeError):
                    met.unreadable += 1
                    continue
                yield from told
    except OSError as error:
        met.unopened[str(path)] = str(error.strerror)


def _lines(source: Any) -> Iterator[tuple[bytes, int]]:
    """The lines of a file that are not empty, each with its length; one that is too long is cut,
    and so cannot be read."""
    while line := source.readline(LONGEST):
        length, end = len(line), line
        while not end.endswith(b"\n") and (end := source.readline(LONGEST)):
            length += len(end)
        if line.strip():
            yield line if length == len(line) else b"", length


def _object(raw: bytes) -> Body | None:
    try:
        found = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _at_ms(line: Body) -> int:
    """When a line was written, 0 where it does not say."""
    at = line.get("timestamp")
    if not isinstance(at, str):
        return 0
    when = datetime.fromisoformat(at)
    return round(when.replace(tzinfo=when.tzinfo or UTC).timestamp() * 1000)
