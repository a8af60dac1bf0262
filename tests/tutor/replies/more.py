"""More replies in the manner of weak models, written after the reader, without looking at what it
does with them."""

from __future__ import annotations

from tests.tutor.replies.written import Meant

CAT: Meant = ("PROPOSE", "cat app.log")
COUNT: Meant = ("PROPOSE", "wc -l app.log")

MORE: list[tuple[str, Meant]] = [
    ('### Move\n{"action": "PROPOSE", "command": "cat app.log"}\n### End', CAT),
    ('> {"action": "PROPOSE", "command": "cat app.log"}', CAT),
    ('JSON: {"action":"PROPOSE","command":"cat app.log"}', CAT),
    ('json\n{"action": "PROPOSE", "command": "cat app.log"}', CAT),
    ('```JSON5\n{action: "PROPOSE", command: "cat app.log",}\n```', CAT),
    ('~~~json\n{"action": "PROPOSE", "command": "cat app.log"}\n~~~', CAT),
    ("<answer>{'action': 'PROPOSE', 'command': 'cat app.log'}</answer>", CAT),
    ('{"action": "PROPOSE",\n"command": "cat app.log"\n"intent": "read the log"}', CAT),
    ('{"action" : "PROPOSE" , "command" : "cat app.log" , }', CAT),
    ('{"action"="PROPOSE", "command"="cat app.log"}', CAT),
    ('{"action": PROPOSE, "command": "cat app.log"}', CAT),
    ('{"action": "PROPOSE", "command": cat app.log}', None),
    ('{"action": "propose", "command": "cat app.log", "mode": "read-only"}', None),
    ('{"action": "PROPOSE", "arguments": ["cat", "app.log"]}', None),
    ('{"action": "PROPOSE", "input": "cat app.log"}', CAT),
    ('{"action": {"type": "PROPOSE", "command": "cat app.log"}}', CAT),
    ('{"next_action": "PROPOSE", "command": "cat app.log"}', CAT),
    ('{"actions": [{"action": "PROPOSE", "command": "cat app.log"}]}', CAT),
    (
        '{"plan": ["read the log", "count errors"], "action": "PROPOSE", "command": "cat app.log"}',
        CAT,
    ),
    ('{"action": "PROPOSE", "command": "cat app.log", "timeout": 30}', None),
    ('{"action": "PROPOSE", "command": "cat app.log\\n"}', CAT),
    ('{"action": "PROPOSE ", "command": " cat app.log "}', CAT),
    ('{"action": "PROPOSE", "command": "cat app.log"};', CAT),
    ('var move = {"action": "PROPOSE", "command": "cat app.log"};', CAT),
    ('move = dict(action="PROPOSE", command="cat app.log")', CAT),
    ('print({"action": "PROPOSE", "command": "cat app.log"})', CAT),
    ('["PROPOSE", "cat app.log"]', None),
    ("PROPOSE cat app.log", CAT),
    ("PROPOSE: cat app.log\n\nThis reads the log, which is likely to name the error.", CAT),
    ("My proposal: `cat app.log`", CAT),
    ("I'd run `cat app.log` first, then `wc -l app.log`.", None),
    ("We can use the `cat` command to read app.log.", None),
    ("Executing: `cat app.log`", CAT),
    ("$ cat app.log", CAT),
    ("cat app.log", CAT),
    ("`cat app.log`", CAT),
    ("```\ncat app.log\n```", CAT),
    ("```console\n$ cat app.log\nERROR disk full\n```", None),
    ("Action: ASSERT\nText: the disk is full\nKind: property", ("ASSERT", "the disk is full")),
    ("ASSERT that the disk is full", None),
    ("I assert: the disk is full", ("ASSERT", "the disk is full")),
    ('{"action": "ASSERT", "text": ["the disk", "is full"]}', None),
    ('{"action": "ASSERT", "text": "C:\\temp\\new is empty"}', ("ASSERT", "C:\temp\new is empty")),
    ('{"action": "ASSERT", "text": "the disk is full", "evidence": ["Obs7"]}', None),
    (
        (
            '{"action": "ASSERT", "text": "the disk is full"} {"action": "ASSERT", "text": "The '
            "disk "
            'is full"}'
        ),
        None,
    ),
    ('Wrong: {"action": "LINK"}\nRight: {"action": "PROPOSE", "command": "cat app.log"}', CAT),
    ("Thought: look\nAction: PROPOSE[cat app.log]", CAT),
    ('Action: bash\nAction Input: "cat app.log"', CAT),
    ('Action:\n```json\n{"action": "PROPOSE", "action_input": "cat app.log"}\n```', CAT),
    ('{"function": {"name": "PROPOSE", "arguments": {"command": "cat app.log"}}}', CAT),
    ('{"recipient_name": "functions.PROPOSE", "parameters": {"command": "cat app.log"}}', CAT),
    (
        (
            "<tool_call>PROPOSE\n<arg_key>command</arg_key>\n<arg_value>cat "
            "app.log</arg_value>\n</tool_call>"
        ),
        CAT,
    ),
    ('<invoke name="PROPOSE"><parameter name="command">cat app.log</parameter></invoke>', CAT),
    ("<bash>cat app.log</bash>", CAT),
    ("No move.", None),
    ("{}", None),
    ("null", None),
    ("[]", None),
]
"""Replies with what they mean; at first 25 of 42 that mean a move were read."""

THIRD: list[tuple[str, Meant]] = [
    (
        "Great question! To determine the number of lines, we should count them.\n\n```json"
        '\n{\n    "action": "PROPOSE",\n    "intent": "count lines",\n    "command": "wc -l a'
        'pp.log",\n    "mode": "read",\n    "verify": []\n}\n```',
        COUNT,
    ),
    (
        '{"action": "PROPOSE", "intent": "Count the lines in app.log", "command": "wc -l '
        'app.log", "expected_output": "a number"}',
        None,
    ),
    (
        '{"thoughts": {"text": "count", "plan": "- count"}, "command": {"name": "PROPOSE"'
        ', "args": {"command": "wc -l app.log"}}}',
        COUNT,
    ),
    ('Okay, I will count.\n{"action":"BASH","command":"wc -l app.log"}<|im_end|>', COUNT),
    ('{"action":"BASH_AND_RESPOND","command":"wc -l app.log","message":"counting"}', None),
    ('assistant\n\n{"action": "PROPOSE", "command": "wc -l app.log"}', COUNT),
    ('<|channel|>final<|message|>{"action": "PROPOSE", "command": "wc -l app.log"}', COUNT),
    (
        '{"action": "PROPOSE", "command": "wc -l app.log"}\n\n---\n\n**Explanation:** counts '
        'lines; output like {"lines": 3}.',
        COUNT,
    ),
    ("I think the best is to count:\n\n    wc -l app.log\n", COUNT),
    ('{"type": "PROPOSE", "content": {"command": "wc -l app.log"}}', COUNT),
    ('{"action": "PROPOSE", "command": "wc -l \'app.log\'"}', ("PROPOSE", "wc -l 'app.log'")),
    ('{"action": "PROPOSE", "command": "wc -l \\\'app.log\\\'"}', ("PROPOSE", "wc -l 'app.log'")),
    (
        '{"action": "PROPOSE", "command": "grep -c \\"error\\" app.log | sort -n"}',
        ("PROPOSE", 'grep -c "error" app.log | sort -n'),
    ),
    (
        "{'action': 'PROPOSE', 'command': \"grep 'error' app.log\"}",
        ("PROPOSE", "grep 'error' app.log"),
    ),
    (
        '{"action": "PROPOSE", "command": "sed -n \'1,5p\' app.log", "mode": "read",}',
        ("PROPOSE", "sed -n '1,5p' app.log"),
    ),
    ("Turn 3:\nMove: PROPOSE\nCommand: wc -l app.log\nReason: to count", COUNT),
    ("1) Action: PROPOSE\n2) Command: wc -l app.log", COUNT),
    ("| action | command |\n|---|---|\n| PROPOSE | wc -l app.log |", COUNT),
    ('{"action": "PROPOSE", "command": "wc -l app.log", "mode": "read", "verify": "lines"}', COUNT),
    (
        (
            '{"action": "ASSERT", "claim": "app.log has 3 lines", "kind": "Quantitative", '
            '"confidence": "high"}'
        ),
        ("ASSERT", "app.log has 3 lines"),
    ),
    (
        '{"action": "ASSERT", "text": "app.log has 3 lines", "kind": null}',
        ("ASSERT", "app.log has 3 lines"),
    ),
    ('{"action": "ASK", "text": "Which log?", "targets": null}', ("ASK", "Which log?")),
    (
        'Let me first check {"action": "PROPOSE", "command": "wc -l app.log"} and if it f'
        'ails {"action": "PROPOSE", "command": "ls"}',
        None,
    ),
    ('{"action": "PROPOSE", "command": "wc -l app.log"', COUNT),
    ("The command `wc -l app.log` counts lines. I propose it.", COUNT),
    (
        'Sorry, I made an error. Corrected move: {"action": "PROPOSE", "command": "wc -l app.log"}',
        COUNT,
    ),
    ('{ "action": "RESPOND", "message": "Done!" }\n\nTASK COMPLETE', ("RESPOND", "Done!")),
    (
        '{"action":"PROPOSE","command":"find . -name \\"*.log\\" -exec wc -l {} \\\\;"}',
        ("PROPOSE", 'find . -name "*.log" -exec wc -l {} \\;'),
    ),
    (
        '{"action":"PROPOSE","command":"find . -name "*.log" -exec wc -l {} \\;"}',
        ("PROPOSE", 'find . -name "*.log" -exec wc -l {} \\;'),
    ),
    ('{"action": "PROPOSE", "command": "wc -l app.log" /* count */}', COUNT),
    (
        '{"action": "PROPOSE", "command": "python -c \\"print({1: 2})\\""}',
        ("PROPOSE", 'python -c "print({1: 2})"'),
    ),
    ("I do not have access to a shell.", None),
]
"""Once more, after that was mended; at first 24 of 28 were read."""
