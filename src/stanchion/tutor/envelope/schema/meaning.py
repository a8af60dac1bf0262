"""Whether the words round a move introduce it: a reply can also quote a move, forbid it, or tell of
it.

What decides is the form of the sentences next to the move. A sentence that ends in a colon has the
move for its object: it has to be a label, or somebody's own intent that is not about a text. A
sentence that ends in a full stop leaves the move to itself, unless it speaks of texts, of moves, or
of what is not to be done. Behind a move stands nothing, what it is good for, or what is done with
its outcome. All else is unclear, and whoever is misread so can be asked again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.tutor.envelope.schema import forms
from stanchion.tutor.envelope.schema.tongues import intends, is_courtesy, shows

_OTHERS: Final = (
    r"(?![\w:]*(?:user|human|system|response|result|output(?!s?_?(?:start|json))|observation|"
    r"example|history|previous"
    r"|document|context|quote|ipython))"
)
"""A sign that names somebody else, or what is no call, is read as words."""
TOKEN: Final = (
    rf"[<\u2039][|\uff5c]/?{_OTHERS}[\w\u2581 .-]{{1,40}}[|\uff5c][>\u203a]"
    r"|</?s>|\[/?(?:INST|TOOL_CALLS?|ARGS)\]|\[CALL_ID\]\w{1,40}|<(?:start|end)_(?:function_call|"
    r"code"
    r"|action|of_turn)>"
    r"|\u273f(?:FUNCTION|ARGS)\u273f:?"
)
"""A sign of one kind or another that only a template writes."""
CHANNEL: Final = r"<\|start\|>assistant\b|<\|channel\|>\w{1,20}(?:\s+to=)?|\bto=(?=functions\.)"
"""To whom a part of a reply goes: words of the template."""
CALLS: Final = (
    rf"(?:\w{{1,20}}:)?{_OTHERS}(?:\w*(?:tool|function)\w*|(?:calls?|use|input|invoke)"
    r"|(?:(?:final|next)_)?(?:action|move|answer|response|reply|output|json|command|parameters?|"
    r"arguments?))"
)
"""The name of a tag that a call or an answer stands in."""
MARKUP: Final = regex(
    rf"{CHANNEL}|{TOKEN}|</?{CALLS}(?:[= ][^<>\n]{{0,80}})?>|^>>>[ \t]*\Z"
    r"|<(?:\w{1,20}:)?(?:function=|(?:invoke|function|tool)\s+name=)[\"']?\Z",
    re.IGNORECASE | re.MULTILINE,
)
"""Whatever of a template stands round a call."""
BEFORE: Final = regex(
    r"(?:^|[\s\"'`*_(\[|>\]=\u203a:])"
    r"((?:(?:tool|function)(?:[ _](?:name|call))?(?: \d{1,3})?[ \t]*[:=][ \t]*[\"'`*]{0,3})?)"
    r"([A-Za-z_][\w.-]*)"
    rf"(?::\d{{1,3}}(?=<))?[\"'`*_)\]]*(?:\s|[:=>]|{TOKEN})*"
    rf"(?:(?:action[ _]input|arguments|args|parameters|input)(?: \d{{1,3}})?\s*[:=]\s*"
    rf"|(?<=[|\uff5c]>)json(?:{TOKEN})\s*)?"
    r"(?:```\w*\s*)?\Z",
    re.IGNORECASE,
)
"""The word right before an object, with nothing but signs between."""
OVER: Final = regex(
    r"(?<=\S)\s*(?:<\|(?:im_end|eot_id|end|eom_id|endoftext)\|>|</s>|<end_of_turn>)\s*"
    r"(?:<(?:\||start_)[\w|>]{0,24}\s*)?(?:user|human|system)\b[^{]*\Z"
    r"|\n[ \t]*Observation(?: \d{1,3})?:[^\n{]*(?:\n(?:[ \t]*|(?:Thought|(?:Final )?Answer)[ "
    r"\w]{0,4}:[^\n{]*))*\Z",
    re.IGNORECASE,
)
"""Where somebody else's turn begins, which a model has only made up."""
ANALYSIS: Final = regex(r"<\|channel\|>analysis<\|message\|>.*?(?:<\|end\|>|\Z)", re.DOTALL)
"""What a model thinks in a channel of its own."""
ESCAPES: Final = "<start_function_call>"
ESCAPE: Final = "<escape>"
"""What stands for a quote in the template that has this sign before a call."""


Span = tuple[int, int]

NEAR: Final = 200
"""How much of what stands right before a move can be signs that it is wrapped in."""
_FENCE: Final = (
    r"(?:```|~~~)(?:json\w*|js|javascript|ya?ml|python|py|te?xt|plain\w*|tool\w*|"
    r"action|move|bash|sh|shell|console)?"
)
_OPENS: Final = regex(
    rf"(?:\s|{_FENCE}(?=\s)|(?<![`~])`|\*\*|[\[({{|\"'](?![^\n]*[\w:])"
    r"|(?:^|(?<=\n))[ \t]*(?:[-*]|\d{1,3}[.)]|#{2,6})(?=[ \t]))+\Z",
    re.IGNORECASE,
)
_CLOSES: Final = regex(r"(?:\s|```|~~~|(?<![`~])`|\*\*|[\])}|\"';.!]|\{\w*\})*")
_RULE: Final = regex(
    r"^[ \t]*(?:#{1,6}[ \t]*(?:end)?|[-*_=]{3,}|Observation:)[ \t]*$", re.MULTILINE | re.IGNORECASE
)
_SENTENCE: Final = regex(r".*?(?:[.!?:](?=[\s*_]|\Z)|\Z)", re.DOTALL)
_HEADING: Final = regex(r"^[ \t]*#{1,6}[ \t]+(?=[\w*])")
_NAME: Final = regex(r"`[^`\n]{1,80}`|(?<![\w/-])[\w/-]+\.[A-Za-z]{1,5}\b")
_SYMBOL: Final = regex(
    "[\u2190-\u21ff\u2300-\u23ff\u2460-\u27bf\u2900-\u29ff\u2b00-\u2bff\ufe0e\ufe0f\u200d\U0001f000"
    "-\U0001faff]+"
)
"""Pictures: they say nothing that words next to them do not."""
_OPENING: Final = regex(
    r"^\s*(?:(?:no (?:problem|worries)|sure(?: thing)?|of course|absolutely|hm+|ah|oh|wow"
    r"|got it|(?:great|good) (?:question|point"
    r"|catch)|my bad"
    r"|you(?:'re| are)(?: absolutely| completely)? (?:right|correct)|(?:apologies|sorry"
    r"|thanks?(?: you)?)(?: for [^.,:!?]{1,40}| about [^.,:!?]{1,40})?)"
    r"[,.!\u2026]+\s*)+",
    re.IGNORECASE,
)
"""What somebody says before they begin."""
_HANGING: Final = regex(
    r"\b(?:than|of|for|from|as|like|the|an?|to|against|about|on|in|at|by|with|and|or|not|use|do|"
    r"run)\W*\Z",
    re.IGNORECASE,
)
"""A line that goes on behind its end."""
_ASIDES: Final = regex(
    r"\bfor you\b|\A(?:in order )?to (?:answer|solve|address) your [^,.:]{1,40}, ", re.IGNORECASE
)
"""Courtesy: whoever is spoken to there wrote no text that the sentence is about."""
_COLONS: Final = (":", "\uff1a")
_DRESS: Final = " \t*_"


def unclear(text: str, spans: Iterable[Span]) -> str:
    """Why the words round the parts of a text that are a move leave open whether it is meant; empty
    if they do not."""
    cuts = sorted(spans)
    if not cuts:
        return ""
    before, last = text[: cuts[0][0]], cuts[0][1]
    behind = []
    for begin, end in cuts[1:]:
        behind.append(text[last:begin])
        last = max(last, end)
    behind.append(text[last:])
    if not _introduces(MARKUP.sub("\n", before)):
        return "what stands before the move does not introduce it"
    if not all(_ends(MARKUP.sub("\n", part)) for part in behind):
        return "what stands behind the move may turn it round"
    return ""


def says_no_more(sentence: str) -> bool:
    """Whether a field beside a move says nothing against it."""
    return not (forms.AGAINST.search(sentence) or forms.GOVERNS.search(sentence))


def says_that_it_runs(head: str, tail: str) -> bool:
    """Whether a sentence with a command between its two parts says that the command is run now."""
    before, behind = head.strip(_DRESS + "`"), tail.strip(_DRESS + "`.!\n")
    return bool(forms.LABEL.fullmatch(before) and not behind) or _intends(f"{before} x {behind}")


def _introduces(before: str) -> bool:
    """Whether what stands before a move leads to it."""
    bare = before[:-NEAR] + _OPENS.sub("", before[-NEAR:])
    return _led(_sentences(bare), "\n" in before[len(bare) :])


def _led(said: list[str], apart: bool) -> bool:
    """Whether sentences lead to what stands behind them; `apart` is on a line of its own.

    Cases, in this order: there are none; the last one has the move for its object; it is an own
    intent, whatever came before; something reaches over the sentences behind it; it is a label, and
    belongs to what a colon before it has for its object; or it leaves the move to itself.
    """
    if not said:
        return True
    lead, earlier = said[-1], said[:-1]
    if _leads(lead, apart):
        return not any(forms.FORBIDS.match(one) for one in earlier)
    if any(forms.GOVERNS.search(one) or _tells(one) for one in earlier):
        return False
    if forms.LABEL.fullmatch(lead):
        return not (earlier and earlier[-1].endswith(_COLONS)) or _led(earlier, apart=True)
    aside = forms.ASIDE.fullmatch(lead)
    if aside is not None:
        inner = aside.group("said")
        return _intends(inner) or _stands_alone(inner)
    return lead.endswith((".", "!")) and bool(forms.ENGLISH.search(lead)) and _stands_alone(lead)


def _tells(sentence: str) -> bool:
    """Whether somebody tells there what stands behind it."""
    return sentence.endswith(_COLONS) and bool(forms.TELLS.search(sentence))


def _leads(sentence: str, apart: bool) -> bool:
    """Whether a sentence is somebody's own intent, and ends as one does; a line of its own needs no
    sign at its end."""
    if sentence.endswith(_COLONS):
        return _shows(sentence) or intends(sentence)
    if sentence.endswith((".", "!", "\u2026", "\u3002", "\uff01")):
        return _intends(sentence) or intends(sentence)
    if not apart or _HANGING.search(sentence):
        return False
    return intends(sentence) or (_shows(sentence) and not forms.SPOKEN.search(sentence))


def _shows(sentence: str) -> bool:
    """Whether a sentence before a colon is an intent that the move carries out; a move that it
    points to is done."""
    if not _intends(sentence) or forms.TEXTS.search(_ASIDES.sub("", sentence)):
        return False
    return not forms.POINTS.search(sentence) or bool(forms.DONE.search(_act(sentence)))


def _act(sentence: str) -> str:
    """What a sentence, or the last part of it, says that its speaker does now; empty where it says
    no such thing."""
    clause = forms.PARTS.split(sentence)[-1]
    found = forms.INTENT.fullmatch(clause) or forms.ORDER.fullmatch(clause)
    return "" if found is None else found.group("act")


def _intends(sentence: str) -> bool:
    """Whether a sentence says what its speaker does now, with no condition, and with nothing said
    against it."""
    act = forms.ASKED.sub(r"\1 that", _act(sentence))
    if (
        not act
        or forms.LATER.search(sentence)
        or forms.CONDITION.match(forms.ASKED.sub(r"\1 that", sentence))
    ):
        return False
    return not forms.AGAINST.search(forms.CLAUSE.sub("", act))


def _stands_alone(sentence: str) -> bool:
    """Whether a sentence leaves the move behind it to itself."""
    against = (forms.TEXTS, forms.SPOKEN, forms.REFUSES, forms.GOVERNS, forms.LATER)
    return not any(one.search(sentence) for one in against) and not forms.CONDITION.match(sentence)


def _ends(behind: str) -> bool:
    """Whether what stands behind a move leaves it as it is: nothing does, or sentences that say
    what it is good for, or what is done with its outcome. A sentence that the move stands in the
    middle of does not."""
    closed = _CLOSES.match(behind)
    at = 0 if closed is None else closed.end()
    rest = behind[at:]
    if not rest.strip():
        return True
    if not set(behind[:at]) & set("\n.;!"):
        return False
    return all(_leaves(one) for one in _sentences(_RULE.sub("\n", rest)))


def _leaves(sentence: str) -> bool:
    if forms.POLITE.fullmatch(sentence) or is_courtesy(sentence) or shows(sentence):
        return True
    sentence = forms.HARMLESS.sub("harmless", forms.REASON.sub("", sentence)).strip()
    if (
        forms.NEXT.fullmatch(sentence)
        and not forms.DENIES.search(sentence)
        and not forms.AGAINST.search(sentence)
    ):
        return True
    if forms.AGAINST.search(sentence) or forms.GOVERNS.search(sentence):
        return False
    if forms.AFTERWARDS.fullmatch(sentence) and forms.OUTCOME.search(sentence):
        return True
    good = forms.GOOD.match(sentence) or forms.ASIDE.fullmatch(sentence)
    return bool(good) and not forms.DENIES.search(
        forms.PURPOSE.sub("", forms.CLAUSE.sub("", sentence))
    )


def _sentences(text: str) -> list[str]:
    """The sentences of a text, in which names of files are no words; a line by which somebody
    speaks to themselves is one."""
    found: list[str] = []
    for line in text.split("\n"):
        bare = _OPENING.sub("", _NAME.sub("x", _HEADING.sub("", _SYMBOL.sub("", line)))).strip(
            _DRESS
        )
        aside = forms.ASIDE.fullmatch(bare)
        found += (
            [bare] if aside else [one.group().strip(_DRESS) for one in _SENTENCE.finditer(bare)]
        )
    return [one for one in found if one]
