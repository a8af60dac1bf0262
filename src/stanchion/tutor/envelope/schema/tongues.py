"""Intents in other languages than English: by small words, of which a language has few."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from stanchion.kernel.regex import regex


class Tongue(NamedTuple):
    """How a sentence of a language opens before it says something, how an own intent begins, and which words deny,
    contrast, suppose, or speak of texts and examples."""

    opens: str
    intends: str
    against: str


TONGUES: Final = {
    "French": Tongue(
        r"d'accord|bien sûr|ok|d'abord|ensuite|maintenant|alors|donc",
        r"je (?:vais|dois|propose|lance|cherche|vérifie|regarde|commence)|nous allons|il faut|commençons|voici (?:ma"
        r"|mon|la|le|l')",
        r"ne|n'\w+|pas|jamais|rien|sans|mais|si|exemple|refus\w*|erreur|interdit\w*|messages?|textes?|dit|expliqu\w*|danger\w*",
    ),
    "German": Tongue(
        r"gut|ok|okay|klar|zuerst|also|nun|jetzt|dann|gerne",
        r"ich (?:werde|muss|will|möchte|schlage|suche|prüfe|schaue|lese|zähle|führe|beginne)|wir (?:werden|müssen)"
        r"|(?:werde|muss|will|prüfe|suche|lese|zähle|schaue) ich|lass(?:en)? (?:mich|uns|sie uns)"
        r"|als nächstes|hier ist (?:mein|die|der|das)",
        r"nicht\w*|nie|niemals|kein\w*|ohne|aber|wenn|falls|beispiel\w*|nachricht\w*|verweiger\w*|verboten\w*|text\w*|zitier\w*|erklär\w*|gefähr\w*",
    ),
    "Spanish": Tongue(
        r"claro|vale|bien|primero|ahora|luego|por supuesto",
        r"voy a|vamos a|debo|tengo que|necesito|quiero|propongo|busco|déjame|aquí (?:está|tienes|va)|mi (?:siguiente"
        r"|próxim[ao])",
        r"no|nunca|jamás|sin|pero|si|ejemplo|mensajes?|textos?|dice|explic\w*|peligr\w*|rechaz\w*|prohibid\w*|evitar",
    ),
    "Portuguese": Tongue(
        r"claro|certo|ok|primeiro|agora|bem",
        r"vou|vamos|preciso|tenho que|quero|proponho|deixe-me|aqui (?:está|vai)|(?:a )?minha próxima",
        r"não|nunca|nada|sem|mas|se|exemplo|mensage\w+|textos?|diz|explic\w*|perig\w*|recus\w*|proibid\w*|evitar",
    ),
    "Italian": Tongue(
        r"certo|ok|bene|prima|ora|poi|allora",
        r"vado a|devo|voglio|sto per|propongo|cerco|controllo|verifico|ecco|fammi|lasciami|(?:la )?mia prossima"
        r"|dobbiamo|andiamo a",
        r"non|mai|niente|senza|ma|se|esempio|messaggi\w*|test[oi]|dice|spieg\w*|pericol\w*|rifiut\w*|vietat\w*|evitare",
    ),
    "Dutch": Tongue(
        r"goed|oké|ok|eerst|nu|dan",
        r"ik (?:ga|zal|moet|wil|stel|zoek|controleer)|laten we|laat me|hier is mijn",
        r"niet\w*|nooit|geen|zonder|maar|als|voorbeeld\w*|bericht\w*|tekst\w*|uitleg\w*|gevaar\w*|weiger\w*|verboden",
    ),
    "Russian": Tongue(
        r"хорошо|сначала|теперь|конечно|итак",
        r"я (?:сделаю|проверю|посмотрю|поищу|найду|буду|запущу|хочу|должен|выполню)|давайте|проверю|посмотрю"
        r"|(?:мне )?нужно|вот мой",
        r"не|никогда|нельзя|без|но|если|пример\w*|сообщен\w*|текст\w*|объясн\w*|опасн\w*|отказ\w*",
    ),
}
"""Languages that put spaces between words."""
EAST: Final = regex(
    r"(?:好的|当然|首先|现在|接下来)?[，,。!！、]?\s*(?:(?:让|由)?我(?:们)?(?:来|将|要|会|先|需要|去|查|看)|我的下一步).*"
    r"|.*(?:します|みます|べます|(?<!あ)ります|しよう)[。:：!！]?"
    r"|.*(?:겠습니다|할게요|겠어요)[.:：!]?",
    re.DOTALL,
)
EAST_AGAINST: Final = regex(
    r"[不别勿没未禁拒但若例?？]|如果|避免|消息|文本|解释|危险|説明|テキスト|ない|ません|が、|もし|です"
    r"|안 |지 않|말|만약|예시|텍스트"
)


def _intent(one: Tongue) -> str:
    return rf"(?:(?:{one.opens})[,.!]?\s+)*(?:{one.intends})\b.*"


_INTENT: Final = regex("|".join([_intent(one) for one in TONGUES.values()]), re.IGNORECASE | re.DOTALL)
_AGAINST: Final = regex(rf"\b(?:{'|'.join([one.against for one in TONGUES.values()])})\b|\?", re.IGNORECASE)


def intends(sentence: str) -> bool:
    """Whether a sentence that is not English says what its speaker does now, and nothing against it."""
    if _INTENT.fullmatch(sentence):
        return not _AGAINST.search(sentence)
    return bool(EAST.fullmatch(sentence)) and not EAST_AGAINST.search(sentence)
