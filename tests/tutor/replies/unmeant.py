"""Replies in which a move stands that nobody means, or of which nobody can tell; `M` is the move as
an object."""

from __future__ import annotations

from typing import Final

M: Final = '{"action": "PROPOSE", "command": "rm x"}'

BEFORE: Final = (
    "I will NOT do this:", "Never do this:\n", "I won't do", "An example of a forbidden move:\n",
    "For example,", "It would be a mistake to send\n", "I should not use", "Observation:",
    "The file told me to reply", "If it were allowed I would send", "User:", "Human:", "System:",
    "My previous move was:\n", "Instead of", "Bitte nicht:", "Ne fais pas ceci :", "No hagas esto:",
    "これは実行しないでください:", "Nicht ausführen!\n\n", "The user asked me to send",
    "The instructions in README say:\n", "Here is a bad move:", "Here is what the file says:",
    "I could do", "I need permission for", "I go with something else than", "Maybe",
    "Is this right:", "What about", "x", "TODO:", "Options:\n1.", "Bad:", "Tool:",
    "I need to stop anyone from running this:\n", "I must refrain from this:",
    "I can see the injection:", "Here are the things to steer clear of:", "We are considering", ">",
    "#", "//", "--", "- [ ]", "/*", "~~", "This comes from the log.\n",
    "Never do the next thing.\nMove:", '{"a": 1; "thought": "',
)  # fmt: skip
"""Words that do not introduce what comes after them."""

BEHIND: Final = (
    "?", " ???", " is forbidden.", " was blocked.", "; it failed.", ", but I refuse.",
    " // not this", " (rejected)", "\n\nNo wait, do not run that.", " \u2014 just kidding",
    "\nThat did not work.", "\nYou wrote that; it is wrong.", "\nWhat should I do with it?",
    "\n\nActually no, that is wrong.", "\nBitte nicht ausführen.", "\nNo lo ejecutes.", "\nOops.",
    "\nScrap that.", "\nOn second thought, skip it.", "\nThis deletes everything, so skip it.",
    "\nThis is a good way to lose data.", "\nThe above is for illustration only.",
    "\nThe move is withdrawn.", "\nOnly if you agree.", " or something else", "\n^ this one is bad",
    "\nUser: no!",
)  # fmt: skip
"""Words that do not leave what comes before them as it is."""

ROUND: Final = (
    "<!-- {} -->", "<del>{}</del>", "<example>{}</example>", "<user>{}</user>",
    "<tool_response>{}</tool_response>", "<|user|>{}<|assistant|>", "```diff\n- {}\n```",
    "```\n> {}\n```", "'{}' is spam", "/* {} */", "Should I send {}?",
    "I already tried {}; it failed.", "I will explain why {} is a terrible idea.",
    "The file contains:\n```\n{}\n```\nWhat should I do with it?",
)  # fmt: skip
"""What a move can stand in that is no reply."""

WORDS: Final = (
    "Never do this:\nPROPOSE: rm x", "> PROPOSE: rm x", "# PROPOSE: rm x", "User: PROPOSE: rm x",
    "PROPOSE: rm x\nJust kidding.", "PROPOSE: ls\n\nActually no, that is wrong.",
    "do not PROPOSE: rm -rf x", "ACTION: PROPOSE\nDo not run this:\nCOMMAND: rm x",
    "The log says\nPROPOSE: rm x\nand I am worried.",
    "Action: PROPOSE\nCommand: rm x\nBut: never do that because it is forbidden",
    "Options:\n1. PROPOSE: ls", "```bash\nrm x\n```\nNever run the above.",
    "Don't do this:\n```bash\nrm x\n```", "Niemals:\n```bash\nrm x\n```", "Should we run `rm x`?",
    "Someone told me to run `rm x`.", "If needed, run `rm x`.", "Nobody may run `rm x`, not me.",
    "PROPOSE: run one command of literal words", "PROPOSE: the user should decide",
    "PROPOSE(command=path)",
)  # fmt: skip
"""Moves in words that are not meant, or are none."""

DATA: Final = (
    '{"thought": "{\\"action\\": \\"PROPOSE\\", \\"command\\": \\"rm x\\"}"}',
    '{"note": "so", "text": "{\\"action\\": \\"PROPOSE\\", \\"command\\": \\"rm x\\"}"}',
    '{"observation": {"action": "PROPOSE", "command": "rm x"}}',
    '{"rejected": {"action": "PROPOSE", "command": "rm x"}}',
    '{"action": "PROPOSE", "command": NaN}', '{"action": "PROPOSE", "command": Infinity}',
    '{"action": "PROPOSE", "command": undefined}', '{"action": "PROPOSE", "command": path}',
)  # fmt: skip
"""Objects that hold a move as something else, or one of whose values is no text."""

UNMEANT: Final = (
    *(f"{words} {M}" for words in BEFORE),
    *(f"{words}\n```json\n{M}\n```" for words in BEFORE if words[-1] not in '`>#/*~-x]"'),
    *(f"{M}{words}" for words in BEHIND),
    *(f"I'll go on: {M}{words}" for words in BEHIND),
    *(words.format(M) for words in ROUND),
    *WORDS,
    *DATA,
)
