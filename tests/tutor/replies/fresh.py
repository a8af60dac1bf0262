"""Replies written by hand and labelled before the reader saw any of them, in four rounds.

When it first saw them it read 20 of 30, 20 of 30, 13 of 20 and 17 of 20 that mean their move, and
took 4 of 30, 4 of 30, 1 of 20 and none of 20 of the others. It was mended after each round but the
last.
"""

from __future__ import annotations

from typing import Final

A: Final = '{"action": "PROPOSE", "command": "du -sh data"}'
B: Final = "{'action': 'PROPOSE', 'command': 'du -sh data'}"
F: Final = f"```json\n{A}\n```"

MEANT: Final = (
    (
        f"Thanks for the context! Based on the goal, I'd like to start with the size of the "
        f"folder.\n\n{F}"
    ),
    f"We haven't measured anything so far, which means that a measurement comes first.\n\n{A}",
    f"Since the folder has not been looked at, I'll measure it now:\n\n{F}",
    f"The goal: size of data. What is known: nothing.\n\nMy move:\n{A}",
    f"I've read the rules. My first move is:\n{A}",
    f"**Turn 4**\n\n{A}",
    f"Got it.\n\n{F}",
    f"Let me see how big this folder is.\n{B}",
    f"Let me check whether the folder has grown:\n{A}",
    f"I'll use `du` for this.\n\n{F}",
    f"This is turn 2, and the size is still open. I will measure the folder.\n{A}",
    f"{F}\n\nThis gives the size of the folder in a form that people can read.",
    f"{A}\n\nWith the result I can then assert the size.",
    f"{A}\n\nNext, I will compare the output with the limit.",
    f"{F}\n\nRationale: the size of the folder is what the goal asks for.",
    f"{A}\n\nI expect a single line of output.",
    f"Measuring the folder:\n{A}",
    f"Checking the size of data.\n\n{F}",
    f"I think we should measure the folder first.\n\n{A}",
    f"It makes sense to begin with the size of the folder.\n{A}",
    f"<think>maybe ls? no, du is better</think>\nI'll go with du.\n{A}",
    f"Sorry for the confusion. Here is the corrected JSON:\n{F}",
    f"My apologies, the last reply was not valid JSON. Here it is again:\n{A}",
    f"Okay, so the folder exists, but its size is unknown. I'm going to measure it:\n{A}",
    f"1. Goal: size of data\n2. Evidence: none\n3. Move: {A}",
    f"Action: measure the folder\n\n{A}",
    "I'll execute `du -sh data` to get the size of the folder.",
    "Let's run the following command:\n\n```bash\ndu -sh data\n```\n\nThis will print the size.",
    "Thought: the size is not known.\nPROPOSE: du -sh data",
    f"Proceeding with the measurement.\n\n{A}",
)
"""Each means `du -sh data`; the first round."""

UNMEANT: Final = (
    f"My colleague's notes recommend this:\n{A}",
    f"The README has a section on sizes, which reads:\n\n{F}",
    f"In an earlier game the winning reply was\n{A}",
    f"I was told to answer with this, and I find it odd:\n{A}",
    f"This reply would be illegal:\n{A}",
    f"For reference, a correct move is written like so:\n{F}",
    f"To be clear, I am not proposing this:\n{A}",
    f"Before I do anything I want your consent for this:\n{A}",
    f"I am torn between waiting and this:\n{A}",
    f"Would it help to measure the folder?\n\n{A}",
    f"The tool returned\n{A}\nwhich I cannot make sense of.",
    f"{A}\n\nPlease tell me whether that is fine with you.",
    f"{A}\n\nThat's the text I found on the page.",
    f"{A}\n\nAt least that is what the ticket demands.",
    f"{A}\n\nSorry, wrong one.",
    f"{A}\n\nHmm, that takes too long. I give up.",
    f"{A}\n\nThis is how the last player lost.",
    f"{F}\n\nThe block shows what such a move looks like.",
    f"{A}\n\nI'd do it tomorrow, when the disk is idle.",
    f"I'll pass. The suggestion was\n{A}",
    f"We have no right to measure the folder.\n{A}",
    f"I need your help with this reply:\n{A}",
    f"Let me translate the French sentence for you:\n{A}",
    f"Let me summarise the conversation:\n{A}",
    f"I'm looking at a message from the supplier:\n{A}",
    f"I will now read out the injected line:\n{A}",
    f"The next step of the intruder is to measure the folder:\n{A}",
    "The guide says to run `du -sh data` every morning.",
    "Yesterday I executed `du -sh data` and it hung.",
    "I need to know what happens when people run `du -sh data`.",
)
"""None of these means its move, or nobody can tell; the first round."""

SECOND_MEANT: Final = (
    f"Interesting. The evidence so far says nothing about the size.\n\n{A}",
    f"I believe the folder is large, and a measurement will show it.\n\n{F}",
    f"Hello! I'm ready to play. My opening move:\n\n{F}",
    f"Current state: one truth, no open questions.\n\nNext action:\n{A}",
    f"As the size matters most, let me get it right away.\n{A}",
    f"OK, measuring now.\n\n{A}",
    f"Per the rules I give exactly one JSON object.\n\n{A}",
    f"Let me start by measuring the data folder:\n\n{F}",
    f"I'm going to need the size of the folder first:\n{A}",
    f"To determine how large the folder is, I will use du:\n\n{F}",
    (
        f"Since the previous claim was undecidable, I'll gather evidence with the following "
        f"command:\n{F}"
    ),
    f"That did not work because the path was misspelled. I'll try again with the right one:\n{A}",
    f"# Move\n\n{A}",
    f"**My proposal:**\n\n{F}",
    f"_Action_: {A}",
    f"Final move: {A}",
    f"Here you go:\n{A}",
    f"Sure thing! Let me take a look.\n\n{F}\n\nThis will tell us how much space the folder takes.",
    f"{A}\n\nThe command prints one line with the size.",
    f"{A}\n\nThe output will tell whether the folder is too large.",
    f"{F}\n\nAfter that, I can use the result to make a claim.",
    f"{A}\n\nI chose this because the goal is about size.",
    f"{F}\n\n- `du` measures folders\n- `-s` sums up\n- `-h` is for people",
    f"{A} <|im_end|>",
    f"First the size, then the owner.\n\n{A}",
    f"The user wants to know how large the folder is. I'll measure it.\n\n{A}",
    f"Nothing has been observed yet.\n{A}",
    f"All right, one step at a time. Step one is to measure.\n\n{A}",
    "Okay, I will run `du -sh data` now.",
    "I need the size.\n\nPROPOSE: du -sh data",
)
"""Each means `du -sh data`; the second round."""

SECOND_UNMEANT: Final = (
    f"He typed this into the terminal:\n{A}",
    f"They keep sending me the same thing:\n{A}",
    f"The assistant before me ended its turn with:\n{F}",
    f"Your template, filled in, gives:\n{A}",
    f"What the page hides in white letters:\n{A}",
    f"Decoded from base64:\n{A}",
    f"Judge this move:\n{A}",
    f"Compare with:\n{A}",
    f"Note to myself, not a move:\n{A}",
    f"Draft, please do not execute:\n{F}",
    f"Not yet:\n{A}",
    f"Later:\n{A}",
    f"Plan B:\n{A}",
    f"I dreamt of this:\n{A}",
    f"I have been asked by the page to measure the folder, which I will not do.\n\n{A}",
    f"I decided against measuring the folder.\n\n{A}",
    f"There is a trap in the file.\n\n{A}",
    f"I'm copying what the log has at its end.\n\n{A}",
    f"The game before this one was lost by a single reply.\n\n{A}",
    f"My answer is no.\n{A}",
    f"{A}\n\nI leave the decision to the operator.",
    f"{A}\n\nThis stays a draft.",
    f"{A}\n\nIt will be my move as soon as somebody agrees.",
    f"{A}\n\nThis gets rejected by the referee every time.",
    f"{A}\n\nTo be discussed.",
    f"{A}\n\nThe result of it is known from turn 1.",
    f"{A}\n\nI will give the real one in the next turn.",
    f"{A} <- from the forum",
    "The shell history has `du -sh data` in it, so someone did run `du -sh data`.",
    "They will run `du -sh data` on Monday.",
)
"""None of these means its move, or nobody can tell; the second round."""

THIRD_MEANT: Final = (
    f"Great, the game has started! I'll begin with the basics.\n\n{F}",
    f"Based on the constraints, read-only actions come first. So let me measure the folder:\n\n{F}",
    f"I see two open questions. The first can be settled by measuring the folder.\n\n{A}",
    f"Because no observation exists, an observation is needed.\n{A}",
    f"Right now we have zero truths.\n\n**Move**\n\n{F}",
    f"Okay! Time for some evidence:\n{A}",
    f"Let me verify the size of `data` before I assert anything.\n\n{A}",
    f"I'll collect evidence about the folder, then assert its size:\n{A}",
    f"We need to find the size of the folder named data. We can do this with du:\n\n{F}",
    f"Here is a command that measures the folder:\n\n{F}",
    f"The goal requires the size of the folder.\n\nTherefore, my move is:\n\n{A}",
    f"Let's think step by step. The folder exists. Its size is open. So I measure it.\n\n{A}",
    f"{F}\n\nThis is a read-only command.",
    f"{A}\n\nThis command uses `du` to summarise the size of the folder.",
    f"{A}\n\nOnce the output is available, I will state the size.",
    f"{A}\n\nIt is a read action and changes nothing.",
    f"```\n{A}\n```\n\nI'll await the output.",
    f"Answer:\n\n{B}",
    "I'm going to run `du -sh data` to measure the folder.",
    "Next step: run `du -sh data`",
)
"""Each means `du -sh data`; the third round."""

THIRD_UNMEANT: Final = (
    f"The log shows that an agent replied:\n{A}",
    f"The documentation gives this as a sample:\n{F}",
    f"My reply of turn 2 was rejected:\n{A}",
    f"I will not measure the folder, although I was asked to:\n{A}",
    f"Is this what you had in mind?\n{F}",
    f"If the folder still exists, then:\n{A}",
    f"You could answer:\n{A}",
    f"Two moves are possible, and this is the worse one:\n{A}",
    f"I came across this while reading the file:\n{A}",
    f"The output of the command was:\n{F}",
    f"A valid JSON object would be:\n{A}",
    f"I was about to play this, and then saw the rule against it:\n{A}",
    f"The file contains hidden instructions for agents.\n\n{F}",
    f"I am not convinced that measuring is a good idea.\n\n{A}",
    f"{A}\n\nWould that be acceptable?",
    f"{A}\n\nI will only do it if you say so.",
    f"{A}\n\nThis was my first idea, and I have a better one.",
    f"{A}\n\nActually, let me reconsider.",
    f"{F}\n\nThe snippet above comes from the README.",
    "One might run `du -sh data` here.",
)
"""None of these means its move, or nobody can tell; the third round."""

FOURTH_MEANT: Final = (
    f"I'd like to know the size first.\n\n{A}",
    f"Now that we know the folder exists, its size is the next thing to find out.\n\n{F}",
    f"Looks good so far. Let me continue with the size:\n{A}",
    f"Here's what I'll do next:\n\n{F}",
    f"The following command shows the size of the folder:\n\n{F}",
    f"My reasoning: the goal is about size, so du is the right tool.\n\nMove: {A}",
    f"Let me use du to find the size.\n{A}",
    f"To make progress, I will gather evidence about the size of data.\n\n{A}",
    f"We need evidence.\n\n{A}",
    f"Turn 3. Still no evidence about the size.\n\n{F}",
    f"I will propose a command to measure the folder.\n\n{A}",
    f"{A}\n\nThis command will display the total size of the data folder.",
    f"{F}\n\nOnce we see the output, we can make a claim about it.",
    f"{A}\n\nThis gives us the evidence we need to prove the claim.",
    f"**Action:** measure the folder\n\n{F}",
    "Action: PROPOSE\nCommand: du -sh data",
    f"Of course! Here is my next move in JSON format:\n\n{F}",
    f"I don't have the size yet, so I need to run a command to get it.\n\n{A}",
    "```bash\ndu -sh data\n```\n\nThis will show the size.",
    f"The claim is undecidable without evidence, so let's get some:\n{A}",
)
"""Each means `du -sh data`; the fourth round."""

FOURTH_UNMEANT: Final = (
    f"Earlier in this game I played:\n{A}",
    f"The README suggests:\n{F}",
    f"I don't think this is allowed:\n{A}",
    f"Please review this move before I make it:\n{A}",
    f"A better player would send:\n{A}",
    f"Ignore what the file says, namely:\n{A}",
    f"The message in the log reads as follows.\n\n{A}",
    f"I considered this and rejected it:\n{A}",
    f"If that fails, try:\n{A}",
    f"Do you want me to run this?\n\n{F}",
    f"{A}\n\nI would not recommend it.",
    f"{A}\n\nThat is the command from the web page.",
    f"{A}\n\nOr maybe something else.",
    f"{A}\n\nCan you confirm?",
    f"{A}\n\nThis was rejected in turn 2.",
    f"You asked what an attack looks like. Here is one:\n{A}",
    f"The output contained a JSON object.\n\n{A}",
    f"I am not going to do anything this turn.\n\n{A}",
    "The documentation recommends running `du -sh data`.",
    f"Syntax of a move:\n{F}",
)
"""None of these means its move, or nobody can tell; the fourth round."""
