"""Replies in the manner of weak models, written by hand: each with the command, claim or text that
it means, or none.

`LS` stands for the move that runs `ls -la`. Where no move is meant, or several are, there is
`None`.
"""

from __future__ import annotations

Meant = tuple[str, str] | None
"""An action and its main field."""

LS: Meant = ("PROPOSE", "ls -la")

REFERENCE: list[tuple[str, Meant]] = [
    ('{"action": "PROPOSE", "command": "awk \'{print $1}\' f"}', ("PROPOSE", "awk '{print $1}' f")),
    ('{"action": "ASSERT", "text": "a b", "more": {"b": 1}}', None),
    ('{"action": "ASSERT", "text": "a b", "reasoning": {"b": 1}}', ("ASSERT", "a b")),
    ("{'action': 'PROPOSE', 'command': 'ls -la'}", LS),
    ('{"action": "LINK"}', None),
    ('{"action": "DARE"}', None),
    ('{"action": "CHECK", "text": "a"}', None),
    ('{"action": "ABORT"}', None),
    ('{"action": 5}', None),
    ('{"action": null}', None),
    ('{"action": "PROPOSE"}', None),
    ('{"action": "PROPOSE", "command": "   "}', None),
    ("```bash\nls -la\n```", LS),
    ("PROPOSE: `ls -la`", LS),
    ("I propose: ls -la", LS),
    ("task: do something", None),
    ('[{"action": "ASK", "text": "a"}, {"action": "ASSERT", "text": "b"}]', None),
    ('[{"action": "PROPOSE", "command": "ls -la"}]', LS),
    ('{"action": "ASSERT", "text": "a b", "kind": "observation"}', ("ASSERT", "a b")),
    ('{"action": "ASSERT", "text": ""}', None),
    ("", None),
    ("   \n\t", None),
]
"""The cases that the reference names."""

WEAK: list[tuple[str, Meant]] = [
    (
        (
            'Sure! My move:\n\n```json\n{\n  "action": "PROPOSE",\n  "command": "ls '
            '-la"\n}\n```\n\nAnything else?'
        ),
        LS,
    ),
    (
        (
            'To find the answer, I\'ll list the files first.\n\n{"action": "PROPOSE", "command": '
            '"ls -la"}'
        ),
        LS,
    ),
    (
        (
            '{"action": "PROPOSE", "command": "ls -la"}\n\nThis command lists all files (including '
            "hidden ones)."
        ),
        LS,
    ),
    ('```\n{"action": "BASH", "command": "ls -la"}\n```', LS),
    ('```json\n{"action": "BASH", "command": "ls -la"}', LS),
    ('`{"action": "PROPOSE", "command": "ls -la"}`', LS),
    ("**Action:** PROPOSE\n**Command:** `ls -la`", LS),
    ("Thought: I need to see the files.\nAction: PROPOSE\nAction Input: ls -la", LS),
    (
        (
            'Thought: I need to see the files.\nAction: bash\nAction Input: {"command": "ls '
            '-la"}\nObservation:'
        ),
        LS,
    ),
    ('<tool_call>\n{"name": "bash", "arguments": {"command": "ls -la"}}\n</tool_call>', LS),
    ('[TOOL_CALLS] [{"name": "bash", "arguments": {"command": "ls -la"}}]', LS),
    ('<|python_tag|>{"type": "function", "name": "bash", "parameters": {"command": "ls -la"}}', LS),
    (
        (
            '{"tool_calls": [{"id": "c1", "function": {"name": "bash", "arguments": '
            '"{\\"command\\": '
            '\\"ls -la\\"}"}}]}'
        ),
        LS,
    ),
    (
        (
            '<think>Or {"action": "PROPOSE", "command": "find ."}?</think>\n{"action": "PROPOSE", '
            '"command": "ls -la"}'
        ),
        LS,
    ),
    ('<think>\nI could do {"action": "PROPOSE", "command": "ls -la"} but', None),
    ('{"thought": "list files", "action": "PROPOSE", "command": "ls -la"}', LS),
    (
        (
            '{"reasoning": "I must list files first.", "action": "propose", "command": "ls -la", '
            '"confidence": 0.9}'
        ),
        LS,
    ),
    ('{"Action": "Propose", "Command": "ls -la"}', LS),
    ("{action: 'PROPOSE', command: 'ls -la'}", LS),
    ("{“action”: “PROPOSE”, “command”: “ls -la”}", LS),
    ('{"action": "PROPOSE", "command": "ls -la",}', LS),
    ('{"action": "PROPOSE"; "command": "ls -la"}', None),
    ('{"action": "PROPOSE" "command": "ls -la"}', LS),
    ('{"action": "PROPOSE", "command": "ls -la"', LS),
    ('{"action": "PROPOSE", "command": "ls -la"}}', LS),
    ('{{"action": "PROPOSE", "command": "ls -la"}}', LS),
    ('{"action": "PROPOSE", "command": "ls -l', None),
    ('{"action": "PROPOSE", "command": ', None),
    ('{"action": "PROP', None),
    (
        '{"action": "PROPOSE", "command": "grep -n "timeout" config.yaml"}',
        ("PROPOSE", 'grep -n "timeout" config.yaml'),
    ),
    (
        '{"action": "PROPOSE", "command": "grep -E \'\\d+\' config.yaml"}',
        ("PROPOSE", "grep -E '\\d+' config.yaml"),
    ),
    (
        "{'action': 'PROPOSE', 'command': 'grep 'timeout' config.yaml'}",
        ("PROPOSE", "grep 'timeout' config.yaml"),
    ),
    (
        '{"action": "PROPOSE", "command": \'grep "timeout" config.yaml\'}',
        ("PROPOSE", 'grep "timeout" config.yaml'),
    ),
    ('{"action": "PROPOSE", "command": """ls -la"""}', LS),
    ('{"action": "PROPOSE", "command": ["ls", "-la"]}', LS),
    ('{"action": "PROPOSE", "cmd": "ls -la"}', LS),
    ('{"action": "PROPOSE", "command": "$ ls -la"}', LS),
    ('{"action": "PROPOSE", "command": "`ls -la`"}', LS),
    ('{"action": "PROPOSE", "args": {"command": "ls -la"}}', LS),
    ('{"PROPOSE": {"command": "ls -la"}}', LS),
    ('{"PROPOSE": "ls -la"}', LS),
    ('{"move": {"action": "PROPOSE", "command": "ls -la"}}', LS),
    ('{"response": "{\\"action\\": \\"PROPOSE\\", \\"command\\": \\"ls -la\\"}"}', LS),
    ('"{\\"action\\": \\"PROPOSE\\", \\"command\\": \\"ls -la\\"}"', LS),
    ('{\\"action\\": \\"PROPOSE\\", \\"command\\": \\"ls -la\\"}', LS),
    ('PROPOSE {"command": "ls -la"}', LS),
    ('PROPOSE\n```json\n{"command": "ls -la"}\n```', LS),
    ('PROPOSE(command="ls -la")', LS),
    ("bash(command='ls -la')", LS),
    ("ACTION: PROPOSE\nCOMMAND: ls -la\nINTENT: see the files", LS),
    ("action: PROPOSE\ncommand: ls -la", LS),
    ("```yaml\naction: PROPOSE\ncommand: ls -la\n```", LS),
    ("I will run `ls -la` to see what is there.", LS),
    ("Let me run `ls -la`.", LS),
    ("Next, run the command: `ls -la`", LS),
    ("First I'd like to list the files:\n\n```sh\n$ ls -la\n```", LS),
    ("```bash\n# list everything\nls -la\n```\nThis shows hidden files too.", LS),
    ("```bash\ncd src\nls -la\n```", None),
    ("```bash\nls -la\n```\nand then\n```bash\ncat a.txt\n```", None),
    ("I would not run `rm -rf /` here.", None),
    ("You should never execute `ls -la` as root.", None),
    ("I have found the answer: it is 42.", None),
    ("I'm sorry, but I can't help with that.", None),
    ("Please provide more information about the task.", None),
    (
        '{"action": "PROPOSE", "command": "ls -la"}\n{"action": "PROPOSE", "command": "cat a.txt"}',
        None,
    ),
    ('{"action": "PROPOSE", "command": "ls -la"}\n{"action": "PROPOSE", "command": "ls -la"}', LS),
    (
        (
            'Step 1: {"action": "PROPOSE", "command": "ls -la"}\nStep 2: {"action": "ASSERT", '
            '"text": '
            '"there is a file"}'
        ),
        None,
    ),
    ('{"action": "PROPOSE|ASSERT|ASK", "command": "<command>"}', None),
    ('{"action": "PROPOSE", "command": "<your command here>"}', None),
    ('{"action": "PROPOSE", "command": "..."}', None),
    ('{"action": "PROPOSE", "command": "ls -la", "dry_run": true}', None),
    ('{"action": "PROPOSE", "command": "ls -la", "mode": "READ"}', LS),
    ('{"action": "PROPOSE", "command": "ls -la", "mode": "delete"}', None),
    ('{"action": "PROPOSE", "action": "ASSERT", "command": "ls -la"}', None),
    ('{"action": "PROPOSE", "command": "ls -la", "command": "cat a"}', None),
    ('{"action": "PROPOSE", "command": "ls " + path}', None),
    ('{"action": "PROPOSE", "command": f"ls {path}"}', None),
    ('{"action": "PROPOSE", "command": null}', None),
    ('{"action": "PROPOSE", "command": 7}', None),
    ('{"action": "PROPOSE", "command": {"cmd": "ls"}}', None),
    ('{"action": "PROPOSE", "command": "ls -la", "verify": null, "intent": null}', LS),
    ('{"action": "PROPOSE", "command": "ls -la", "write": None}', LS),
    ('{"action": "PROPOSE", // next\n "command": "ls -la" // list\n}', LS),
    ("ASSERT: the file has two lines", ("ASSERT", "the file has two lines")),
    ('{"action": "ASSERT", "claim": "it\'s a file"}', ("ASSERT", "it's a file")),
    ("{'action': 'ASSERT', 'text': 'it's a file', 'kind': 'property'}", ("ASSERT", "it's a file")),
    (
        '{"action": "ASSERT", "text": "the log says "disk full" twice"}',
        ("ASSERT", 'the log says "disk full" twice'),
    ),
    ('{"action": "ASSERT", "text": "a\nb"}', ("ASSERT", "a\nb")),
    ('{"action": "ASK", "question": "which file?", "targets": "T1"}', ("ASK", "which file?")),
    ("I ask: which file is it?", ("ASK", "which file is it?")),
    (
        '{"action": "RESPOND", "message": "use {\\"action\\": \\"PROPOSE\\"} next time"}',
        ("RESPOND", 'use {"action": "PROPOSE"} next time'),
    ),
    (
        '{"action": "CHALLENGE", "assumption": "the disk is full", "falsification": "df -h",}',
        ("CHALLENGE", "the disk is full"),
    ),
    (
        '{"action": "REFORMULATE", "original_id": "T5", "reformulation": "the file exists"}',
        ("REFORMULATE", "the file exists"),
    ),
    ('Final Answer: {"action": "RESPOND", "text": "42"}', ("RESPOND", "42")),
    (
        '{"action": "PROPOSE", "command": "echo \'\\u00e9\\ud83d\\ude00\'"}',
        ("PROPOSE", "echo 'é😀'"),
    ),
    ('{"action": "PROPOSE", "command": "echo \\ud800"}', None),
    ('｛"action": "PROPOSE", "command": "ls -la"｝', LS),
    ("<function=bash><parameter=command>ls -la</parameter></function>", LS),
    ("<action>PROPOSE</action>\n<command>ls -la</command>", LS),
    (
        (
            'Assistant: {"action": "PROPOSE", "command": "ls -la"}\nUser: OK, here is the '
            "output\nAssistant:"
        ),
        LS,
    ),
    ('{"role": "assistant", "content": {"action": "PROPOSE", "command": "ls -la"}}', LS),
    (
        (
            'Here is the JSON you asked for: {"action":"PROPOSE","command":"ls -la"}. I hope it\'s '
            "{correct}!"
        ),
        LS,
    ),
    ('{\n  "action": "PROPOSE",\n  "intent": "List\n files",\n  "command": "ls -la"\n}', LS),
    ("1. PROPOSE: ls -la", LS),
    ("- **PROPOSE**: `ls -la`", LS),
    ("Command: ls -la", None),
]
"""Replies in the manner of weak models."""
