"""English: the phrases by which texts address an agent."""

from __future__ import annotations

from typing import Final

AGENT: Final = (
    r"(?:gpt-?\s?\w{0,12}|chatgpt|claude|gemini|llama|copilot|mistral|ai|llm|a\.i\.|assistant|"
    r"chatbot|agent"
    r"|language model|ai (?:model|assistant|agent))"
)

OVERRIDES: Final = (
    r"\b(?:ignore|disregard|forget|override|bypass|set aside|skip)\b.{0,30}"
    r"\b(?:previous|prior|above|earlier|all|your|preceding|initial|original|other|former|"
    r"everything)\b.{0,40}"
    r"\b(?:\w{0,3}nstructions?|prompts?|rules?|tasks?|orders?|guidelines?|directions?|messages?|"
    r"said|told)",
)
"""Phrases that set aside what an agent was told."""

ADDRESSES: Final = (
    (
        rf"\b(?:to|for|dear|hello|hi|hey|attention|note to|message "
        rf"to)\b[,:]?\s+(?:you,?\s+)?(?:the\s+)?{AGENT}\b"
    ),
    rf"\byou,?\s+{AGENT}\b",
    rf"\b(?:as|you are|you're|act as|acting as) an? {AGENT}\b",
    rf"^\W*{AGENT}\s*[:,]",
)
"""Phrases that speak to an agent."""

RESUMPTIONS: Final = (
    r"\b(?:solve|complete|continue|finish|proceed "
    r"with|resume|start|do|perform)\b.{0,25}\btasks?\b.{0,20}"
    r"\b(?:i|user|you were)\b.{0,10}\b(?:gave|given|assigned|asked)",
    r"\bbefore (?:you )?(?:can )?(?:solv|complet|continu|finish|answer|respond|proceed)\w*\b.{0,40}"
    r"\b(?:task|request|question|user)",
    r"\b(?:user'?s?|your|original|initial|current)\s+(?:task|instructions?|prompt|request)\b.{0,60}"
    r"\b(?:first|instead|must|need|before|after)",
)
"""Phrases about the agent's own task."""

CLAIMS: Final = (
    r"(?:^|[\[<(#*\s])(?:system|developer|admin(?:istrator)?)[ _]?"
    r"(?:message|prompt|note|override|instruction|notice|alert|command)s?\b",
    r"\bnew (?:instructions?|task|directive)s?\s*:",
)
"""Phrases that pass for somebody with a say."""

DICTATIONS: Final = (
    (
        r"\b(?:use|call|invoke)\b.{0,20}\b(?:tool|function|api)\b.{0,40}\b(?:arguments?|parameters?|"
        r"following)\b"
    ),
)
"""Phrases that tell an agent which tool to use."""

DEMANDS: Final = (r"\bstrictly adhere to\b|\bfollowing instructions?\b.{0,10}(?::|instead)",)
"""Phrases that want to be obeyed."""

SECRECIES: Final = (
    r"\bdo not (?:tell|inform|notify|alert|mention).{0,20}\b(?:the )?user\b",
    r"\bwithout (?:asking|telling|informing|notifying|alerting) (?:me|the user|them|for)\b",
)
"""Phrases that want something to stay hidden from the user."""
