"""Orders that stand in a definition: to the agent, against other tools, or hidden from people."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.definitions.texts import ACTS, COMMANDED, NOT, STRONG
from stanchion.readings.hostile.normal import ALIKE, MIXED, folded
from stanchion.readings.hostile.signs import signs

USER: Final = (
    r"(?:the |any |your |an? )?(?:end[- "
    r"]?)?(?:users?|humans?|anyone|anybody|person|people|customers?|operators?|them)"
)
NO_CONDITION: Final = r"(?: (?!unless|if|when|until|before|except)\S+)"
SECRECY: Final = (
    rf"\b{NOT} (?:tell|inform|notify|alert|warn)(?:ing)?{NO_CONDITION}{{0,2}}? {USER}\b",
    rf"\b{NOT} (?:mention|disclos|reveal|show|say|bring|report|explain|admit|discuss|let)(?:e|ing)?"
    rf"(?: (?:this|it|that|these|anything|to|up|with|about|of|so|on|any of"
    rf"|here)){{1,5}}{NO_CONDITION}{{0,2}}? {USER}\b",
    rf"\b{NOT} (?:mention|say|tell|reveal|disclose|explain|admit|report)(?:ing)? (?:that|why|how) "
    rf"(?:you|this|it"
    rf"|they)\b",
    (
        r"\b(?:secret|hidden|covert|silent|invisible) "
        r"(?:operation|step|task|action|instructions?|call|procedure)\b"
    ),
    r"\b(?:nobody|no one|no-one|none of the users) (?:must |should |may |can |will |ever "
    r")?(?:notices?|sees?|knows?"
    r"|learns?|hears?)\b",
    rf"\b{NOT} let {USER} (?:know|see|notice|find out)\b",
    r"\b(?:users?|humans?|customers?|they) (?:does not|doesn't|do not|don't|must not|should "
    r"not|shouldn't|need not"
    r"|must never"
    r"|should never|cannot|will not|won't|may not) (?:need to |have to |ever |want to )?(?:be "
    r"(?:told|informed"
    r"|notified|asked"
    r"|made aware|aware|alerted|bothered|warned)|(?:know|learn|see|notice|hear|find out)(?: "
    r"(?:of|about|this|that|it"
    r"|any)\b"
    r"|\W|$))",
    r"\b(?:keep|leave) (?:this|it|that|these|all (?:of )?this)\b.{0,20}\b(?:to "
    r"yourself|secret|hidden|quiet"
    r"|confidential"
    r"|between us|(?:from|out of sight of) the user|out of (?:the|your) "
    r"(?:reply|answer|response|summary))\b",
    r"\bwithout (?:saying so|(?:telling|informing|notifying|alerting) \w+|(?:the "
    r"user|anyone|them)(?:'s)? (?:knowing"
    r"|noticing|knowledge|consent))\b",
    r"(?<!will )(?<!would )(?<!may )(?<!can )(?<!to )(?<!not "
    r")\b(?:silently|secretly|covertly|discreetly|unnoticed) "
    r"(?!\w+(?:s|ed|ing)\b)\w{3,}",
    r"\b(?:not (?:necessary|needed|required)|no need|not need|don't need|need not|do "
    r"not|don't|never"
    r"|unnecessary) (?:to )?"
    r"(?:ask|request|seek|wait for|obtain|require)\b.{0,30}\b(?:permission|confirmation|approval|"
    r"consent)\b",
)
"""Ways to keep something from the user, or to do it without them."""
OTHER_TOOLS: Final = (
    r"(?:any|all|every|each)(?: of)?(?: the| your)?(?: other| further| later| subsequent)? "
    r"(?:tools?|functions?"
    r"|tool calls?"
    r"|function calls?)"
)
MADE: Final = (
    r"(?:calls?|tools?|tool calls?|repl(?:y|ies)|answers?|responses?|messages?|e-?mails?|mails?|"
    r"payments?"
    r"|conversations?"
    r"|sessions?|chats?|turns?|steps?|requests?|files?|commits?|transactions?|transfers?)"
)
MOVED: Final = (
    r"(?:sent|copied|forwarded|bcc'?e?d|cc'?e?d|mirrored|uploaded|shared|redirected|posted|"
    r"addressed|routed|mailed"
    r"|e-?mailed"
    r"|logged|transferred|replaced|rerouted|passed)"
)
ONCE: Final = r"\b(?:when|whenever|if|each time|every time|once|as soon as|while|all|every)\b"
ALTERS: Final = (
    r"(?:change|replace|override|alter|modify|multiply|substitute|swap|redirect|"
    r"rewrite|double|divide|reroute|switch)"
)
VALUES: Final = (
    r"(?:recipients?|receivers?|amounts?|quantit(?:y|ies)|address(?:es)?|accounts?|names?|ids?|"
    r"senders?|destinations?"
    r"|parameters?"
    r"|arguments?|prices?|symbols?|locations?|dates?|urls?|numbers?|subjects?)"
)
SENDS: Final = (
    r"(?:send|forward|copy|upload|post|transfer|write|append|attach|mirror|share|"
    r"e-?mail|mail|delete|pay|wire|bcc)"
)
UNIVERSAL: Final = (
    rf"\b(?:before|after|ahead of|prior to|preceding|instead of|in place "
    rf"of|with|over|in|during)(?: you)?"
    rf"(?: (?:using|calling|invoking|running|use|call|invoke))? {OTHER_TOOLS}\b(?! "
    rf"(?:in|of|from|on) (?:this|the) )",
    (
        rf"\b(?:whenever|each time|every time|when|if|once|as soon "
        rf"as|where)\b.{{0,30}}\b{OTHER_TOOLS}\b"
    ),
    r"\b(?:from now on|from here on|henceforth|from this point on|for the rest of "
    r"(?:this|the|your) (?:conversation"
    r"|session"
    r"|chat|task))\b",
    r"\b(?:priority|precedence|authority) over (?:what |anything |everything )?(?:the |your |any "
    r"|other )?(?:users?"
    r"|system"
    r"|instructions?|prompts?)\b",
    r"\b(?:whatever|no matter what|regardless of what|irrespective of what) (?:the |your )?users? "
    r"(?:says?|asks?|wants?"
    r"|requests?|has|had|may)\b",
    rf"\b(?:whenever|when|if|once|as soon as)\b.{{0,60}}\b(?:tools?|functions?"
    rf"|servers?)\b.{{0,30}}\bavailable\b.{{0,30}}"
    rf"{COMMANDED}(?!use\b){ACTS}\b",
    r"\b(?:before|after|prior to|ahead of|upon|with) (?:any|each|every|all) (?:[\w-]+ "
    r"){0,2}(?:operations?|actions?"
    r"|commands?"
    r"|tasks?|queries)\b",
    rf"\b(?:all|every|each|any) (?:[\w-]+ )?(?:{MADE}|commands?|scripts?)\b.{{0,24}}\b(?:must|has "
    rf"to|have to|should"
    rf"|shall|needs? to"
    rf"|are to|is to) (?:always |also |first ){{0,2}}be {MOVED}\b",
    r"\b(?:all|every|each|any) (?:shell )?(?:commands?|scripts?|e-?mails?|mails|queries)\b.{0,"
    r"12}\b(?:must|has to"
    r"|have to|should"
    r"|shall|needs? to) (?:always |also )?(?:include|begin|start|end|contain|carry|have|be "
    r"preceded|be prefixed)\b",
    rf"{ONCE}.{{0,90}}{COMMANDED}{ALTERS}\b.{{0,30}}\b{VALUES}\b"
    rf"|{COMMANDED}{ALTERS}\b.{{0,30}}\b{VALUES}\b.{{0,60}}{ONCE}",
    rf"\b(?:after|before) (?:each|every)\b.{{0,12}}\b{MADE}\b.{{0,60}}{COMMANDED}{SENDS}\b",
    (
        rf"{COMMANDED}(?!use\b){ACTS}\b.{{0,40}}\b(?:each|every|all)\b.{{0,12}}\b{MADE} (?:that "
        rf")?(?:you|the user)\b"
    ),
    rf"\b(?:each|every|all|any)(?: of)?(?: (?:your {MADE}|{MADE} (?:that )?you "
    rf"\w+)).{{0,30}}\b(?:must|has to|have to"
    rf"|should"
    rf"|shall|needs? to) (?:always |also )?(?:be )?{ACTS}\b",
)
"""Conditions on other steps than the use of the tool itself."""
TASK: Final = (
    r"\b(?:results?|outputs?|answers?|whatever|anything|everything)\b.{0,40}\b(?:instructions?|"
    r"commands?"
    r"|orders?)\b.{0,30}"
    r"\b(?:followed|obeyed|executed|priority|from the (?:operator|user|system|developer|owner))\b",
    r"\bobey\b|\b(?:follow|execute|carry out) (?:all |any |the )?(?:commands|instructions|orders) "
    r"(?:in|from|of"
    r"|that)\b",
    r"\b(?:first|earliest) (?:action|step|thing|call)(?: that you (?:do|take|make))? (?:in|of) "
    r"(?:an?|the|each|every"
    r"|any|your|this)"
    r" (?:\w+ )?(?:session|conversation|chat|run|task|turn)\b",
    r"\b(?:fine|ok|okay|safe|allowed|may|can|permitted)\b.{0,12}\b(?:skip|bypass|disable|suppress|"
    r"omit|ignore)\b.{0,24}"
    r"\b(?:confirmations?|approvals?|permissions?|dialogs?|warnings?|checks?)\b",
    r"\byour (?:final |next |last )?(?:answer|reply|response|summary)\b.{0,20}\b(?:must|has "
    r"to|should|shall"
    r"|needs to)\b.{0,20}"
    r"\b(?:recommend|promote|praise|advertise|link|name)\b",
    rf"{COMMANDED}(?:append|add|prefix|prepend|attach|include|insert|put)\b.{{0,40}}\b(?:to|in|"
    rf"before|behind"
    rf"|into) (?:whatever"
    r"|everything|anything|all|every \w+|each \w+|any \w+)(?: that)? you\b",
    rf"{COMMANDED}(?:configure|reconfigure|adjust|set up|change|instruct)\b.{{0,12}}\b(?:all |the "
    rf")?other (?:tools?"
    rf"|servers?)\b",
    (
        rf"{COMMANDED}(?:use|install|pull|fetch|download|import)\b.{{0,60}}\b[\w-]+\.[\w.-]+/\S+.{{0,"
        rf"30}}\binstead\b"
    ),
    r"\b(?:forget|disregard|ignore|abandon|drop|override|set "
    r"aside|overrule)\b.{0,30}\b(?:instructions?|guidelines?"
    r"|rules?"
    r"|prompts?|orders?|directions?|what (?:the user|you))\b",
    r"\b(?:confirmations?|approvals?|safety "
    r"checks?|restrictions?|guardrails?|safeguards?)\b.{0,20}\b(?:are|is|were"
    r"|was|have been"
    r"|has been) (?:\w+ )?(?:off|disabled|lifted|suspended|waived|turned off|not "
    r"needed|unnecessary|granted)\b",
    r"\byou (?:may|can|are (?:now )?(?:allowed|free|permitted) to)\b.{0,40}\bwithout (?:\w+ "
    r")?(?:approval|asking"
    r"|confirmation"
    r"|permission|restrictions?)\b|\bgrant (?:this|me|the) "
    r"(?:tool|server)?\b.{0,20}\b(?:access|permission)",
)
HANDED: Final = regex(
    rf"{COMMANDED}(?:send|forward|copy|upload|post|transfer|e-?mail|mail|wire|share|submit|give|"
    rf"tell)\b.{{0,60}}"
    r"\b(?:to|with) (?:(?:me|us)\b|(?:my|our) (?:\w+ "
    r")?(?:webhook|server|endpoint|account|address|inbox)\b)"
)
"""An order to hand something to whoever wrote the definition."""
ADDRESS: Final = (
    r"(?:\+\d[\d -]{7,}|[\w.+-]{1,64}@[\w-]{1,64}\.[a-z]|\b[a-z]{2}\d{2}(?: "
    r"?[a-z0-9]{4}){3,7}\b|https?://\w)"
)
STEERED: Final = regex(
    rf"\b(?:all|every|each|any)\b.{{0,40}}\b(?:go|goes|pass|passes|run|runs|travel)\b.{{0,"
    rf"12}}\b(?:through|via"
    rf"|to)\b.{{0,20}}{ADDRESS}|"
    rf"\b(?:must|has to|have to|should|shall|needs? to|are to|is to|will)\b.{{0,60}}{ADDRESS}|"
    rf"{COMMANDED}(?:\w+ )?{ACTS}\b.{{0,120}}{ADDRESS}|\bb?cc ?= ?[\w.+-]{{1,64}}@"
)
SAMPLE: Final = regex(
    r"\b(?:e\.?g|for example|for instance|such "
    r"as|like|example|sample|documentation|docs|see|feedback|bugs?|issues?"
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
"""What a hostile phrase is worth here: strong phrases keep their weight, but orders with an address
are read anew."""

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


NAME: Final = regex(r"[^\W_](?:[\w.-]*[^\W_])?")
COMPOUND: Final = regex(r"[_.-]|\d|[a-z][A-Z]")
QUOTES: Final = "`'\""
HARM: Final = (
    r"(?:compromised|insecure|unsafe|dangerous|malicious|false "
    r"(?:results|answers|data|information)|wrong|incorrect"
    r"|manipulated|tampered|broken|buggy"
    r"|unreliable|leak\w*"
    r"|outdated|stale|untrustworthy|infected|poisoned|fake|vulnerable|obsolete|has a "
    r"bug|lies|hacked)"
)
NAMED: Final = r"\x00"
"""Stands where the name of another tool stood."""
GENERIC: Final = r"other (?:tools?|servers?|functions?|sources?|providers?)"
AGAINST: Final = regex(
    rf"(?:{NAMED}|{GENERIC})\W.{{0,40}}\b{HARM}\b|\b{HARM}\b.{{0,20}}(?:{NAMED}|{GENERIC})"
    rf"|{NAMED}.{{0,40}}\b(?:must|should|may|can) (?:not|never|no longer) be "
    rf"(?:used|called|trusted|invoked)"
    rf"|{NAMED}.{{0,30}}\b(?:throw|discard|ignore|disregard)\b|\b(?:discard|ignore|disregard)"
    rf"\b.{{0,30}}{NAMED}"
    r"|\b(?:trust|believe|rely on|use) only (?:results?|answers?|output|data|tools?|this)\b|\bonly "
    r"(?:trust|believe)\b"
    r"|\bonly tool (?:that )?(?:you|which|to)\b.{0,20}\b(?:trust|use|rely)"
)
HEDGED: Final = regex(r"\b(?:may|might|can|could) be\b|\b(?:if|when|whether|in case)\b.{0,20}\x00")
"""What tells of a tool that may fail at times."""
FORBIDDEN: Final = regex(
    rf"\b{NOT} (?:be )?(?:use|using|call|calling|trust|trusting|invoke|rely on|believe)(?: the| "
    rf"tool| function"
    rf"| results of"
    rf"| output of| on| any)*\W{{0,3}}{NAMED}"
)
PREFERRED: Final = regex(
    rf"\b(?:instead of|in place of|replaces?|supersedes?|rather than|over)\b.{{0,16}}{NAMED}"
    rf"|{NAMED}.{{0,40}}\b(?:is|was|has been) (?:replaced|superseded|deprecated|retired)"
)
ALWAYS: Final = regex(
    r"\b(?:always|at all times|in (?:all|every) cases?|any longer|any more|no longer|every|never "
    r"again|must|only"
    r"|exclusively"
    r"|without exception)\b"
)
RUNS_ITSELF: Final = regex(
    rf"\b(?:whenever|each time|every time|any "
    rf"time|when|if|before|after|once)\b.{{0,24}}(?:\b(?:use|using|call"
    rf"|calling|invoke"
    rf"|invoking|run|running|tool)\b.{{0,16}})?{NAMED}.{{0,60}}{COMMANDED}{ACTS}\b"
    rf"|{COMMANDED}{ACTS}\b.{{0,60}}\b(?:with|via|through|using|by)\b.{{0,10}}{NAMED}"
    rf"|\b(?:if|when|whenever)\b.{{0,24}}{NAMED}.{{0,20}}\bavailable\b.{{0,12}}\b(?:call|run|"
    rf"invoke|use) (?:it|this"
    rf"|that)\b"
)
WIDE: Final = regex(r"\b(?:whenever|each time|every time|each of|every|all|always|any time)\b")
SELF: Final = regex(r"\bthis (?:tool|function|one)?\b")

DIGITS: Final = str.maketrans("015", "ols")
PARTS: Final = regex(r"[_.\s-]+")
DOUBLED: Final = regex(r"[_.-]{2,}|^[_.-]|[_.-]$")


def against(words: str, name: str, others: Collection[str]) -> int:
    """How much a sentence speaks against other tools, or gives orders about them."""
    sentence = _marked(words, name, others)
    if AGAINST.search(sentence) is not None:
        return 1 if HEDGED.search(sentence) is not None else STRONG
    if "\x00" not in sentence:
        return 0
    if PREFERRED.search(sentence) is not None or FORBIDDEN.search(sentence) is not None:
        return STRONG if ALWAYS.search(sentence) is not None else 1
    if RUNS_ITSELF.search(sentence) is None or SELF.search(sentence) is not None:
        return 0
    return STRONG if WIDE.search(sentence) is not None else 1


def _marked(words: str, name: str, others: Collection[str]) -> str:
    """A sentence in its normal form, with a mark in the place of each other tool that it names."""
    pieces: list[str] = []
    done = 0
    for found in NAME.finditer(words):
        told = found.group()
        if told == name or told not in others:
            continue
        start, end = found.span()
        quoted = start > 0 and words[start - 1] in QUOTES
        if (
            quoted
            or COMPOUND.search(told) is not None
            or words[max(0, start - 6) : start].endswith("tool ")
        ):
            pieces += [words[done:start], "\x00"]
            done = end
    return " ".join(folded("".join([*pieces, words[done:]])).split(" ")).strip()


def looks_like(name: str, others: Collection[str]) -> tuple[str, int]:
    """The tool that a name looks like without being it, and how telling that is."""
    if MIXED.search(name.casefold()) is not None:
        return _twin(name, others), STRONG
    if name.isascii() and not _is_odd(name):
        return "", 0
    twin = _twin(name, others)
    return (twin, STRONG) if twin else ("", 0)


def _twin(name: str, others: Collection[str]) -> str:
    own = _skeleton(name)
    return next(
        (other for other in sorted(others) if other != name and _skeleton(other) == own), ""
    )


def _is_odd(name: str) -> bool:
    return DOUBLED.search(name) is not None or any(digit in name for digit in "015|")


def _skeleton(name: str) -> str:
    """A name as it looks at a glance."""
    return PARTS.sub("", folded(name).translate(ALIKE).translate(DIGITS)).replace("|", "l")


UNSEEN: Final = regex(
    "[\u00ad\u034f\u115f\u1160\u180e\u200b-\u200f\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0]"
)
JOINERS: Final = regex("(?<=[^\x00-\x7f])[\u200c\u200d\ufe0f](?=[^\x00-\x7f])|\\A\ufeff")
"""What belongs to the writing of some languages and to emojis, and the mark that a file begins
with."""
SPELT: Final = regex(
    "\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f|"
    "([\U000e0000-\U000e007f\U000e0100-\U000e01ef])"
)
"""Letters that nobody sees, apart from those of a flag."""
TURNED: Final = regex("[\u202d\u202e]|[\u202a\u202b\u2066-\u2068]")
CONTROLS: Final = regex("[\x00-\x08\x0b\x0e-\x1f\x7f\x80-\x9f]")
ESCAPES: Final = regex(
    r"(?:\x1b\[|\x9b)[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|\x1b[@-Z\\-_]"
)
COMMENT: Final = regex(
    r"<!--\s{0,20}(?:\S{1,40}\s{1,20}){2}\S[^\n]{0,200}|\[//\]:\s?#\s?\([^)\n]{12,200}"
)
"""A comment of more than two words; what is shorter is a mark of some format."""
STYLED: Final = regex(
    r"(?i)<[a-z][^<>]{0,160}(?:display\s?:\s?none|visibility\s?:\s?hidden|"
    r"font-size\s?:\s?0(?!\.?[1-9])"
    r"|opacity\s?:\s?0(?!\.?[1-9]))"
)
FAR: Final = regex(r"[^\S\n]{48}|(?:\n[^\S\n]{0,80}){12}")
"""Blanks that push what follows out of sight."""
FEW: Final = 2
"""So many characters that nobody sees come with what is copied from a page."""
SHOWN: Final = 80


def bare(text: str) -> str:
    """A text without escape sequences and control characters: what a model reads."""
    return CONTROLS.sub(" ", ESCAPES.sub(" ", text))


def hidden_in(text: str) -> list[tuple[int, str]]:
    """What a text hides: the weight of each, and the words for it."""
    found: list[tuple[int, str]] = []
    if not text.isascii():
        found += _unseen(text)
    shown = text.strip()
    control = CONTROLS.search(text)
    if control is not None:
        found.append(
            (STRONG, f"control characters before: {text[control.end() :][:SHOWN].strip()}")
        )
    for pattern, what in (
        (COMMENT, "a comment"),
        (STYLED, "invisible markup"),
        (FAR, "text behind many blanks"),
    ):
        hit = pattern.search(shown)
        if hit is not None:
            words = hit.group().strip() or shown[hit.end() :].strip()
            found.append((STRONG, f"{what}: {words[:SHOWN]}"))
    return found


def _unseen(text: str) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    spelt = "".join([hit.group(1) for hit in SPELT.finditer(text) if hit.group(1)])
    if spelt:
        told = "".join(
            [chr(ord(char) - 0xE0000) for char in spelt if 0xE0020 <= ord(char) < 0xE007F]
        )
        found.append((STRONG, f"letters that nobody sees: {told[:SHOWN]}"))
    count = len(UNSEEN.findall(JOINERS.sub("", text)))
    if count:
        found.append((STRONG if count > FEW else 1, f"characters that nobody sees: {count}"))
    turn = TURNED.search(text)
    if turn is not None:
        found.append(
            (
                STRONG,
                f"characters that turn text round, before: {text[turn.end() :][:SHOWN].strip()}",
            )
        )
    return found
