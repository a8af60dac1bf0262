"""Replies that are grown from moves: each move, written in each of the ways in which models get it
nearly right."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

Data = dict[str, Any]

MOVES: tuple[Data, ...] = (
    {"action": "PROPOSE", "command": "ls -la"},
    {"action": "PROPOSE", "command": "awk '{print $1}' f.txt", "intent": "first column"},
    {"action": "PROPOSE", "command": 'grep -n "a b" f.txt', "mode": "read"},
    {"action": "PROPOSE", "command": "printf 'a\\n' > out.txt", "mode": "write"},
    {"action": "PROPOSE", "command": "cat é.txt | head -n 3"},
    {"action": "ASSERT", "text": "File 'config.yaml' exists", "kind": "existence"},
    {"action": "ASSERT", "text": "the log says: {\"error\": 5}, twice"},
    {"action": "ASK", "text": "which file, and why?", "targets": ["T1", "T2"]},
    {"action": "CHALLENGE", "text": "the disk is full", "falsify": "df -h"},
    {"action": "REFORMULATE", "original": "T5", "new_text": "the file has 2 lines"},
    {"action": "RESPOND", "message": "it's done, isn't it?"},
)  # fmt: skip
"""Moves of the first law."""

TYPED: tuple[Data, ...] = (
    {"action": "PROPOSE", "command": "wc -l a.txt"},
    {"action": "PROPOSE", "argv": ["grep", "-F", "a b", "c d.txt"], "intent": "look"},
    {"action": "ASSERT", "claim": {"predicate": "lines", "subject": "a.txt", "value": 3}},
    {
        "action": "ASSERT",
        "claim": {
            "predicate": "contains",
            "subject": "a.txt",
            "value": "it's {x}",
            "polarity": False,
        },
    },
    {"action": "ASK", "text": "which file?"},
    {"action": "RESOLVE", "question": "Q3", "claim": {"predicate": "file", "subject": "a.txt"}},
)
"""Moves of the second law."""


def written(move: Data) -> str:
    """A move as JSON."""
    return json.dumps(move, ensure_ascii=False)


def _quoted(move: Data, opening: str, closing: str) -> str:
    """An object whose quotes are others, and stand unescaped in texts, too."""

    def shown(value: Any) -> str:
        match value:
            case str():
                return opening + value.replace("\\", "\\\\") + closing
            case dict():
                return (
                    "{"
                    + ", ".join(
                        f"{opening}{name}{closing}: {shown(one)}" for name, one in value.items()
                    )
                    + "}"
                )
            case list():
                return "[" + ", ".join(shown(one) for one in value) + "]"
            case _:
                return json.dumps(value)

    return shown(move)


def _apart(move: Data) -> Data:
    return {name: value for name, value in move.items() if name != "action"}


WAYS: dict[str, Callable[[Data], str]] = {
    "json": written,
    "indented": lambda move: json.dumps(move, indent=2),
    "escaped": lambda move: json.dumps(move, ensure_ascii=True),
    "fence": lambda move: f"```json\n{json.dumps(move, indent=2)}\n```",
    "fence without a language": lambda move: f"```\n{written(move)}\n```",
    "fence without an end": lambda move: f"```json\n{written(move)}",
    "fence in prose": lambda move: (
        f"Sure, here it is:\n\n```json\n{written(move)}\n```\n\nThis should help."
    ),
    "prose before": lambda move: (
        f"I'll do this next, since it's the best way to go on: {written(move)}"
    ),
    "prose after": lambda move: f"{written(move)}\nThis is a good move, and I'm sure of it.",
    "braces in prose": lambda move: f"My set {{a, b}} is done. {written(move)} {{end}}",
    "python": repr,
    "trailing comma": lambda move: f"{written(move)[:-1]},}}",
    "smart quotes": lambda move: _quoted(move, "\u201c", "\u201d"),
    "bare names": lambda move: (
        "{" + ", ".join(f"{name}: {json.dumps(one)}" for name, one in move.items()) + "}"
    ),
    "no last brace": lambda move: written(move)[:-1],
    "one brace too many": lambda move: written(move) + "}",
    "double braces": lambda move: "{" + written(move) + "}",
    "in a list": lambda move: f"[{written(move)}]",
    "in an object": lambda move: written({"thought": "I go on", "move": move}),
    "twice": lambda move: f"{written(move)}\n\n{written(move)}",
    "as a text": lambda move: json.dumps(written(move)),
    "lower case": lambda move: written({**move, "action": move["action"].lower()}),
    "with a thought": lambda move: written(
        {"thought": "so far so good", **move, "confidence": 0.8}
    ),
    "after thinking": lambda move: (
        f'<think>Perhaps {{"action": "ASK", "text": "x"}}?</think>\n{written(move)}'
    ),
    "tool call": lambda move: written({"name": move["action"], "arguments": _apart(move)}),
    "tool call, text": lambda move: written(
        {"name": move["action"], "arguments": written(_apart(move))}
    ),
    "tag": lambda move: f"<tool_call>{written(move)}</tool_call>",
    "react": lambda move: (
        f"Thought: go on\nAction: {move['action']}\nAction Input: {written(_apart(move))}"
    ),
    "action before": lambda move: f"{move['action']} {written(_apart(move))}",
    "only field": lambda move: written({move["action"]: _apart(move)}),
    "comments": lambda move: (
        written(move).replace(", ", ", // next\n", 1) if ", //" not in written(move) else ""
    ),
    "inner quotes": lambda move: _quoted(move, '"', '"'),
    "single quotes": lambda move: _quoted(move, "'", "'"),
    "line breaks": lambda move: json.dumps(move, indent=4, separators=("\n,", "\n:\n")),
}
"""Ways in which exactly the move is meant."""

LOST: dict[str, Callable[[Data], str]] = {
    "cut in a text": lambda move: written(move)[: written(move).rindex('"')],
    "cut after a comma": lambda move: f"{written(move)[:-1]},",
    "two": lambda move: f'{written(move)}\n{{"action": "ASK", "text": "something else?"}}',
    "a list of two": lambda move: (
        f'[{written(move)}, {{"action": "ASK", "text": "something else?"}}]'
    ),
    "unknown action": lambda move: written({**move, "action": "EXECUTE_ALL"}),
    "no action": lambda move: written({**move, "action": None}),
    "a switch": lambda move: written({**move, "dry_run": True}),
    "only a thought": lambda move: f"<think>{written(move)}",
    "two actions": lambda move: written(move)[:-1] + ', "action": "LINK"}',
}
"""Ways in which no move is meant, or several are, or it is not known which."""


def meant(moves: tuple[Data, ...]) -> Iterator[tuple[str, str, Data]]:
    """Replies in which exactly one move is meant: the way, the reply, the move."""
    for way, write in WAYS.items():
        for move in moves:
            yield way, write(move), move


def not_meant(moves: tuple[Data, ...]) -> Iterator[tuple[str, str]]:
    """Replies in which no move is to be found: the way, and the reply."""
    for way, write in LOST.items():
        for move in moves:
            yield way, write(move)
