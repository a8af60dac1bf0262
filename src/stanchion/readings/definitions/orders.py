"""Orders: sentences of a definition that want more of the agent than that it uses the tool well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.definitions.grammar import ACTS, COMMANDED, NOT
from stanchion.readings.definitions.remark import STRONG
from stanchion.readings.hostile.signs import signs

USER: Final = (
    r"(?:the |any |your |an? )?(?:end[- ]?)?(?:users?|humans?|anyone|anybody|person|people|customers?|operators?|them)"
)
NO_CONDITION: Final = r"(?: (?!unless|if|when|until|before|except)\S+)"
SECRECY: Final = (
    rf"\b{NOT} (?:tell|inform|notify|alert|warn)(?:ing)?{NO_CONDITION}{{0,2}}? {USER}\b",
    rf"\b{NOT} (?:mention|disclos|reveal|show|say|bring|report|explain|admit|discuss|let)(?:e|ing)?"
    rf"(?: (?:this|it|that|these|anything|to|up|with|about|of|so|on|any of"
    rf"|here)){{1,5}}{NO_CONDITION}{{0,2}}? {USER}\b",
    rf"\b{NOT} let {USER} (?:know|see|notice|find out)\b",
    r"\b(?:users?|humans?|customers?|they) (?:does not|doesn't|do not|don't|must not|should not|shouldn't|need not"
    r"|must never"
    r"|should never|cannot|will not|won't|may not) (?:need to |have to |ever |want to )?(?:be (?:told|informed"
    r"|notified|asked"
    r"|made aware|aware|alerted|bothered|warned)|(?:know|learn|see|notice|hear|find out)(?: (?:of|about|this|that|it"
    r"|any)\b"
    r"|\W|$))",
    r"\b(?:keep|leave) (?:this|it|that|these|all (?:of )?this)\b.{0,20}\b(?:to yourself|secret|hidden|quiet"
    r"|confidential"
    r"|between us|(?:from|out of sight of) the user|out of (?:the|your) (?:reply|answer|response|summary))\b",
    r"\bwithout (?:saying so|(?:telling|informing|notifying|alerting) \w+|(?:the user|anyone|them)(?:'s)? (?:knowing"
    r"|noticing|knowledge|consent))\b",
    r"(?<!will )(?<!would )(?<!may )(?<!can )(?<!to )(?<!not )\b(?:silently|secretly|covertly|discreetly|unnoticed) "
    r"(?!\w+(?:s|ed|ing)\b)\w{3,}",
    r"\b(?:not (?:necessary|needed|required)|no need|not need|don't need|need not|do not|don't|never"
    r"|unnecessary) (?:to )?"
    r"(?:ask|request|seek|wait for|obtain|require)\b.{0,30}\b(?:permission|confirmation|approval|consent)\b",
)
"""Ways to keep something from the user, or to do it without them."""
OTHER_TOOLS: Final = (
    r"(?:any|all|every|each)(?: of)?(?: the| your)?(?: other| further| later| subsequent)? (?:tools?|functions?"
    r"|tool calls?"
    r"|function calls?)"
)
MADE: Final = (
    r"(?:calls?|tools?|tool calls?|repl(?:y|ies)|answers?|responses?|messages?|e-?mails?|mails?|payments?"
    r"|conversations?"
    r"|sessions?|chats?|turns?|steps?|requests?|files?|commits?|transactions?|transfers?)"
)
SENDS: Final = (
    r"(?:send|forward|copy|upload|post|transfer|write|append|attach|mirror|share|e-?mail|mail|delete|pay|wire|bcc)"
)
UNIVERSAL: Final = (
    rf"\b(?:before|after|ahead of|prior to|preceding|instead of|in place of|with|over|in|during)(?: you)?"
    rf"(?: (?:using|calling|invoking|running|use|call|invoke))? {OTHER_TOOLS}\b(?! (?:in|of|from|on) (?:this|the) )",
    rf"\b(?:whenever|each time|every time|when|if|once|as soon as|where)\b.{{0,30}}\b{OTHER_TOOLS}\b",
    r"\b(?:from now on|from here on|henceforth|from this point on|for the rest of (?:this|the|your) (?:conversation"
    r"|session"
    r"|chat|task))\b",
    r"\b(?:priority|precedence|authority) over (?:what |anything |everything )?(?:the |your |any |other )?(?:users?"
    r"|system"
    r"|instructions?|prompts?)\b",
    r"\b(?:whatever|no matter what|regardless of what|irrespective of what) (?:the |your )?users? (?:says?|asks?|wants?"
    r"|requests?|has|had|may)\b",
    rf"\b(?:whenever|when|if|once|as soon as)\b.{{0,60}}\b(?:tools?|functions?"
    rf"|servers?)\b.{{0,30}}\bavailable\b.{{0,30}}"
    rf"{COMMANDED}(?!use\b){ACTS}\b",
    rf"\b(?:after|before) (?:each|every)\b.{{0,12}}\b{MADE}\b.{{0,60}}{COMMANDED}{SENDS}\b",
    rf"{COMMANDED}(?!use\b){ACTS}\b.{{0,40}}\b(?:each|every|all)\b.{{0,12}}\b{MADE} (?:that )?(?:you|the user)\b",
    rf"\b(?:each|every|all|any)(?: of)?(?: (?:your {MADE}|{MADE} (?:that )?you \w+)).{{0,30}}\b(?:must|has to|have to"
    rf"|should"
    rf"|shall|needs? to) (?:always |also )?(?:be )?{ACTS}\b",
)
"""Conditions on other steps than the use of the tool itself."""
TASK: Final = (
    r"\b(?:forget|disregard|ignore|abandon|drop|override|set aside|overrule)\b.{0,30}\b(?:instructions?|guidelines?"
    r"|rules?"
    r"|prompts?|orders?|directions?|what (?:the user|you))\b",
    r"\b(?:confirmations?|approvals?|safety checks?|restrictions?|guardrails?|safeguards?)\b.{0,20}\b(?:are|is|were"
    r"|was|have been"
    r"|has been) (?:\w+ )?(?:off|disabled|lifted|suspended|waived|turned off|not needed|unnecessary|granted)\b",
    r"\byou (?:may|can|are (?:now )?(?:allowed|free|permitted) to)\b.{0,40}\bwithout (?:\w+ )?(?:approval|asking"
    r"|confirmation"
    r"|permission|restrictions?)\b|\bgrant (?:this|me|the) (?:tool|server)?\b.{0,20}\b(?:access|permission)",
)
HANDED: Final = regex(
    rf"{COMMANDED}(?:send|forward|copy|upload|post|transfer|e-?mail|mail|wire|share|submit|give|tell)\b.{{0,60}}"
    r"\b(?:to|with) (?:me|us)\b"
)
"""An order to hand something to whoever wrote the definition."""
ADDRESS: Final = r"(?:[\w.+-]{1,64}@[\w-]{1,64}\.[a-z]|\b[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){3,7}\b|https?://\w)"
STEERED: Final = regex(rf"{COMMANDED}(?:\w+ )?{ACTS}\b.{{0,120}}{ADDRESS}|\bb?cc ?= ?[\w.+-]{{1,64}}@")
SAMPLE: Final = regex(
    r"\b(?:e\.?g|for example|for instance|such as|like|example|sample|documentation|docs|see|feedback|bugs?|issues?"
    r"|format"
    r"|support requests?)\b"
)
"""What makes an address one that is only shown."""
SIGNS: Final = {
    "override": 0,
    "secrecy": 0,
    "probe": 0,
    "reply": 0,
    "order": -1,
    "demand": -1,
    "address": 0,
    "carrier": 0,
}
"""What a hostile phrase is worth here: strong phrases keep their weight, but orders with an address are read anew."""

WAITS: Final = regex(r"\b(?:unless|until|before|yet)\b")
"""What makes keeping something from the user a matter of time or of a condition."""
_SECRECY: Final = regex("|".join(SECRECY))
_UNIVERSAL: Final = regex("|".join(UNIVERSAL))
_TASK: Final = regex("|".join(TASK))


def orders_in(sentence: str, is_first: bool) -> Iterator[int]:
    """The weights of the orders in a sentence in its normal form."""
    kept = _SECRECY.search(sentence)
    if kept is not None:
        yield 1 if WAITS.search(sentence, kept.end()) is not None else STRONG
    if any(pattern.search(sentence) is not None for pattern in (_UNIVERSAL, _TASK, HANDED)):
        yield STRONG
    steered = STEERED.search(sentence)
    if steered is not None and SAMPLE.search(sentence) is None:
        yield 1 if is_first and steered.start() == 0 else STRONG
    for sign in signs(sentence):
        weight = sign.weight + SIGNS.get(sign.kind, -STRONG)
        if weight > 0:
            yield weight
