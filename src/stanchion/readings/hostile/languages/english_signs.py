"""English: what a text says that tries to command an agent, by kind, as data.

Every pattern is RE2 over a text in its normal form whose lines end with a carriage return. The
number is its weight: one is a hint that honest texts give as well, two is a finding by itself.
"""

from __future__ import annotations

from typing import Final

from stanchion.readings.hostile.languages.english import (
    ADDRESSES,
    AGENT,
    CLAIMS,
    DEMANDS,
    DICTATIONS,
    OVERRIDES,
    RESUMPTIONS,
    SECRECIES,
)

RULES: Final = (
    r"(?:i\w{0,2}n\w?st?r\w{0,2}c\w{0,2}t\w{1,5}|prompts?|rules?|guidelines?|guidance|directives?|"
    r"commands?|orders?|constraints?|policies"
    r"|programming|guardrails?|safeguards?)"
)
BEFORE: Final = r"(?:previous|prior|above|earlier|preceding|initial|original|former|existing)"
START: Final = (
    r"""(?:^|[.!?:;,)\]]['"]?\s|['"(\[>]|\r\s*"""
    r"""|\b(?:please|kindly|must|should|then|and|also|you|let's|finally|to|do) )"""
)
"""Where a verb commands."""
ON: Final = r"(?:[^.!?\n]|[.!?]\S)"
"""A character of the same sentence."""
SEND: Final = (
    r"(?:send|e-?mail|mail|forward|share|post|submit|upload|deliver|disclose|reveal|exfiltrate|"
    r"leak|relay|transmit|message"
    r"|dm|copy|invite|grant|give|add|write|report|publish)"
)
PAY: Final = (
    r"(?:transfer|pay|wire|deposit|send|remit|donate|withdraw|refund|buy|sell|purchase|"
    r"invest|move|order)"
)
SUM: Final = (
    r"(?:[$€£]\s?\d|\d[\d,.]{0,20}\s?(?:usd|eur|gbp|dollars?|euros?|bitcoins?|btc|eth|units)\b)"
)
DO: Final = (
    r"(?:send|e-?mail|forward|share|post|submit|upload|transfer|pay|wire|deposit|delete|remove|"
    r"erase|cancel|redirect|grant"
    r"|give|add|change|update|reset|disable|unlock|open|book|schedule|order|buy|sell|run|execute|"
    r"install|download|retrieve"
    r"|fetch|access|provide|create|register|move|modify|set|make|remind|control|turn)"
)
REPLY: Final = (
    r"(?:answers?|repl(?:y|ies)|responses?|output|elucidation|explanation|summary|"
    r"solution|implementation)"
)
CIPHER: Final = (
    r"(?:base64|emojis?|rot13|morse|ciphers?|hex(?:adecimal)?|binary|backwards?|revers\w{1,5}|"
    r"alphabet|encod\w{1,5}"
    r"|leetspeak|pig latin)"
)

Phrases = tuple[str, ...]

SIGNS: Final[dict[str, dict[int, Phrases]]] = {
    "override": {
        2: (
            *OVERRIDES,
            rf"\b(?:ignore|disregard|forget|override|bypass|discard|abandon|overlook|neglect|"
            rf"dismiss"
            rf"|pay no (?:attention|heed) to)\b.{{0,30}}\b(?:{BEFORE}|all|your|any|other|"
            rf"everything)\b.{{0,30}}"
            rf"\b{RULES}\b",
            r"\b(?:ignore|disregard|forget|pay no (?:attention|heed) to)\b.{0,20}"
            r"\b(?:what|everything|anything|all)\b.{0,20}\byou (?:were|have been|got|had "
            r"been)\b.{0,20}"
            r"\b(?:told|asked|instructed|given)\b",
            rf"(?:ignore|disregard|forget)(?:all|any|the|your|my|of)*{BEFORE}{RULES}",
            rf"\b(?:do not|don't|stop|cease) (?:follow|following|obey|obeying|listening "
            rf"to)\b.{{0,20}}"
            rf"\b(?:{BEFORE}|your|the user's?|system)\b.{{0,20}}\b(?:{RULES}|requests?)\b",
            r"\byour (?:new|real|actual|true|updated) "
            r"(?:instructions?|task|goal|objective|job|orders?|directives?)"
            r" (?:is|are)\b",
            (
                rf"\b{RULES}\b.{{0,10}}\byou (?:were|have been|got|had)\b.{{0,30}}\b(?:no "
                rf"longer|do "
                rf"not|don't) apply\b"
            ),
            r"\b(?:do anything now|developer mode (?:is )?(?:enabled|on|activated)|dan mode)\b",
        ),
        1: (
            rf"\b{BEFORE} {RULES}\b.{{0,30}}\b(?:no longer|not "
            rf"apply|void|cancell?ed|obsolete|superseded|replaced"
            r"|revoked)",
            r"\bfrom now on,? (?:you|act|respond|answer|reply|always)\b",
            r"\byou are now (?:an?|in|free|no longer|acting|the)\b",
            (
                r"\b(?:pretend|imagine|act as if) (?:that )?you (?:have|had|are|were) "
                r"(?:no|not|free|un\w{3,20})\b"
            ),
        ),
    },
    "demand": {
        1: (
            *DEMANDS,
            r"\byou (?:must|shall|are required to|have to|need to) (?:now |immediately |strictly "
            r"|first ){0,2}"
            r"(?:follow|obey|comply|execute|perform|carry out)\b",
            rf"\bfollow (?:these|this|my|the following|the below|all) (?:new )?{RULES} "
            rf"(?:exactly|instead|precisely"
            r"|without|immediately)\b",
        ),
    },
    "address": {
        1: (
            *[phrase.replace(r"\s+", " +") for phrase in ADDRESSES],
            rf"\bif you(?:'re| are) (?:an? |the )?(?:\w{{1,20}} )?{AGENT}\b",
            (
                rf"\b(?:instructions?|notice|note|message|warning) (?:for|to) (?:all |any |the "
                rf")?{AGENT}s?\b"
            ),
            (
                rf"\b{AGENT}s? (?:reading|processing|parsing|summari[sz]ing|visiting|that "
                rf"(?:read|process|see|visit)s?)\b"
            ),
        ),
    },
    "task": {1: RESUMPTIONS},
    "turn": {
        2: (
            r"<\|(?:im_start|start_header_id)\|>\s{0,3}(?:system|developer|assistant|user|tool)",
            r"\[inst\]",
            r"<<sys>>",
        ),
        1: (
            r"<\|(?:im_start|im_end|im_sep|system|user|assistant|tool|endoftext|endofprompt|eot_id|"
            r"start_header_id"
            r"|end_header_id|begin_of_text)\|>|<(?:start|end)_of_turn>",
            r"(?:^|\r)\s{0,8}#{1,4}\s{0,3}(?:(?:system|assistant|developer)(?: "
            r"(?:message|prompt|instructions?|note))?"
            r"|new instructions?)\s{0,2}[:\r]",
            r"</?(?:system|assistant|developer|instructions?|important|information|admin)"
            r"(?:[_-]?(?:prompt|message|instructions?|reminder|note))?>",
            (
                r"(?:^|\r)\s{0,8}(?:system|assistant|developer|ai)(?: message| prompt| "
                r"note)?\s{0,2}:\s"
            ),
            (
                r"</(?:tool|function)_?(?:result|response|output|call)s?>|</untrusted\w{0,20}>|</"
                r"user_?(?:data|input|query)>"
            ),
        ),
    },
    "claim": {
        1: (
            CLAIMS[1],
            r"(?:^|[\[<(#*\r]\s{0,2})(?:system|developer|admin(?:istrator)?|security|root|operator)"
            r"[ _]"
            r"(?:message|prompt|note|override|instruction|notice|alert|update|directive)s?\s{0,"
            r"2}[:\]>)*\r-]",
            r"\b(?:this|here) is (?:an? |the )?(?:\w{1,20} "
            r"){0,2}(?:message|notice|instruction|order|request|command"
            r"|directive) (?:directly )?from (?:me|us|your|the "
            r"(?:user|owner|developers?|admin\w{0,12}|system"
            r"|operator))\b",
            r"\b(?:i am|i'm|this is) (?:your|the) (?:\w{1,20} "
            r")?(?:developer|administrator|admin|creator|operator"
            r"|supervisor|owner|root user)\b",
            r"\b(?:on behalf of|authori[sz]ed by|approved by|by order of) (?:your|the) "
            r"(?:user|developer|administrator"
            r"|system|operator|security team|owner)\b",
            (
                r"\b(?:the|your) user (?:has )?(?:already )?(?:approved|authori[sz]ed|agreed "
                r"to|consented|confirmed)\b"
            ),
        ),
    },
    "secrecy": {
        1: (
            *SECRECIES,
            r"\b(?:do not|don't|never|must not|without) "
            r"(?:tell|inform|notify|alert|mention|reveal|disclos|show|warn"
            r"|ask)(?:e|ing)?\b.{0,20}\b(?:the user|users|anyone|anybody|this to|these "
            r"instructions|this instruction"
            r"|this message|for (?:confirmation|permission|approval))\b",
            (
                r"\bkeep (?:this|it|these) (?:\w{1,20} )?(?:secret|hidden|between us|quiet|from "
                r"the "
                r"user)\b"
            ),
            r"\bsilently (?:send|forward|run|execute|delete|copy|upload|transfer|call)\b",
            r"\bwithout (?:the user|anyone|them)(?:'s)? (?:knowing|noticing|knowledge|consent)\b",
        ),
    },
    "dictation": {
        1: (
            *DICTATIONS,
            r"\b(?:use|using|call|invoke|run|execute|via|through|trigger) (?:the |your "
            r")?['\"`]?[\w.:-]{2,60}['\"`]?"
            r" (?:tool|function|api|plugin)\b",
            r"['\"](?:name|tool|function|tool_name)['\"]\s{0,3}:\s{0,3}['\"][\w.-]{2,60}['\"]\s{0,"
            r"3},\s{0,3}"
            r"['\"](?:arguments|parameters|args|tool_input)['\"]",
        ),
    },
    "order": {
        2: (
            rf"{START}{SEND}\b{ON}{{0,160}}\b(?:to|at|with|address|via)\b{ON}{{0,40}}"
            r"(?:[\w.+-]{1,64}@[\w-]{1,64}\.\w|https?://\w)",
            rf"{START}{PAY}\b{ON}{{0,80}}{SUM}{ON}{{0,80}}\b(?:to|from|into|for|of)\b",
        ),
        1: (
            (
                rf"{START}{PAY}\b{ON}{{0,80}}\b(?:to|into)\b{ON}{{0,"
                rf"30}}\b[a-z]{{2}}\d{{2}}[a-z0-9]{{11,30}}\b"
            ),
            (
                rf"{START}(?:create|schedule|book)\b{ON}{{0,80}}\bwith\b{ON}{{0,40}}[\w.+-]{{1,"
                rf"64}}@[\w-]{{1,64}}\.\w"
            ),
        ),
    },
    "request": {
        1: (
            rf"\b(?:please|kindly|(?:can|could|would) you|i (?:need|want) you to|let's) "
            rf"{DO}\b{ON}{{0,120}}"
            r"\b(?:my|me|mine)\b",
            (
                rf"{START}(?:delete|erase|wipe|remove|disable) (?:all|every|everything|the "
                rf"entire|my)\b"
            ),
            (
                rf"{START}(?:change|reset|update|set) (?:the|my|his|her|their) (?:\w{{1,20}} "
                rf")?password\b"
            ),
        ),
    },
    "reply": {
        2: (
            rf"\b(?:your|each|the) {REPLY}\b.{{0,40}}\b{CIPHER}\b",
            rf"\b(?:reply|respond|answer) (?:only |using |in |with ){{1,2}}.{{0,20}}\b{CIPHER}\b",
            rf"\b(?:letters?|words?|vowels?|keywords?|characters?) (?:in|of) your {REPLY}\b",
        ),
        1: (
            rf"\b(?:modify|change|adjust|alter|add|include|insert|append|embed\w{{0,5}}|"
            rf"incorporat\w{{1,3}}|integrat\w{{1,3}}"
            rf"|end|begin|start|finish|conclude|rewrite|rephrase|replace|translate|encode|shift|"
            rf"format|develop)\b.{{0,80}}"
            rf"\byour (?:\w{{1,20}} )?{REPLY}\b",
        ),
    },
    "probe": {
        1: (
            r"\b(?:reveal|print|output|repeat|show|display|leak|tell me|give me|send|what "
            r"(?:is|are|was|were))\b.{0,30}"
            r"\b(?:your|the)\b.{0,20}\b(?:system prompt|initial prompt|hidden "
            r"instructions?|instructions above"
            r"|(?:initial|original) instructions?|developers? (?:told|said))",
        ),
    },
    "carrier": {
        2: (
            r"!\[.{0,100}\]\(\s{0,3}https?://[^\s)]{1,300}[?&/=](?:\{|%7b|<|\[|\$)",
            (
                r"<img\b[^>\n]{0,200}\bsrc\s?=\s?['\"]?https?://[^\s'\">]{1,300}[?&/=](?:\{|%7b|<|"
                r"\[|"
                r"\$)"
            ),
        ),
        1: (
            r"!\[.{0,100}\]\(\s{0,3}https?://[^\s)]{1,300}[?&][\w-]{1,40}=[\w%+/=-]{40}",
            r"!\[.{0,100}\]\(\s{0,3}https?://[^\s)]{1,300}[?&][\w-]{1,40}=(?:your|data|secrets?|"
            r"chat|conversation|history"
            r"|summary|insert|context|prompt)\b",
            r"\b(?:append|add|include|put|encode|insert)\b.{0,80}\b(?:to|in|into|as)\b.{0,20}"
            r"\b(?:url|link|query|image|domain)\b",
        ),
    },
}
"""What is said, by kind and weight."""
