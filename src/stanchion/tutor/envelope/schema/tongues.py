"""Intents in other languages than English: by small words, of which a language has few."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from stanchion.kernel.regex import regex


class Tongue(NamedTuple):
    """How a sentence of a language opens before it says something, how an own intent begins, how
    one that says what something is good for, and which words deny, contrast, suppose, or speak of
    texts and examples."""

    opens: str
    intends: str
    shows: str
    against: str


TONGUES: Final = {
    "French": Tongue(
        r"d'accord|bien sûr|ok|d'abord|ensuite|maintenant|alors|donc",
        r"je (?:vais|dois|propose|lance|cherche|vérifie|regarde|commence)|nous allons|il "
        r"faut|commençons|voici (?:ma"
        r"|mon|la|le|l')",
        r"(?:cela|ça|ceci) (?:va |nous |me |permet|montre|affiche|compte|liste|donne|dira)",
        r"ne|n'\w+|pas|jamais|rien|sans|mais|si|exemple|refus\w*|interdit\w*|messages?|textes?|dit"
        r"|expliqu\w*|danger\w*",
    ),
    "German": Tongue(
        r"gut|ok|okay|klar|zuerst|also|nun|jetzt|dann|gerne",
        r"ich (?:werde|muss|will|möchte|schlage|suche|prüfe|schaue|lese|zähle|führe|beginne)|wir "
        r"(?:werden|müssen)"
        r"|(?:werde|muss|will|prüfe|suche|lese|zähle|schaue) ich|lass(?:en)? (?:mich|uns|sie uns)"
        r"|als nächstes|hier ist (?:mein|die|der|das)",
        r"(?:das|dies|dieser befehl) (?:zeigt|wird|liefert|zählt|listet|hilft|sagt)",
        r"nicht\w*|nie|niemals|kein\w*|ohne|aber|wenn|falls|beispiel\w*|nachricht\w*|verweiger\w*|"
        r"verboten\w*"
        r"|text\w*|zitier\w*|erklär\w*|gefähr\w*",
    ),
    "Spanish": Tongue(
        r"claro|vale|bien|primero|ahora|luego|por supuesto",
        r"voy a|vamos a|debo|tengo que|necesito|quiero|propongo|busco|déjame|aquí "
        r"(?:está|tienes|va)|mi (?:siguiente"
        r"|próxim[ao])",
        r"(?:esto|eso) (?:nos |me )?(?:dirá|mostrará|muestra|permite|permitirá|ayuda|ayudará|"
        r"cuenta|lista|indica|va a)",
        r"no|nunca|jamás|sin|pero|si|ejemplo|mensajes?|textos?|dice|explic\w*|peligr\w*|rechaz\w*|"
        r"prohibid\w*|evitar",
    ),
    "Portuguese": Tongue(
        r"claro|certo|ok|primeiro|agora|bem",
        r"vou|vamos|preciso|tenho que|quero|proponho|deixe-me|aqui (?:está|vai)|(?:a )?minha "
        r"próxima",
        r"(?:isso|isto) (?:vai |nos |me )?(?:dirá|mostrar\w*|mostra|permite|ajuda|conta|lista|"
        r"indica)",
        r"não|nunca|nada|sem|mas|se|exemplo|mensage\w+|textos?|diz|explic\w*|perig\w*|recus\w*|"
        r"proibid\w*|evitar",
    ),
    "Italian": Tongue(
        r"certo|ok|bene|prima|ora|poi|allora",
        r"vado a|devo|voglio|sto per|propongo|cerco|controllo|verifico|ecco|fammi|lasciami|(?:la "
        r")?mia prossima"
        r"|dobbiamo|andiamo a",
        r"(?:questo|ciò) (?:ci |mi )?(?:dirà|mostrerà|mostra|permette|aiuta|conta|elenca|indica)",
        r"non|mai|niente|senza|ma|se|esempio|messaggi\w*|test[oi]|dice|spieg\w*|pericol\w*|"
        r"rifiut\w*"
        r"|vietat\w*|evitare",
    ),
    "Dutch": Tongue(
        r"goed|oké|ok|eerst|nu|dan",
        r"ik (?:ga|zal|moet|wil|stel|zoek|controleer)|laten we|laat me|hier is mijn",
        r"(?:dit|dat) (?:toont|zal|laat|telt|helpt|geeft)",
        r"niet\w*|nooit|geen|zonder|maar|als|voorbeeld\w*|bericht\w*|tekst\w*|uitleg\w*|gevaar\w*|"
        r"weiger\w*|verboden",
    ),
    "Russian": Tongue(
        r"хорошо|сначала|теперь|конечно|итак",
        r"я (?:сделаю|проверю|посмотрю|поищу|найду|буду|запущу|хочу|должен|выполню)|давайте|"
        r"проверю|посмотрю"
        r"|(?:мне )?нужно|вот мой",
        r"(?:это|так) (?:покажет|даст|поможет|позволит|выведет|посчитает|мы узнаем)",
        r"не|никогда|нельзя|без|но|если|пример\w*|сообщен\w*|текст\w*|объясн\w*|опасн\w*|отказ\w*",
    ),
}
"""Languages that put spaces between words."""
EAST: Final = regex(
    r"(?:好的|当然|首先|现在|接下来)?[，,。!！、]?\s*(?:(?:让|由)?我(?:们)?(?:来|将|要|会|先|需要|去|查"
    r"|看)|我的下一步).*"
    r"|.*(?:します|みます|べます|(?<!あ)ります|しよう)[。:：!！]?"
    r"|.*(?:겠습니다|할게요|겠어요)[.:：!]?",
    re.DOTALL,
)
EAST_AGAINST: Final = regex(
    r"[不别勿没未禁拒但若例?？]|如果|避免|消息|文本|解释|危险|説明|テキスト|ない|ません|が、|もし|です"
    r"|안 |지 않|말|만약|예시|텍스트"
)


_SPOKEN: Final = [
    (
        regex(rf"(?:(?:{one.opens})[,.!]?\s+)*(?:{one.intends})\b.*", re.IGNORECASE | re.DOTALL),
        regex(rf"(?:{one.shows})\b.*", re.IGNORECASE | re.DOTALL),
        regex(rf"\b(?:{one.against})\b|\?", re.IGNORECASE),
    )
    for one in TONGUES.values()
]


def intends(sentence: str) -> bool:
    """Whether a sentence that is not English says what its speaker does now, and nothing against
    it."""
    said = sentence.lstrip("¡¿ ")
    if any(intent.fullmatch(said) and not against.search(said) for intent, _, against in _SPOKEN):
        return True
    return bool(EAST.fullmatch(said)) and not EAST_AGAINST.search(said)


def shows(sentence: str) -> bool:
    """Whether a sentence that is not English says what a move is good for."""
    return any(
        good.fullmatch(sentence) and not against.search(sentence) for _, good, against in _SPOKEN
    )


_COURTESY: Final = regex(
    r"(?:un (?:instant|moment)|einen (?:moment|augenblick)|moment|un momento|um momento|een moment"
    r"|одну (?:минуту|секунду)|подождите)"
    r"(?:[, ]*(?:s'il vous plaît|s'il te plaît|bitte|por favor|per "
    r"favore|alstublieft|пожалуйста))?[.!…]*"
    r"|(?:merci|danke(?: schön)?|vielen dank|gracias|obrigad[oa]|grazie|dank u(?: wel)?"
    r"|спасибо)(?: d'avance| im voraus)?[.!…]*"
    r"|(?:请|請)?稍等[。.!！…]*|(?:谢谢|謝謝)[。.!！]*|少々お待ちください[。.!！]*"
    r"|ありがとうございます[。.!！]*|잠시만 기다려 ?주세요[.!]*|감사합니다[.!]*",
    re.IGNORECASE,
)


def is_courtesy(sentence: str) -> bool:
    """Whether a sentence that is not English asks to wait a moment, or thanks."""
    return bool(_COURTESY.fullmatch(sentence))
