"""Other languages: phrases that set aside what an agent was told, or want secrecy, as data.

RE2 knows words of plain letters only, so that nothing here stands at a boundary of a word.
"""

from __future__ import annotations

from typing import Final

OVERRIDES: Final = (
    r"(?:ignoriere?|ignorieren sie|missachte|vergiss|vergessen sie) .{0,30}"
    r"(?:vorherig|bisherig|obig|früher|vorangegangen|alle|deine|ihre).{0,20}"
    r"(?:anweisung|instruktion|regel|befehl|vorgabe|aufgabe)",
    r"(?:ignore[zr]?|oublie[zr]?|ne tiens pas compte|ne tenez pas compte) .{0,30}"
    r"(?:instructions?|consignes?|règles?|directives?|ordres?).{0,20}(?:précédent|antérieur|"
    r"ci-dessus|initial)",
    r"(?:ignor[ae]n?|olvid[ae]n?|descarta|haz caso omiso de) .{0,30}"
    r"(?:instrucciones|órdenes|reglas|indicaciones|directrices).{0,20}(?:anterior|previa|de "
    r"arriba|inicial|original)",
    r"(?:ignora|ignorate|dimentica|dimenticate) "
    r".{0,30}(?:istruzioni|regole|ordini|indicazioni|direttive).{0,20}"
    r"(?:precedent|sopra|inizial)",
    r"(?:ignore|ignora|esqueça|desconsidere) .{0,30}(?:instruções|ordens|regras|diretrizes).{0,20}"
    r"(?:anterior|acima|prévia|inicia)",
    r"(?:negeer|vergeet) .{0,30}(?:vorige|eerdere|bovenstaande|alle).{0,20}"
    r"(?:instructies|opdrachten|regels|aanwijzingen)",
    r"(?:zignoruj|ignoruj|zapomnij) .{0,30}(?:poprzedni|wcześniejsz|powyższ|wszystki).{0,20}"
    r"(?:instrukcj|poleceni|zasad)",
    (
        r"(?:önceki|yukarıdaki|tüm).{0,20}(?:talimat|komut|kural).{0,20}(?:yok say|görmezden "
        r"gel|unut|dikkate alma)"
    ),
    r"(?:игнорируй|проигнорируй|забудь|не обращай).{0,30}(?:предыдущ|прежн|прошл|все|выше).{0,20}"
    r"(?:инструкци|указани|правил|команд)",
    r"(?:忽略|无视|忘记|不要理会|忽視|無視).{0,12}(?:之前|以上|上述|先前|前面|所有|一切).{0,8}(?:指令|指示|说明|命令|规则|提示|規則)",
    r"(?:以前|これまで|上記|前).{0,8}(?:指示|命令|ルール|プロンプト).{0,10}(?:無視|忘れ)",
    r"(?:이전|위의|앞의|모든).{0,8}(?:지시|명령|규칙|프롬프트).{0,10}(?:무시|잊)",
    r"تجاهل.{0,30}(?:التعليمات|الأوامر|القواعد).{0,20}(?:السابق|أعلاه)",
)
"""German, French, Spanish, Italian, Portuguese, Dutch, Polish, Turkish, Russian, Chinese, Japanese,
Korean, Arabic."""

SECRECIES: Final = (
    (
        r"(?:sag|sage|sagen sie|erzähle|verrate) .{0,20}(?:dem|den) "
        r"(?:benutzer|nutzer|anwender).{0,20}nicht"
    ),
    r"ne (?:le )?(?:dis|dites|mentionne|mentionnez) (?:pas|rien) .{0,20}utilisateur",
    r"no (?:le )?(?:digas|diga|menciones|informes) .{0,30}usuario",
    r"не (?:говори|сообщай|рассказывай).{0,20}пользовател",
    r"(?:不要|别).{0,6}(?:告诉|通知|提及).{0,6}用户",
)
"""German, French, Spanish, Russian, Chinese."""
