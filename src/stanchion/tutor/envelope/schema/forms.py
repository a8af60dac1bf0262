"""The forms of sentences that can stand next to a move, as patterns; `meaning` says which may stand
where."""

from __future__ import annotations

import re
from typing import Final

from stanchion.kernel.regex import regex

SAYS: Final = (
    r"(?:sa(?:y|ys|id|ying)|t(?:ells?(?! us| me| whether| if)|old)|cop(?:y|ies|ied|ying)|quot\w+"
    r"|cit(?:e|es|ed|ing)|describ\w+|explain\w*|report(?:s|ed|ing)?|mention\w*"
    r"|warn\w*|flag\w*|point\w*|discuss\w*|th(?:ink|inks|ought|inking)|consider\w*|know|understand"
    r"|remember|recall|repeat\w*"
    r"|writes?|wrote|written|sen(?:ds|t)|answer(?:s|ed)|repli(?:es|ed)|ask(?:s|ed)|post(?:s|ed)|"
    r"past(?:es|ed)"
    r"|propos(?:es|ed)|suggest(?:s|ed)|recommend\w*|translat\w+|summari[sz]\w+|recap\w*|read "
    r"out|refus\w+"
    r"|reject\w*|avoid\w*"
    r"|stop\w*|prevent\w*|block\w*|skip\w*|ignor\w+|declin\w+|resist\w*|refrain\w*|forb\w+|"
    r"prohibit\w*|disallow\w*"
    r"|cancel\w*|wait\w*|withdr\w+|imagin\w+|pretend\w*|jok(?:e|es|ing)|kidding|according|regarding"
    r"|concerning|following"
    r"|show(?:s|ed)? (?:you|what|how|why))"
)
"""Verbs of saying, thinking and refusing: what is said, thought of or refused is not done."""
TELLS: Final = regex(rf"\b{SAYS}\b", re.IGNORECASE)
DOES: Final = (
    r"(?:do|run|try|make|send|use|propose|execute|play|choose|suggest|issue|submit|give"
    r"|(?:start|begin|go|continue|proceed)(?: with| by)?)(?:n?ing)?"
)
"""What can be done with a move."""
_THING: Final = (
    r"(?:json|code|moves?|action|command|answer|response|reply|proposal|choice|"
    r"decision|output|object|step|turn)"
)
LABEL: Final = regex(
    r"(?!is\b)(?=[^a-z]*[a-z])(?:(?:so|now|ok|okay|sure|well|certainly|understood|alright|great|"
    r"good|yes"
    r"|the|a|an|this"
    r"|my(?: (?!(?:previous|last|earlier|old|former|prior|rejected|bad|wrong|worst|illegal|failed|"
    r"blocked|only)\b)"
    r"[a-z]+(?= \w+\W*:))?|therefore|hence|thus|finally"
    rf"|here(?:'s)?(?: you)?|is|it|again|next|first|second|final|best|new|corrected|fixed|valid|"
    rf"proposed|chosen"
    rf"|single|one"
    r"|as requested|as follows|(?:what|how) (?:i|we)(?:'ll| will)(?: do| proceed| "
    r"propose)|analysis|step by step"
    rf"|{_THING}|right|go"
    r"|goes|run|assistant|then|arguments|parameters|print|var|let|const|call|(?:tool|action) input"
    r"|tool(?= call)|function|type|name|(?:runn|execut|propos)ing|\d{1,4})[\s,.!]*){1,7}"
    r"(?:(?<=\s)(?:you (?:asked for|requested|need|wanted)|as requested"
    r"|in (?:the )?(?:json|required|requested)(?: format)?|for (?:this|the) (?:turn|step|task)|for "
    r"you"
    rf"|(?:to|that|which) (?!be\b|is\b|was\b|breaks\b|violates\b|fails\b|{SAYS}\b)[^:.?!]{{3,60}}))"
    rf"?[:=]?",
    re.IGNORECASE,
)
"""Words of which a label is made, and nothing but these: `My next move:`, `Step 2:`, `move =`."""
ASIDE: Final = regex(
    r"(?:thoughts?|thinking|reasoning|analysis|plan|intent|goal|reason|rationale|explanation|"
    r"purpose|why"
    r"|action|move|task"
    r"|confidence|note|expected(?: output| result)?|next step|step|turn)(?: "
    r"\d{1,3})?\W{0,3}:\W*(?P<said>\w[^\n]*)",
    re.IGNORECASE,
)
"""A line by which somebody speaks to themselves."""
AGAINST: Final = regex(
    r"\b(?:not?|nor|none|never|nobody|nothing|cannot|without|unless|but|however|although|though|"
    r"except"
    r"|would|could|might"
    r"|may|against|instead of|rather)\b|n't\b|\?",
    re.IGNORECASE,
)
"""What denies, contrasts, supposes or asks."""
CLAUSE: Final = regex(
    r"\b(?:that|whether|since|because|as|why|what|how|where|who|which)\b.*",
    re.IGNORECASE | re.DOTALL,
)
"""The part of a sentence behind its main clause: what is denied there is a fact, not the move."""
ASKED: Final = regex(
    r"\b(check|see|verify|test|determine|confirm|find out|ensure|look|learn) (?:if|whether)\b(?! "
    r"you\b)",
    re.IGNORECASE,
)
"""An `if` that asks for something to be found out, and is no condition."""
CONDITION: Final = regex(
    r"(?:if|when|once|until|provided|assuming|suppos\w+|should|after|before) "
    r"|(?:.*\b)?(?:if|unless|suppos\w+)\b",
    re.IGNORECASE | re.DOTALL,
)
"""A condition: at the beginning of a sentence, or `if` anywhere."""
LATER: Final = regex(
    r"\b(?:tomorrow|later|some ?day|eventually|next "
    r"(?:time|week|month)|permission|approval|consent|with you|(?:once"
    r"|when|after|until|unless) you)\b",
    re.IGNORECASE,
)
"""What is not done now, or not before somebody has said yes."""
_FIRST: Final = (
    r"(?:(?:so|now|ok|okay|sure|well|good|great|right|first|next|then|finally|therefore|hence|thus|"
    r"instead|and|yes"
    r"|certainly|alright|understood|i think|for (?:this|that))[,.!]? |first of all,? "
    r"|(?:based on|given|looking at|considering|from) (?:(?!\b(?:not|never)\b)[^,.:]){3,80}, "
    r"|(?:in order )?to (?:(?!not\b)[^,.:]){3,80}, )*"
)
INTENT: Final = regex(
    rf"{_FIRST}(?:(?:i|we)(?: (?:will|shall|need to|have to|should|must|want to(?: know)?|am going "
    rf"to|are going to"
    rf"|would like to(?: know)?"
    rf"|can(?= {DOES} ))|(?= (?:now )?(?:run|execute|use|propose|choose|suggest|start|begin|go)\b)|"
    rf"'ll|'m going to"
    r"|'re going to|'d like to(?: know)?|'d(?= propose\b))(?: now| first| next| then| also| just| "
    r"simply| to)*|i'm"
    r"|i am|we are|we're|let me|let us"
    r"|let's|time (?:to|for)|(?:my|the|our)(?: best| next| first)* (?:step|move|thing|action"
    r"|plan)(?: now)? is(?: to)?)"
    r" (?!not\b|never\b)(?:(?:first|now|next|then|also|just|simply|quickly) )*"
    rf"(?P<act>(?:(?!\b(?:{SAYS})\b)[\w'-]+)\b.*)",
    re.IGNORECASE | re.DOTALL,
)
"""Somebody's own intent: who begins a sentence, or its last part, by saying what they do now."""
ORDER: Final = regex(
    r"(?:(?:ok|okay|sure|right|good)[,.!] )?(?:(?:now|next|first|then|finally),? |to |(?=\w{3,}ing "
    r"(?!that\b)))"
    r"(?!(?:the|a|an|they|he|she|it|you|i|we|my|your|some\w*|any\w*|nothing|not|never|no)\b)"
    rf"(?!\b(?:{SAYS})\b)(?P<act>\w+.*)",
    re.IGNORECASE | re.DOTALL,
)
"""The same without a subject: `Now count the lines:`, `To count the lines:`, `Looking at the
log.`"""
PARTS: Final = regex(
    r"[,;] (?:(?:so|and|then|therefore|hence|thus|but),? )?(?=(?:i|we|let)\b)| so "
    r"(?=(?:i|we|let)\b)",
    re.IGNORECASE,
)
"""Where a part of a sentence begins that can be an intent of its own."""
POINTS: Final = regex(r"\b(?:this|these|those|such|following|below)\b", re.IGNORECASE)
DONE: Final = regex(
    rf"(?:{DOES} |\b(?:with|by|using|through|via) (?:\w+ing )?)(?:this|these|the following|such)\b"
    rf"|\b{DOES}\b.*\bwith (?:this|the following)\b|^(?:the following|this)(?: \w+){{0,2}}:?$",
    re.IGNORECASE,
)
"""What is done with the move that a sentence points to."""
TEXTS: Final = regex(
    r"\b(?:you|your|users?|messages?|texts?|instructions?|quot\w+|examples?|instances?|requests?"
    r"|snippets?|payloads?|prompts?"
    r"|words?|attack\w*|intruder\w*|inject\w*|templates?|mistakes?|comments?|sentences?|"
    r"conversations?"
    r"|line|letters?|e?mails?"
    r"|pages?|paragraphs?|passages?|phrases?|posts?|chats?|tickets?|notes|suggestions?|drafts?|"
    r"templates?"
    r"|blocks?|manuals?|guides?)\b",
    re.IGNORECASE,
)
"""Texts, and who they are from or for: a sentence about them may be about the move."""
SPOKEN: Final = regex(
    r"\b(?:moves?|commands?|actions?|propos\w+|repl(?:y|ies)|json|formats?|answers?|below|above|"
    r"follows|here"
    rf"|maybe|perhaps|possibl[ey]|would|could|might|may|allowed|{SAYS})\b|\?"
    r"|^(?:this|that|these|those|such|what) "
    r"(?:is|are|was|were|has|had|comes?|came|will|would|should|\w+s|\w+ed)\b"
    r"|^it (?:was|came|comes|failed|did|has)\b",
    re.IGNORECASE,
)
"""What a sentence that only stands before a move does not speak of: moves, what was said, guesses,
this and that."""
REFUSES: Final = regex(
    r"(?:\bnot|n't|\bnever|\bno|\bnobody|\bnone|\btoo)\b.* to \w"
    r"|\b(?:can(?:not|'t)|may not|must(?: not|n't)|should(?: not|n't)"
    r"|shall not|will not|won't|would(?: not|n't)|need not)\b(?! be\b)"
    r"|\b(?:must|should|will|can|let's|let us) (?:not|never)\b"
    r"|\b(?:someone|somebody|others?|they|people|nobody|no one)(?: else)? "
    r"(?:should|must|can|may|has to|have to)\b"
    r"|\bnot (?:sure|convinced|certain|willing|ready)\b|\bagainst\b|\b(?:illegal|dangerous|unsafe|"
    r"wrong)\b",
    re.IGNORECASE,
)
"""That something is not to be done, or not by whoever speaks."""
GOVERNS: Final = regex(
    r"(?:^|[,;:] |\bplease )(?:do not|don't|never|avoid|ignore)\b"
    r"|\b(?:follow(?:s|ing)|below|next (?:thing (?!is\b|to\b)|line))\b"
    r"|\b(?:examples?|hypothetical\w*|quot\w+|attack\w*|inject\w*|mistakes?|refus\w+|forb[ia]d\w*|"
    r"prohibit\w*)\b"
    r"|\b(?:must|should|shall|will|would) (?:not|never)\b",
    re.IGNORECASE,
)
"""What reaches over the sentences behind it."""
FORBIDS: Final = regex(r"(?:please )?(?:do not|don't|never)\b", re.IGNORECASE)
"""An order to whoever reads."""
ENGLISH: Final = regex(
    r"\b(?:the|is|are|has|have|we|i|i'll|i've|let|to|of|it|thanks|sorry|yet|thank|done|noted)\b",
    re.IGNORECASE,
)
GOOD: Final = regex(
    r"\(?(?:note(?: that)?[,:]? )?(?:(?:this|it|the command|the move|which)(?: command| move| "
    r"action| way)?(?: x)?(?:"
    r" (?:(?:should|will|shall|can|lets?|we will|we can|i will|i can)(?: (?:then|now|only))? "
    r"(?!be\b)\w+"
    r"|helps (?:us|me) (?!not\b)\w+|(?:is|are) (?:completely |perfectly |totally "
    r")?(?:safe|harmless|read-only"
    r"|non-destructive|enough|sufficient|fine)\b"
    r"|(?:does|will)$"
    r"|(?!(?:is|was|has|does|needs|requires|breaks|violates|fails|comes|depends|assumes|goes|"
    r"belongs"
    r"|looks|stays|remains|gets|seems|sounds|means|keeps)\b)\w+s\b"
    r"|is (?:meant |used |here )?to (?!be\b)\w+"
    r"|is an? [\w-]+ (?:move|command|action|step|check|operation|query|call)\b"
    r"|is (?:a |an |the )?(?:good|best|right|correct|next|first|safe|simplest|quickest)"
    r" (?:move|step|command|choice|way to go)\b))"
    r"|that (?:should|will|lets) (?!be\b)\w+|with (?:this|that),? (?:i|we) (?:can|will)\b|(?:no "
    r"changes|harmless)\b"
    r"|the reason is\b|the (?:output|result) (?:will|should|tells|shows|says)\b|(?:the )?expected "
    r"(?:output"
    r"|result) is\b|(?:- )?x\W* (?:\w+s\b|is (?:for|to)\b)"
    r"|i (?:chose|picked|use) (?:this|it)\b|i hope (?:this|it)\b"
    r"|i(?:'m| am) sure\b|i (?:propose|suggest|choose|run) (?:it|this)\b|\(?(?:in order )?to \w+)",
    re.IGNORECASE,
)
"""How sentences begin that say what a move is good for."""
PURPOSE: Final = regex(r" to \w.*", re.IGNORECASE | re.DOTALL)
DENIES: Final = regex(
    r"\b(?:was|were|had|been|failed|wrong|only|you|your|approval|permission"
    rf"|drafts?|(?!writes|sends|shows){SAYS})\b",
    re.IGNORECASE,
)
"""What takes a move back, or leaves it to somebody else, in words behind it."""
AFTERWARDS: Final = regex(
    r"(?:waiting\b|i expect\b|(?:(?:once|then|after|next|afterwards|with)\b.*)?\b(?:i|we)(?:'ll| "
    r"will| can| shall)\b)"
    r"(?:(?!\byour?\b).)*|(?:once|when|after) (?:i|we) (?:have|see|know|get)\b.*",
    re.IGNORECASE,
)
CORRECTS: Final = regex(
    r"\W*(?:(?:oops|sorry|wait|no|hm+|ah|actually|typo|correction|my "
    r"(?:bad|mistake)|apologies|wrong \w+"
    r"|i made an? (?:typo|mistake|error)[^.!?:]{0,60}|(?:that|this|it|the \w+(?: \w+)?) (?:is"
    r"|was) (?:wrong|a typo|incorrect|a mistake)"
    r"|(?:please )?(?:ignore|scratch|forget|disregard) (?:that|this|it|the (?:first|last|previous) "
    r"(?:one"
    r"|call|move)))"
    r"[\s,.!:;\u2026-]+)*(?:(?:i meant|i mean|(?:it |that |this )?should (?:be|read|have been)"
    r"|correct(?:ed|ion)?(?: \w+)?"
    r"|(?:here is|here's|this is) the (?:correct|corrected|fixed|right) \w+|let me (?:fix|correct) "
    r"(?:that|this|it)"
    r"|fixed(?: \w+)?)\s*[:.]?)\W*(?:json\W*)?",
    re.IGNORECASE,
)
"""Words between two moves by which the second takes the place of the first."""
TAKES_BACK: Final = regex(
    r"(?=.*\b(?:oops|sorry|ignore|disregard|wrong|typo|mistake|correction|wait)\b)[^{}]{0,"
    r"240}[.!\n]\s*"
    r"(?:(?:here is |here's |this is )?the (?:correct|corrected|right|fixed) (?:call|move|one"
    r"|version|command|json)(?: is)?"
    r"|(?:i meant|it should (?:be|have been))):\W*(?:json\W*)?",
    re.IGNORECASE | re.DOTALL,
)
"""The same where somebody says at length what was wrong, and then calls the second the right
one."""
NEXT: Final = regex(
    r"(?:after (?:that|this)|then|next|afterwards),? (?:i|we)(?:'ll| will| can) "
    r"(?:(?!\byour?\b).)*",
    re.IGNORECASE,
)
OUTCOME: Final = regex(r"\b(?:results?|outputs?|outcome)\b", re.IGNORECASE)
"""What is done afterwards with the outcome of a move: whoever speaks of it means the move."""
POLITE: Final = regex(
    r"(?:please )?let me know if you (?:need|want|have|would like)\b[^.!?]*[.!]?|(?:is there "
    r")?anything else\??"
    r"|(?:please )?(?:let me know|tell me|show me|share|send me|give me) (?:what "
    r"(?:it|this|that|you) (?:print|say"
    r"|show|see|get|return|find)s?"
    r"|the (?:result|output|outcome)s?)\b[^.!?]*[.!]?"
    r"|(?:please )?(?:run|execute|perform) (?:it|(?:this|the)(?: (?:command|move|call))?)(?: "
    r"(?:now|for me))?"
    r"(?: and (?:let me know|tell me|show me|share|send me|give me|return|report) the "
    r"(?:result|output"
    r"|outcome)s?)?[.!]?"
    r"|(?:then )?i(?:'ll| will) (?:let you know|tell you|report back|get back to you)\b[^.!?]*[.!]?"
    r"|(?:(?:one|just a|give me a) (?:moment|second|sec|minute)|hang on|hold on|stand by|please "
    r"(?:wait|stand by"
    r"|hold on))"
    r"(?:,? please)?(?: while (?:i|we) [^.!?]*)?[.!]*"
    r"|(?:many )?thanks?(?: you)?(?: (?:so|very) much)?(?: in advance)?[.!]*|cheers[.!]*|assistant"
    r"|(?:i )?hope (?:this|that|it) helps[.!]*|(?:all )?done[.!]*|(?:the )?end(?: of (?:the "
    r")?(?:move|reply|response"
    r"|turn|message))?[.!]*"
    r"|(?:that is|that's|this is) (?:all|it|my (?:move|answer|reply))(?: for (?:now|this "
    r"turn))?[.!]*"
    r"|waiting(?: for (?!you|approv|permi|confirm|consent)[^.!?]*)?[.!]*",
    re.IGNORECASE,
)
HARMLESS: Final = regex(
    r"\b(?:(?:and )?(?:it )?(?:does|do|did|will|would|should|can) "
    r"?(?:not|n't)|won't|doesn't|don't|can't|without|not"
    r"|never)"
    r" (?:\w+ly )?(?:modif|chang|alter|delet|remov|writ|affect|touch|harm|damag|creat|execut)\w*"
    r"(?: (?:anything|any \w+|the \w+|files?|data|your \w+|or \w+(?: anything)?))*"
    r"|\bno (?:files?|data|changes?|side.effects?)\b(?: (?:is|are|will be|get) (?:being "
    r")?(?:modified|changed|made"
    r"|deleted|written|affected|touched))?"
    r"|\bonly (?:reads?|lists?|shows?|prints?|counts?|looks?|checks?)\b|\bread-only\b",
    re.IGNORECASE,
)
"""That a move does no harm, which is the only thing that is denied."""
REASON: Final = regex(r"\b(?:because|since)\b.*", re.IGNORECASE | re.DOTALL)
"""Why: what is denied there is a fact, not the move."""
