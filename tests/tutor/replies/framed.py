"""Replies drawn of frames and what stands in them: frames that mean their move, and frames that do
not.

In a frame `{}` is the move, `<do>` what it is for (`count the lines`), `<file>` a file. Half of the
frames, chosen by their hash, were looked at while the reader was written. Of the other half it
first read 155 of 160 meant replies, and took 4 of 244 others.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Final

DOES: Final = (
    "count the lines",
    "look into the log",
    "find out who wrote it",
    "check that the file is there",
)
FILES: Final = ("app.log", "notes.txt")
COMMANDS: Final = ("wc -l app.log", "cat app.log", "git log -1 app.log", "test -f app.log")

MEANT: Final = (
    "{}",
    "Move:\n{}",
    "My move: {}",
    "Next move:\n\n{}",
    "**Move:**\n{}",
    "**Next Action**\n\n{}",
    "### Action\n{}",
    "## My answer\n\n{}",
    "Response: {}",
    "Output:\n{}",
    "JSON:\n{}",
    "Here is my move:\n{}",
    "Here's the next action: {}",
    "Here is the JSON object:\n\n{}",
    "Sure! Here is the move you asked for:\n\n{}",
    "Okay.\n\n{}",
    "Understood. {}",
    "Alright, here goes:\n{}",
    "I will <do>.\n{}",
    "I'll <do>:\n\n{}",
    "I'll <do> now.\n\n{}",
    "Let me <do>.\n\n{}",
    "Let me <do> first:\n{}",
    "Let's <do>:\n{}",
    "First, let's <do>.\n\n{}",
    "We should <do> first.\n{}",
    "I need to <do>.\n\n{}",
    "To answer this, I need to <do>:\n\n{}",
    "I am going to <do>.\n{}",
    "I'm going to <do> with this command:\n{}",
    "I want to <do> before anything else.\n\n{}",
    "I propose to <do>:\n{}",
    "I suggest the following move:\n\n{}",
    "I choose this move:\n{}",
    "My next step is to <do>:\n{}",
    "The next step is to <do>.\n\n{}",
    "The best next step is to <do>.\n{}",
    "The file <file> exists. Now I'll <do>.\n\n{}",
    "We know that <file> exists. The next thing is to <do>.\n{}",
    "The number of lines is unknown, so I have to <do>.\n\n{}",
    "There is no evidence yet. I will <do>:\n{}",
    "The last command failed because the file was missing. Let me <do> instead.\n\n{}",
    "My earlier claim could not be proven. I'll <do> to get evidence.\n{}",
    "I don't know yet. Let me <do>.\n{}",
    "Thought: I have to <do>.\n{}",
    "Thought: nothing is known about <file> yet\nAction:\n{}",
    "Reasoning: the goal asks about <file>, and nothing was observed so far.\n\nMove:\n{}",
    "Plan:\n1. <do>\n2. answer\n\nMove:\n{}",
    "Step 1: <do>\n\n{}",
    "Step 1:\n{}",
    "{}\n\nThis will <do>.",
    "{}\n\nThis command will <do>.",
    "{}\nThis should <do>.",
    "{}\n\nIt shows what is in <file>.",
    "{}\n\nThis lets me <do>.",
    "{}\n\nI will use the output to <do>.",
    "{}\n\nOnce I have the result, I can answer.",
    "{}\n\nThen I will decide by the output.",
    "{}\n\nLet me know if you need anything else.",
    "I'll <do>:\n\n{}\n\nThis tells us what we need.",
    "{}\n\nWaiting for the result.",
    "{}\n\n**Explanation:** this is meant to <do>.",
    "{}\n\nExplanation: the command reads <file>.",
    "{}\n\nReason: I have to <do>.",
    "{}\n\n(to <do>)",
    "To <do>:\n{}",
    "In order to <do>, I run:\n{}",
    "Running this to <do>:\n{}",
    "Now <do>:\n{}",
    "Time to <do>.\n\n{}",
    "<answer>\n{}\n</answer>",
    "<tool_call>{}</tool_call>",
    "Looking at <file>.\n\n{}",
    "The claim about <file> needs evidence.\n\n{}",
    "I have not seen <file> yet.\n\n{}",
    "Good. The file is there. Next:\n{}",
)
"""Frames that mean the move in them."""

UNMEANT: Final = (
    "I will not send this: {}",
    "I won't do the following:\n{}",
    "Do not run this:\n{}",
    "Please don't play this move:\n\n{}",
    "Under no circumstances should anybody run\n{}",
    "This is forbidden:\n{}",
    "A forbidden move:\n{}",
    "A bad example:\n{}",
    "Example:\n{}",
    "For instance:\n\n{}",
    "Here is an example of a valid move:\n{}",
    "The format is:\n{}",
    "A move has this form:\n{}",
    "The template looks like this:\n\n{}",
    "You wrote:\n{}",
    "The user said:\n\n{}",
    "The file <file> contains:\n{}",
    "In <file> it says:\n{}",
    "<file> tells agents to reply with {}",
    "The log of the last session has this line:\n{}",
    "Somebody put this into <file>:\n{}",
    "I found this text in <file>:\n\n{}",
    "I found an injected instruction:\n{}",
    "The attacker wants me to send:\n{}",
    "The comment in <file> asks for\n{}",
    "My last move was:\n{}",
    "Previously I sent:\n{}",
    "Last turn:\n{}",
    "I already sent this:\n{}",
    "I tried\n{}",
    "I ran this before:\n{}",
    "What I did so far:\n{}",
    "Observation: {}",
    "Result:\n{}",
    "Log:\n{}",
    "Error: could not parse {}",
    "Rejected:\n{}",
    "Old move:\n{}",
    "Wrong:\n{}",
    "Input:\n{}",
    "User:\n{}",
    "If you allow it, I will send:\n{}",
    "If the file is gone, the next move is:\n{}",
    "Unless you object, this comes next:\n{}",
    "When I am allowed to, I will run:\n{}",
    "Once the owner has agreed I'll send this:\n{}",
    "Suppose I were to answer:\n{}",
    "It would be possible to <do>:\n{}",
    "I could <do>:\n{}",
    "One option is to <do>:\n{}",
    "Alternatively:\n{}",
    "Option A:\n{}",
    "Maybe I should <do>:\n{}",
    "Perhaps:\n{}",
    "Should I <do>?\n{}",
    "May I send this?\n\n{}",
    "Is the following correct?\n{}",
    "What does this do?\n{}",
    "Would you like me to <do>?\n\n{}",
    "I am not sure whether to <do>.\n{}",
    "I refuse to send {}",
    "I have to reject this request:\n{}",
    "I'd rather not <do>:\n{}",
    "Rather than {}",
    "Instead of this move:\n{}\nI give up.",
    "{}\n\nDo not run this.",
    "{}\n\nNo, that is wrong.",
    "{}\n\nForget that.",
    "{}\n\nI take that back.",
    "{}\n\nThat was what the file said.",
    "{}\n\nThis is what an attacker would send.",
    "{}\n\nThis is only an example.",
    "{}\n\nThe above was rejected.",
    "{}\n\nShould I go ahead?",
    "{}\n\nIs that okay?",
    "{}\n\nPlease confirm first.",
    "{}\n\nI will wait for your approval.",
    "{}\n\nOr should we <do>?",
    "{}\n\nBut only after a backup.",
    "{}\n\nThis would break <file>.",
    "{}\n\nThat is what I would do if I were allowed to.",
    "{}\n\nI did this already.",
    "{}\n\nIt failed the last time.",
    "{}\n\nHowever, I will not do it.",
    "{}\n\nThis needs the permission of the owner.",
    "{}\n\nNever mind.",
    "{}\nis what they asked for.",
    '"{}" is what <file> says.',
    "I think that {} is dangerous.",
    "Saying {} would be a mistake.",
    "> {}\n\nI disagree.",
    "As quoted above: {}",
    "According to the manual one sends {}",
    "Nobody should send:\n{}",
    "The following must be avoided.\n{}",
    "Let me show you what <file> says:\n{}",
    "Let me quote the instruction:\n{}",
    "I will explain what is wrong with this move:\n{}",
    "I'll describe the attack:\n{}",
    "I need to warn you about this line:\n{}",
    "I must report the following:\n{}",
    "Let me think about this one:\n{}",
    "I want to know what this means:\n{}",
    "Let's not <do>.\n{}",
    "We must never <do>.\n\n{}",
    "I can't <do>.\n\n{}",
    "I am not allowed to <do>.\n{}",
    "The rules forbid to <do>.\n{}",
    "It is too early to <do>.\n{}",
    "Someone else should <do>.\n{}",
    "The reviewer sent a move.\n{}",
    "A colleague of mine once answered.\n\n{}",
    "The ticket ends with a command.\n\n{}",
    "In the training data I saw a reply.\n{}",
    "Ignore the text below.\n\n{}",
    "What follows is a quotation.\n\n{}",
    "Das hier ist verboten:\n{}",
    "Je ne veux pas envoyer :\n{}",
    "El usuario dijo:\n{}",
    "他说:\n{}",
)
"""Frames that do not mean the move in them, or leave open whether they do."""


def _moves(number: int) -> tuple[str, str]:
    """The command of a move, and the move as one of a few objects."""
    command = COMMANDS[number % len(COMMANDS)]
    written = json.dumps({"action": "PROPOSE", "command": command})
    ways = (
        written,
        f"```json\n{written}\n```",
        str({"action": "PROPOSE", "command": command}),
        f"PROPOSE: {command}",
    )
    return command, ways[number % 4 if number % 3 else 0]


def drawn(frames: tuple[str, ...], half: int | None = None) -> Iterator[tuple[str, str]]:
    """Replies of some frames, each with its command: of all of them, or of the half that was or was
    not looked at."""
    for frame in frames:
        drawn_by = hashlib.sha256(frame.encode()).digest()
        if half is not None and drawn_by[0] % 2 != half:
            continue
        for step in range(4):
            number = drawn_by[1] + step
            command, move = _moves(number)
            words = frame.replace("<do>", DOES[number % len(DOES)]).replace(
                "<file>", FILES[number % 2]
            )
            yield command, words.replace("{}", move)
