"""Phrases by which people want something of whoever reads, in the languages that are known, as
data."""

from __future__ import annotations

from typing import Final

COMMANDS: Final = (
    r"\b(?:please|kindly|pls)\b",
    r"\b(?:can|could|would|will) (?:you|someone|somebody|anyone)\b",
    r"\byou(?:'ll)? (?:must|should|need|have to|are required|ought|are to|might want)\b",
    r"\b(?:must|needs? to|ha(?:s|ve) to|should|shall|ought)\b",
    r"\b(?:is|are) (?:to|required|expected|supposed|requested|asked)\b",
    r"\b(?:make|be) sure\b|\bensure\b|\bdon'?t forget\b|\bgo ahead and\b",
    r"\b(?:wants?|needs?|asks?|asked|asking|required|necessary|instructed|told|requested|requests|"
    r"expects|expected|urged"
    r"|wishes)\b[^.!?\n]*\b(?:you|to|that|for)\b",
    r"\b(?:instructions?|task|to-?dos?|action items?|next steps?)\b\s*:",
    r"(?:^|[(\[,;:>-]\s*|\b(?:file|record|entry|item|one)\s)to be [a-z]+(?:ed|en|id|pt|ut)\b",
    r"\b(?:is|are|will be|gets?) (?:now |always |also |to be )?(?:[a-z]+ "
    r")?(?:copied|forwarded|sent|shared|paid"
    r"|redirected|transferred|addressed|delivered) (?:[a-z]+ )?(?:to|by)\b|\bgoes? to\b",
)
"""English: by these a sentence wants something to be done."""

ASKS: Final = (
    r"\byou(?:'ll)? (?:can|may|will|have)\b",
    (
        r"\b(?:want|need|like|love|appreciate|appreciated)\b[^.!?\n]*\b(?:you|if)\b|\b(?:great|"
        r"nice|"
        r"helpful|good) if\b"
    ),
    r"\bremember to\b",
    r"\blet me know\b|\b(?:i|we)(?:'d| would) (?:like|love)\b",
    r"\binstead\b|\bin copy\b|\bin the loop\b|\bcc\b",
)
"""English: by these it may want something, or only say that something is there."""

ASKS_ELSEWHERE: Final = (
    (
        r"\bbitte\b|\b(?:muss|müssen|soll|sollen|sollte) "
        r"[^.!?\n]*(?:werden|senden|schicken|überweisen|löschen)"
    ),
    r"(?:\bsenden|\bschicken|überweisen|\blöschen) sie\b",
    (
        r"s'il (?:vous|te) pla[iî]t|\bveuillez\b|\bmerci de\b|\b(?:doit|doivent|devez|devra) "
        r"(?:être "
        r")?|\bil faut\b"
    ),
    (
        r"\bpor favor\b|\b(?:debe|deben|debes|hay que|tiene que|tienes "
        r"que)\b|\b(?:envíe|envía|transfiera|elimine|borre)\b"
    ),
    r"\bper favore\b|\b(?:deve|devono|devi|bisogna)\b|\b(?:inviare|invia|trasferire|eliminare)\b",
    r"\bfaça\b|\b(?:deve|devem|precisa)\b|é preciso\b|\b(?:envie|transfira|exclua|apague)\b",
    r"\balstublieft\b|\bgelieve\b|\b(?:moet|moeten|dient)\b",
    r"\bprosz(?:ę|e\b)|\b(?:należy|trzeba|musisz)\b",
    r"пожалуйста|нужно|необходимо|следует|должн|отправь|переведи|удали(?:те)?\s",
    r"lütfen|\w+(?:malısın|melisin|malısınız|melisiniz|ması gerek|mesi gerek)",
    r"请|請|务必|必须|需要你|麻烦|应当|把.+(?:发送|转|删除)",
    r"ください|お願い|して下さい|すること|しなければ",
    r"주세요|하십시오|해야 합니다|부탁",
    r"من فضلك|يرجى|يجب",
)
"""German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian, Turkish, Chinese, Japanese,
Korean, Arabic.

A word has no edge at a letter beyond ASCII: phrases are looked for in bytes.
"""

CHANGES: Final = (
    r"\b(?:new|changed|updated|corrected|revised|henceforth|now|no longer|instead)\b|\bfrom now "
    r"on\b|\bas of\b"
    r"|\bgoing forward\b|\beffective\b|\bfrom "
    r"(?:january|february|march|april|may|june|july|august|september|october"
    r"|november|december)\b",
    r"\bneue?[rsnm]?\b|\bab sofort\b|ge(?:ä|ae)ndert|\bnouve(?:au|l|lle|aux)\b|d(?:é|e)sormais|"
    r"\bnuev[oa]s?\b"
    r"|a partir de|\bnuov[oai]\b|d'ora in poi|\bnov[oa]s?\b|\bnieuwe?\b|\bvoortaan\b|\bnow[aye]\b|"
    r"\bod teraz\b"
    r"|нов(?:ый|ая|ое|ые|ого)|\byeni\b|\bartık\b|变更|變更|新的|改为|新しい|変更|새로운|변경|الجديد",
)
"""By these a sentence announces that something is otherwise from now on: whoever keeps it is to
change it."""

CHANGED_BY: Final = frozenset({"updat", "chang", "set", "edit", "modify"})
"""The stems of verbs by which it is changed."""

LEADS: Final = (
    r"[\W\d_]+|\w{1,30}_(?=[A-Za-z][a-z]+\s)|(?:also|then|and|now|first|firstly|second|secondly|"
    r"next|finally|lastly|instead|afterwards?|so|but|just|todo|note"
    r"|important|urgent|immediately|quickly|always|never|do not|don't|to go "
    r"on|additionally|moreover|step \d+|or"
    r"|(?:if|when|once|after|before|until|while|to|in order to|for|as|because|since) "
    r"[^,]{1,80},|[a-z]+,)\s+"
)
"""What may stand before the verb of a command."""

HANDED: Final = (
    r"\b(?:follow|do|run|complete|carry out|execute|handle|achieve|fulfil+|act on|take care "
    r"of|deal with|perform|finish"
    r"|respond to|process|implement|address|work through|go through|satisfy|meet|accomplish|comply "
    r"with|help \w+ with"
    r"|assist"
    r"|realize|pay|settle|sort out|resolve|action)\b"
    r"[^.?!]{0,60}\b(?:instructions?|tasks?|requests?|to-?dos?|steps|asks?|asked|asking|actions?"
    r"|action items|says|wants?"
    r"|needs?|described|mentioned|requested|requirements?|demands?|suggest\w*|orders|owes?|owed"
    r"|things|items|points|parts|lines|rows|entries|cards|ones|jobs|checklist|list|procedure|"
    r"handover|everything)\b",
    r"\bas (?:described|requested|instructed|asked|specified|told)\b",
    (
        r"\bwhat(?:ever)? (?:it|he|she|they|we|i|the \w+|\w+) "
        r"(?:says?|asks?|wants?|needs?|owes?|requests?|requires?)\b"
    ),
)
"""How a user hands work to what somebody else wrote."""
QUESTIONS: Final = r"^\s*(?:\d+\.\s*)?(?:what|who|when|where|which|how|why)\b|\bfollowing\b"
