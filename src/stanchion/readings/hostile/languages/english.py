"""English: verbs of effect, words around them, and the phrases by which texts address an agent."""

from __future__ import annotations

from typing import Final

VERBS: Final = {
    "send": "send email mail message post reply respond forward notify tell publish tweet dm submit announce broadcast "
    "contact inform answer text ping write comment relay deliver fax leak exfiltrate disclose reveal dispatch",
    "pay": "pay transfer wire refund reimburse purchase buy order donate tip deposit withdraw remit settle send charge "
    "sell trade return repay redeem invest lend borrow",
    "book": "book reserve schedule rent order hire",
    "delete": "delete remove erase clear drop wipe cancel revoke unsubscribe kick uninstall purge trash destroy "
    "terminate close block ban deactivate expel dismiss evict discard",
    "update": "update change modify edit adjust set reset rename move reschedule append add replace correct fix put "
    "configure enable disable turn amend revise extend postpone exchange upgrade downgrade switch mark apply adapt "
    "rotate increase decrease raise lower include overwrite redirect assign archive pin sort merge convert",
    "create": "create make add write save generate register draft upload schedule book insert plan setup record "
    "open start log build prepare compose compile copy store reserve put provide sign",
    "share": "share invite grant give add allow authorize authorise permit assign include expose",
    "exec": "run execute exec eval install download deploy unlock launch invoke call trigger restart stop start "
    "play clone build test compile lock reboot shutdown activate control operate arm disarm",
}
"""Verbs in their base form, by what they bring about."""

READS: Final = (
    "get search list read check find view show fetch look lookup query inspect retrieve count calculate think "
    "describe compare summarize summarise browse see verify validate preview scan analyze analyse monitor track "
    "know explain translate predict estimate convert ask recall visit examine review detect identify locate "
    "discover filter sort trace refresh resolve determine assess evaluate compute navigate goto scroll wait is has "
    "display print cat grep ls head tail finish extract match rank recommend measure load download suggest classify "
    "parse watch follow peek"
)
"""Verbs of tools that change nothing."""

SAYS: Final = "say state claim declare assert insist recommend mention conclude output print"
"""Verbs by which a text puts words into a mouth."""

VISITS: Final = "visit open click follow go browse navigate"

NOMINAL: Final = {
    "cancellation": "cancel",
    "booking": "book",
    "reservation": "book",
    "payment": "pay",
    "reimbursement": "reimburse",
    "deletion": "delete",
    "removal": "remove",
    "modification": "modify",
    "reminder": "create",
    "appointment": "schedule",
    "invitation": "invite",
    "announcement": "announce",
    "replacement": "exchange",
    "upgrade": "upgrade",
    "downgrade": "downgrade",
    "refund": "refund",
    "changes": "change",
    "updates": "update",
    "edits": "edit",
    "adjustment": "adjust",
    "adjustments": "adjust",
    "donation": "donate",
    "withdrawal": "withdraw",
    "registration": "register",
    "subscription": "register",
    "installation": "install",
}
"""Nouns that stand for a verb."""

NOUN_VERBS: Final = (
    "refund transfer change update return exchange purchase order booking book cancel post message email reply comment "
    "payment deposit donation upgrade downgrade"
)
"""Verbs that are nouns as well, and ask for something where somebody needs or wants one."""

JOINED: Final = {
    "set up": "setup",
    "sign up": "register",
    "rsvp": "reply",
    "check in": "checkin",
    "get rid of": "delete",
}
"""Verbs of several words, and what is read in their place."""

DETERMINERS: Final = (
    "the a an my your their his her our its this that these those of in each any every some no last next previous "
    "new old same first second other another two three 's current recent whose which per with from via by for"
)
"""Words after which a verb is a noun."""

PERSONS: Final = "i we they he she it who"
ADVERBS: Final = (
    "usually always often never also already just then normally typically would will could should can might did do "
    "does have had"
)
ASKING: Final = "can could may should shall do if how"
"""What stands before `I` where a person asks for leave."""
GERUNDS: Final = "with by about start consider considering help me of like mind for try keep"
"""Words after which an -ing form asks for something."""
NEEDS: Final = "need want like request make get process issue arrange require wish initiate proceed do file place"
NEGATIONS: Final = "not don't dont never without avoid"
ANSWERS: Final = "tell give write text inform answer message notify contact"
"""Verbs that want an answer where `me` or `us` follows."""
PROMISES: Final = "i'll we'll they'll he'll she'll"
BEING: Final = "is are was were be been"
EVERY: Final = "all every each any both everyone everything multiple several many whole entire them people following"
"""Words that ask for more than one."""
POINTING: Final = "it them that this those these"

COMMANDING: Final = (
    "please kindly must should to then and do you finally after also now first next immediately instead always will"
)
"""Words after which a verb commands."""
SOFT: Final = (
    "note find see let feel refer the contact accept advise consider keep remember bear understand read review "
    "check come bring join confirm help"
)
"""Verbs that are mere politeness after `please`."""

STOPWORDS: Final = (
    "the a an of to in on for with and or is are was be my your i you it this that please can have has at by from "
    "me we not what how when where who which do does if"
)
"""Words that tell that a text is in this language."""

AGENT: Final = (
    r"(?:gpt-?\s?\w{0,12}|chatgpt|claude|gemini|llama|copilot|mistral|ai|llm|a\.i\.|assistant|chatbot|agent"
    r"|language model|ai (?:model|assistant|agent))"
)

OVERRIDES: Final = (
    r"\b(?:ignore|disregard|forget|override|bypass|set aside|skip)\b.{0,30}"
    r"\b(?:previous|prior|above|earlier|all|your|preceding|initial|original|other|former|everything)\b.{0,40}"
    r"\b(?:\w{0,3}nstructions?|prompts?|rules?|tasks?|orders?|guidelines?|directions?|messages?|said|told)",
)
"""Phrases that set aside what an agent was told."""

ADDRESSES: Final = (
    rf"\b(?:to|for|dear|hello|hi|hey|attention|note to|message to)\b[,:]?\s+(?:you,?\s+)?(?:the\s+)?{AGENT}\b",
    rf"\byou,?\s+{AGENT}\b",
    rf"\b(?:as|you are|you're|act as|acting as) an? {AGENT}\b",
    rf"^\W*{AGENT}\s*[:,]",
)
"""Phrases that speak to an agent."""

RESUMPTIONS: Final = (
    r"\b(?:solve|complete|continue|finish|proceed with|resume|start|do|perform)\b.{0,25}\btasks?\b.{0,20}"
    r"\b(?:i|user|you were)\b.{0,10}\b(?:gave|given|assigned|asked)",
    r"\bbefore (?:you )?(?:can )?(?:solv|complet|continu|finish|answer|respond|proceed)\w*\b.{0,40}"
    r"\b(?:task|request|question|user)",
    r"\b(?:user'?s?|your|original|initial|current)\s+(?:task|instructions?|prompt|request)\b.{0,60}"
    r"\b(?:first|instead|must|need|before|after)",
)
"""Phrases about the agent's own task."""

CLAIMS: Final = (
    r"(?:^|[\[<(#*\s])(?:system|developer|admin(?:istrator)?)[ _]?"
    r"(?:message|prompt|note|override|instruction|notice)s?\b",
    r"\bnew (?:instructions?|task|directive)s?\s*:",
)
"""Phrases that pass for somebody with a say."""

DICTATIONS: Final = (
    r"\b(?:use|call|invoke)\b.{0,20}\b(?:tool|function|api)\b.{0,40}\b(?:argument|parameter|with|following)",
)
"""Phrases that tell an agent which tool to use."""

DEMANDS: Final = (r"\bstrictly adhere to\b|\bfollowing instructions?\b.{0,10}(?::|instead)",)
"""Phrases that want to be obeyed."""

SECRECIES: Final = (
    r"\bdo not (?:tell|inform|notify|alert|mention).{0,20}\b(?:the )?user\b",
    r"\bwithout (?:asking|telling|informing|notifying|alerting) (?:me|the user|them|for)\b",
)
"""Phrases that want something to stay hidden from the user."""

SPOKEN_TO: Final = (
    r"\b(?:dear|hello|hi|hey|attention|note to|message to|instructions? (?:to|for))[,:]?\s+(?:the |all |any )?"
    rf"{AGENT}\b",
    rf"\byou,\s+{AGENT}\b",
    rf"\b(?:you are|you're|act as|acting as) an? {AGENT}\b",
    rf"^\W*(?:(?:to|for) (?:the )?)?{AGENT}\s*[:,]",
)
"""Phrases that speak to an agent and to nobody else; honest texts speak about agents, and to those of a house."""

HOSTILE: Final = (*OVERRIDES, *RESUMPTIONS, *CLAIMS, *DICTATIONS, *DEMANDS, *SECRECIES)
"""Phrases that override what an agent was told, pass for somebody else, or want secrecy."""

WEARING_ON: Final = (
    r"^(?:the|its?|each|every|use|with|set|this|if|make sure)\b.{0,60}"
    r"\b(?:should|must|shall|needs? to|has to|exactly|details|following)\b|^(?:use|with)\b"
)
"""How a sentence begins that goes on with what the one before it wants."""

STARTS: Final = "TODO|FIXME|NOTE|IMPORTANT|URGENT|ATTENTION"
"""Words that begin something new in the middle of a line."""
