"""Demands: sentences and arguments that want files, secrets, the environment or the conversation as
a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.definitions.texts import (
    STRONG,
    DefinitionText,
    is_negated,
    says_what_it_does,
    takes,
)
from stanchion.readings.word_lists import listed

Protects = Callable[[str], bool]
"""Whether a path is that of a key, of a credential, or of settings."""

PATH: Final = regex(
    r"(?:[~.%$]|[A-Za-z]:)?[\w~.%${}-]{0,80}(?:[/\\][\w.~%${}*-]+)+|(?<![\w.])\.[a-z][\w.-]+|"
    r"\bid_(?:rsa|dsa|ecdsa"
    r"|ed25519)\b"
)
LOCATED: Final = regex(r"\b(?:paths?|location|name|filename) (?:of|to)\b")
"""What makes a path one that only says where something is."""
CONTENT: Final = regex(r"\b(?:contents?|text|value|output|body|copy|lines?) (?:of|from|in)\b")
SECRET: Final = (
    r"(?:passwords?|passphrases?|passcodes?|pins?\b(?: codes?)?|api[ "
    r"_-]?keys?|(?:access|secret|private|ssh"
    r"|encryption) keys?"
    r"|credentials?|(?:access|auth\w*|bearer|session|api|github|login) tokens?|secrets?|(?:credit "
    r")?card numbers?|cvv"
    r"|seed phrases?|recovery codes?|cookies|[a-z0-9]+(?:_[a-z0-9]+)*_(?:token|secret|key|password|"
    r"pwd|credentials?))"
)
HOLDERS: Final = listed(
    "password passwords pass passwd pwd passphrase key keys apikey token tokens secret "
    "secrets auth authorization credential credentials cred creds pin card cvv login cookie "
    "cookies bearer otp signature"
)
"""Words of arguments that are there for a secret of their own service."""
HEAD: Final = (
    r"^\W*(?:(?:the|your|an?|all|any|user'?s?|users'|current|value|contents?|of|put|pass|provide|"
    r"enter|include|paste"
    r"|add|copy"
    r"|set|full|raw|here|required|optional) ?[.:]? ?)*"
)
"""How a sentence begins that says what a value is."""
WHOLE: Final = (
    r"(?:full|entire|whole|complete|all|everything|verbatim|word for "
    r"word|exact|raw|unabridged|so far|up to now)"
)
TALK: Final = (
    r"(?:conversations?|chats?|dialogu?e?s?|discussions?|transcripts?|chat history|message history)"
)

TALKED: Final = regex(
    rf"\b{WHOLE}\b.{{0,40}}\b{TALK}\b|\b{TALK}\b(?: history| "
    rf"log)?.{{0,30}}\b{WHOLE}\b|\b(?:conversation|chat"
    rf"|dialogu?e?)"
    rf" (?:history|log|transcript)\b|\beverything (?:that )?(?:was|has been|you|we|the "
    rf"user)\b.{{0,20}}\b(?:said|told"
    rf"|written"
    r"|know|read|seen|typed|asked)\b|\b(?:previous|earlier|last|prior) (?:\w+ )?messages "
    r"(?:of|in|from) (?:this|the"
    r"|our)"
    r" (?:conversation|chat|session|user)\b"
)
PROMPT: Final = regex(
    r"\b(?:your|this|the) (?:own |full |entire |complete "
    r")?(?:system|initial|developer|hidden|original) (?:prompt"
    r"|message"
    r"|instructions?)\b(?! (?:for|of|to) )|\byour (?:own |full |current )?(?:instructions|system "
    r"prompt|prompt"
    r"|context window"
    r"|memory|guidelines|rules)\b(?! (?:to|for)\b)"
)
DONE: Final = regex(
    r"\b(?:you have|you've|you) (?:been (?:working|doing|asked|told)|(?:already "
    r")?(?:read|seen|done|opened|learned"
    r"|gathered))\b"
)
ALL_OF_IT: Final = regex(
    r"\b(?:paste|list|contents?|everything|all|details?|summary|full|verbatim|every)\b"
)
TOOLS: Final = regex(
    r"\b(?:all|every|list of|names? of|each)\b.{0,24}\btools? (?:that )?(?:you|available|at your)\b"
)
SURROUNDINGS: Final = regex(
    r"\b(?:all|every|full|entire|current|your|complete|dump of|contents? "
    r"of)\b.{0,24}\b(?:environment(?: variables)?"
    r"|env vars?)\b"
    r"|\b(?:output|result) of (?:`|')?(?:env|printenv)\b"
)
GATHERED: Final = regex(
    r"\b(?:collect|gather|dump|read|print|include|send|export|pass|attach|append)\b.{0,24}"
    r"\b(?:environment variables?|env vars?)\b"
)
HANDED_ON: Final = regex(
    r"\b(?:read|open|load|cat|fetch|get|look "
    r"up)\b.{0,30}\b(?:config\w*|settings|credentials?|keys?|secrets?|ssh|env"
    r"|wallet|history|mcp\S*|cookies|tokens?)\b.{0,20}\band\b.{0,12}\b(?:pass|provide|include|put|"
    r"send|give|paste"
    r"|supply"
    r"|attach)\b"
)
"""An order to fetch settings or secrets and to hand them on."""
MESSAGES: Final = regex(
    r"\b(?:previous|earlier|prior|preceding|past|all) (?:\w+ )?(?:messages|turns|prompts|replies)\b"
)
TO_SET: Final = regex(
    r"\b(?:to (?:set|pass|use|give)|set for|passed to|for the (?:command|process))\b"
)
SECRET_IN: Final = regex(rf"\b{SECRET}\b")
SECRET_HEAD: Final = regex(
    rf"{HEAD}\b{SECRET}\b(?! (?:names?|ids?|types?|polic|length|hash|manager|store|strength|field))"
)
NEEDS: Final = regex(
    r"\b(?:requires?|needs?|expects?|wants?)\b.{0,12}\b(?:the |your )?(?:value|contents?|text)\b"
)
SINK: Final = regex(
    r"\b(?:in|as|into|to|with|through|via|for)(?: the)?(?: (?:parameter|argument|field"
    r"|property))? [`'\"]([\w.-]+)[`'\"]"
)
HANDED_OVER: Final = regex(
    r"\b(?:hand|pass|give|send|submit|supply|provide)\b(?: "
    r"over)?.{0,10}\b(?:them|it|these|that|here|to this)\b"
    r"|\b(?:field|parameter|argument|property) [`'\"]\w"
)
SECRET_FILE: Final = regex(
    r"\b(?:contents?|text|copy|listing) of\b.{0,30}\b(?:wallet|ssh|credentials?|passwords?|"
    r"secrets?|keychain|cookies?"
    r"|browser"
    r"|home (?:directory|folder)|private key)\b"
)
"""What a file of secrets holds, without its path."""
SINK_WORD: Final = regex(
    r"\b(?:in|as|into|to|with)(?: the| an?)?(?: [\w.-]{1,40})? "
    r"(?:parameters?|arguments?|quer(?:y|ies)|notes?|fields?)\b"
)
ELSEWHERE: Final = regex(
    r"\b(?:from|in|of|out of)(?: the| your| its)? "
    r"(?:environment|env|configuration|config|settings|other (?:servers?"
    r"|tools?)"
    r"|keychain|key ?ring|vault|browser|clipboard|users?|user's|home)\b|\byou "
    r"(?:find|know|have|can find|see|hold)\b"
    r"|\buser (?:typed|entered|wrote|said|mention\w*|gave|used)\b"
)
ACCOUNTS: Final = listed("/etc/passwd /etc/group /etc/hosts")
"""Files that everybody may read, and that tell who and what is on a system."""
FLAG: Final = regex(
    r"^\W*(?:whether|if (?:true|false|set)|(?:maximum |minimum |total )?number of|how many|true "
    r"if)\b"
)
"""How a description begins of a value that holds no text."""
SUMMED: Final = regex(r"\b(?:summary|summari[sz]ed?|relevant|short|brief)\b")
TOLD: Final = regex(r"\W*(?:the |a |any )?(?:details?|description|everything|list|contents?)\b")
SIDE: Final = listed("sidenote side_note scratchpad hidden_context")
SPELT: Final = regex(
    r"(?:content|read|contents|reading|value|dump|text|file)\w*\b.*\b(?:ssh|rsa|env|passwd|"
    r"credentials|aws"
    r"|system prompt|conversation"
    r"|history|environment|password)\b"
)
"""A name of an argument that says where its value is to be taken from."""


def demand_in(
    words: str, sentence: str, text: DefinitionText, is_first: bool, tool: str, protects: Protects
) -> int:
    """How much a sentence, as it stands and in its normal form, demands; of an argument it says
    what its value is."""
    argument = text.argument if text.is_open and FLAG.search(sentence) is None else ""
    if text.argument and not argument:
        return 0
    ordered = takes(sentence) or NEEDS.search(sentence) is not None
    if is_first and not argument and says_what_it_does(sentence) and SINK.search(words) is None:
        ordered = False
    if _file(words, sentence, ordered, protects) or _secret(
        words, sentence, argument, ordered, holds_secrets(tool)
    ):
        return STRONG
    if _own(sentence, argument, ordered):
        return 1 if SUMMED.search(sentence) is not None else STRONG
    return 0


def demand_by_name(name: str, protects: Protects) -> int:
    """How much the name of an argument demands."""
    if name.casefold() in SIDE:
        return 1
    spelt = " ".join(words_of(name))
    return STRONG if SPELT.search(spelt) is not None or ("/" in name and protects(name)) else 0


def words_of(name: str) -> list[str]:
    """The words that a name is made of."""
    return [word.casefold() for word in _WORD.findall(name)]


_WORD: Final = regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


def _file(words: str, sentence: str, ordered: bool, protects: Protects) -> bool:
    """Whether it wants what is in a protected file, or in one that tells who uses the system."""
    if not ordered and CONTENT.search(sentence) is None:
        return False
    for found in PATH.finditer(words):
        path = found.group().rstrip(".,;:")
        before = sentence[: max(0, sentence.find(path.casefold()))]
        if (
            (path in ACCOUNTS or protects(path))
            and LOCATED.search(before) is None
            and not is_negated(before, len(before))
        ):
            return True
    return False


def _own(sentence: str, argument: str, ordered: bool) -> bool:
    """Whether it wants what the agent knows: the conversation, its instructions, its tools, its
    surroundings."""
    if not (ordered or argument):
        return False
    wanted = TALKED.search(sentence) or PROMPT.search(sentence) or TOOLS.search(sentence)
    if (
        wanted is None
        and ALL_OF_IT.search(sentence) is not None
        and (ordered or TOLD.match(sentence) is not None)
    ):
        wanted = DONE.search(sentence)
    if wanted is None and TO_SET.search(sentence) is None:
        wanted = SURROUNDINGS.search(sentence) or (GATHERED.search(sentence) if ordered else None)
    if wanted is None and ordered:
        sunk = SINK.search(sentence) or SINK_WORD.search(sentence)
        wanted = (
            HANDED_ON.search(sentence)
            or SECRET_FILE.search(sentence)
            or (MESSAGES.search(sentence) if sunk else None)
        )
    return wanted is not None and not is_negated(sentence, wanted.end())


def _secret(words: str, sentence: str, argument: str, ordered: bool, keeps: bool) -> bool:
    """Whether it wants a secret that is not the tool's own; a tool that `keeps` secrets has to be
    given them."""
    found = SECRET_IN.search(sentence)
    if found is None or is_negated(sentence, found.end()):
        return False
    if (
        argument
        and not keeps
        and not holds_secrets(argument)
        and SECRET_HEAD.search(sentence) is not None
    ):
        return True
    if not ordered:
        return False
    if _is_sunk(sentence, argument) and ELSEWHERE.search(sentence) is not None:
        return True
    sinks = SINK.findall(words)
    return bool(sinks) and not any(holds_secrets(sink) for sink in sinks)


def _is_sunk(sentence: str, argument: str) -> bool:
    """Whether a sentence says that something goes into a call of the tool."""
    return argument != "" or any(
        one.search(sentence) is not None for one in (SINK, SINK_WORD, HANDED_OVER)
    )


def holds_secrets(argument: str) -> bool:
    """Whether an argument is there for a secret of its own service."""
    return not HOLDERS.isdisjoint(words_of(argument))
