"""Drawn cases: short stories with events of all stages, from a seed. The same seed gives the same
events everywhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

from tools.decisions import material
from tools.decisions.case import Call, Case, Judge, Model, Step, Stream
from tools.decisions.policies import PACKS, WHOLE

EVENTS: Final = 10_000
SEED: Final = "stanchion-1"

CARRIED: Final = ("allow", "warn", "redact", "degrade", "retry", "block", "quarantine", "halt")
"""What a host can do that waits for nobody: calls through a run would wait for people, and there
are none."""

AGENTS: Final = ("", "ann", "ann", "bob", "intern-1", "stranger")
VERBS: Final = (
    "get",
    "read",
    "list",
    "send",
    "delete",
    "update",
    "run",
    "execute",
    "create",
    "pay",
    "search",
    "post",
)
NOUNS: Final = (
    "file",
    "mail",
    "user",
    "query",
    "page",
    "order",
    "money",
    "event",
    "command",
    "note",
    "record",
    "code",
)
KNOWN: Final = (
    "bash", "bash", "bash", "bash", "read_file", "write_file", "fetch_url", "run_sql", "search",
    "send_mail", "deploy", "order", "python",
    "company_directory", "ask_user", "weather", "save_note", "git_push", "admin_reset",
    "format_disk", "Edit", "",
)  # fmt: skip
KEYS: Final = (
    "path", "file", "file_path", "url", "command", "cmd", "query", "sql", "code", "to", "recipient",
    "amount", "body", "content", "headers", "options", "text", "note", "data", "args", "force",
    "item", "count", "id", "target", "script",
)  # fmt: skip

TEXTS: Final[tuple[Callable[[Random], str], ...]] = (
    material.command, material.command, material.path, material.url, material.statement,
    material.prose, material.prose, material.strange, material.order, material.secret,
    material.personal, material.word,
)  # fmt: skip


def cases(
    events: int = EVENTS, seed: str = SEED, wants: Callable[[str], bool] = lambda _name: True
) -> Iterator[Case]:
    """Stories with so many events in all, each under three packs and under a policy with every
    guard; those whose names are wanted. Of the others only their length is drawn."""
    drawn = number = 0
    while drawn < events:
        rng = Random(f"{seed}/{number}")
        length = min(events - drawn, rng.randrange(1, 12))
        names = {policy: f"drawn/{number}: ({policy})" for policy in (*PACKS, WHOLE)}
        wanted = [policy for policy, name in names.items() if wants(name)]
        if wanted:
            steps = tuple(_story(rng, length))
            about = _run(rng, steps)
            for policy in wanted:
                yield Case(names[policy], policy, steps, {"": about}, addresses=ADDRESSES)
        drawn += length
        number += 1


ADDRESSES: Final[dict[str, tuple[str, ...]]] = {
    "example.org": ("93.184.216.34",),
    "api.example.com": ("93.184.216.35", "10.0.0.9"),
    "evil.example.net": ("203.0.113.9",),
    "xn--bcher-kva.example": ("127.0.0.1",),
}


def _run(rng: Random, steps: tuple[Step, ...]) -> dict[str, Any]:
    about: dict[str, Any] = {
        "agent": rng.choice(AGENTS),
        "task": rng.choice(("", "fix-login", "work")),
    }
    if any(not isinstance(step, Judge) for step in steps) or rng.random() < 0.5:
        about["can"] = CARRIED
    return about


def _story(rng: Random, length: int) -> list[Step]:
    """Events one after the other: what follows is often about what was before, and sometimes the
    same once more."""
    steps: list[Step] = []
    while len(steps) < length:
        last = steps[-1] if steps else None
        if isinstance(last, Judge) and last.stage == "tool_call" and rng.random() < 0.7:
            steps.append(_outcome(rng, last.fields))
        elif steps and rng.random() < 0.12:
            steps.append(rng.choice(steps))
        else:
            steps.append(rng.choice(KINDS)(rng))
    return steps


def tool(rng: Random) -> str:
    """The name of a tool, known or made up, in one of the manners that hosts have."""
    if rng.random() < 0.5:
        return rng.choice(KNOWN)
    verb, noun = rng.choice(VERBS), rng.choice(NOUNS)
    manners = (
        f"{verb}_{noun}", f"{verb}-{noun}", f"{verb}{noun.title()}",
        f"{verb.title()}{noun.title()}", f"{noun}.{verb}", f"mcp__{noun}s__{verb}_{noun}",
        f"{noun.title()}Manager{verb.title()}", f"{noun}s/{verb}", f"{verb}_{noun}".upper(),
        f"Server:{verb} {noun}", f"{verb}_{material.strange(rng)}",
    )  # fmt: skip
    return rng.choice(manners)


def value(rng: Random, depth: int = 0) -> Any:
    """A value of an argument: a text, a number, or more of the same inside."""
    kind = rng.random()
    if kind < 0.6:
        return rng.choice(TEXTS)(rng)
    if kind < 0.66:
        return material.long_text(rng) if rng.random() < 0.2 else rng.choice((True, False, None))
    if kind < 0.78:
        return rng.choice((0, 1, -1, 3.5, 1e308, 10**18, rng.randrange(10**6), rng.random()))
    if kind < 0.84:
        return json.dumps({rng.choice(KEYS): rng.choice(TEXTS)(rng)})
    if depth == 3:
        return material.word(rng)
    if kind < 0.92:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return arguments(rng, depth + 1)


def arguments(rng: Random, depth: int = 0) -> dict[str, Any]:
    """Arguments of a call; commands and paths stand where they belong, and where they do not."""
    return {rng.choice(KEYS): value(rng, depth) for _ in range(rng.randrange(1, 5))}


def _fitting(rng: Random, name: str) -> dict[str, Any]:
    match name:
        case "bash":
            return {"command": material.command(rng)}
        case "read_file":
            return {"path": material.path(rng)}
        case "write_file" | "Edit":
            return {"path": material.path(rng), "content": rng.choice(TEXTS)(rng)}
        case "fetch_url":
            return {"url": material.url(rng)}
        case "run_sql":
            return {"query": material.statement(rng)}
        case "order":
            return {"item": material.word(rng), "count": rng.choice((1, 0, "two"))}
        case _:
            return arguments(rng)


def _called(rng: Random) -> Step:
    name = tool(rng)
    args = _fitting(rng, name) if rng.random() < 0.6 else arguments(rng)
    usage = {"tokens": rng.randrange(6_000)} if rng.random() < 0.2 else {}
    wait_ms = rng.choice((0, 0, 0, 50, 40_000, 3_000_000)) if rng.random() < 0.2 else 0
    return Judge("tool_call", {"tool": name, "args": args, **usage}, advance_ms=wait_ms)


def _outcome(rng: Random, call: dict[str, Any]) -> Step:
    about = {"tool": call["tool"], "args": call["args"]}
    if rng.random() < 0.2:
        error = rng.choice(("ConnectionError", "TimeoutError", "ValueError", "HTTPError"))
        fields = {
            **about,
            "error": error,
            "text": rng.choice(TEXTS)(rng),
            "status": rng.choice((None, 404, 429, 503)),
        }
        return Judge("error", fields, of_call=True)
    result = material.long_text(rng) if rng.random() < 0.08 else value(rng)
    return Judge("tool_result", {**about, "result": result}, of_call=True)


def _result(rng: Random) -> Step:
    return _outcome(rng, {"tool": tool(rng), "args": arguments(rng)})


def _prompt(rng: Random) -> Step:
    trusted = rng.random() < 0.7
    return Judge(
        "prompt", {"text": _text(rng), "source": "user" if trusted else "agent", "trusted": trusted}
    )


def _messages(rng: Random) -> tuple[dict[str, Any], ...]:
    return tuple(
        [{"role": rng.choice(("user", "system", "tool")), "content": _text(rng)} for _ in range(2)]
    )


def _text(rng: Random) -> str:
    return " ".join([rng.choice(TEXTS)(rng) for _ in range(rng.randrange(1, 4))])


def _model_call(rng: Random) -> Step:
    fields = {"messages": list(_messages(rng)), "model": rng.choice(("gpt-4o", "", "unheard-of"))}
    return Judge("model_call", {**fields, "params": {"max_tokens": rng.randrange(1, 9_000)}})


def _reply(rng: Random) -> Step:
    claims = (
        "All tests pass.",
        '{"verdict": "good"}',
        "Error: it failed",
        "",
        _text(rng),
        _text(rng),
    )
    return Judge("model_reply", {"text": rng.choice(claims), "final": rng.random() < 0.5})


def _pieces(rng: Random) -> tuple[str, ...]:
    """A text in pieces that are cut anywhere, also through what is to be hidden."""
    text = _text(rng)
    cuts = sorted([rng.randrange(len(text) + 1) for _ in range(rng.randrange(6))])
    return tuple(
        [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    )


def _stream(rng: Random) -> Step:
    return Stream(
        _pieces(rng), rng.choice(("text", "text", "reasoning")), rng.choice((None, True, False))
    )


def _chunk(rng: Random) -> Step:
    return Judge(
        "model_chunk",
        {"text": _text(rng), "channel": rng.choice(("text", "arguments")), "index": 0},
    )


def _egress(rng: Random) -> Step:
    fields = {
        "url": material.url(rng),
        "method": rng.choice(("GET", "POST")),
        "headers": {"x-note": material.word(rng)},
    }
    return Judge("egress", {**fields, "payload": value(rng), "tool": tool(rng)})


def _charge(rng: Random) -> Step:
    fields = {
        "tokens": rng.randrange(9_000),
        "cost_usd": rng.randrange(500) / 100,
        "settled": rng.random() < 0.5,
    }
    return Judge("charge", fields)


def _handoff(rng: Random) -> Step:
    stage = rng.choice(("handoff", "handoff_done"))
    return Judge(stage, {"to": rng.choice(AGENTS[1:]), "payload": arguments(rng)})


def _through(rng: Random) -> Step:
    """A call through the run: it may fail first and be tried again, and what it gets and gives may
    be patched."""
    name = rng.choice(("read_file", "search", "bash", "save_note", "fetch_url", "get_order"))
    failures = [
        {
            "error": rng.choice(("ConnectionError", "TimeoutError", "ValueError", "Broke")),
            "text": "no",
        }
    ]
    answers = failures * rng.choice((0, 0, 1, 2, 4)) + [{"result": value(rng)}]
    return Call(name, _fitting(rng, name), tuple(answers))


def _model(rng: Random) -> Step:
    return Model(_messages(rng), tuple([_text(rng) for _ in range(rng.randrange(1, 3))]), "gpt-4o")


KINDS: Final[tuple[Callable[[Random], Step], ...]] = (
    *[_called] * 8, *[_result] * 2, _prompt, _prompt, _model_call, _reply, _reply, _stream, _stream,
    _chunk, _egress, _egress, _charge, _handoff, *[_through] * 2, _model,
)  # fmt: skip
"""What may come next, as often as it stands here."""
