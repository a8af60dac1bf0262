"""People and where they live, as far as words nearby and names of streets tell without a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stanchion.guards.pii.entity import PersonalEntity
from stanchion.kernel.regex import regex
from stanchion.readings.word_lists import listed

CAPITALS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ?"
"""How a name begins; a letter that is not ASCII is read as a question mark."""
NO_NAMES: Final = listed(
    "account address age api april august card city company credit customer date day december dear "
    "dr email february file first foo friday full hello hi http id iban in invoice is january july "
    "june last march may me middle miss monday mr mrs ms my name new no none not november null "
    "number october of on order patient phone please policy prof project saturday server sir "
    "september ssn street sunday table team test thank thanks the this thursday title to true "
    "tuesday unknown user we wednesday yes you your zip"
)  # fmt: skip
"""Words that are written with a capital and are no part of a person's name."""
PART: Final = regex(r"[A-Z?][A-Za-z?'.-]*")
STREETS: Final = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Terrace|Square|Sq|"
    r"Crescent|Parkway|Pkwy|Highway|Hwy|Circle|Cir|Trail|Way|Place|Pl|Close|Mews|Row|Walk|Grove)"
)
"""What a street is in English, behind its name."""
GLUED_STREETS: Final = (
    r"(?:stra(?:ss|\?)e|str\.?|gasse|weg|platz|allee|ring|ufer|damm|straat|laan|plein|gracht|kade"
    r"|dijk|gatan|v(?:a|\?)gen|gata|veien|vej|gade|tie|katu|utca|ulica)"
)
"""What stands at the end of a street's name in the north and the middle of Europe."""
STREETS_BEFORE: Final = (
    r"(?:[Rr]ue|[Aa]venue|[Bb]oulevard|Impasse|[Cc]hemin|[Qq]uai|All(?:e|\?)e|[Cc]alle|C/|[Aa]venida"
    r"|Avda\.|Plaza|Paseo|Carrer|[Vv]ia|Viale|Piazza|Corso|Largo|Vicolo|Rua|Travessa|Pra(?:c|\?)a"
    r"|ul\.|Calea|Strada)"
)
"""What stands before its name in the south."""
NAME: Final = r"[A-Z?][A-Za-z?'.-]{0,24}"
UNIT: Final = r"(?:,? (?:Apt|Suite|Unit|Flat|Apartment|Ste|Floor)\.? ?#?[0-9A-Za-z]{1,6})?"
MORE: Final = rf"{NAME}(?: {NAME}){{0,3}}"
SMALL: Final = r"(?:[a-z']{1,4} ){0,2}"
ADDRESS: Final = "|".join(
    [
        rf"[0-9]{{1,5}}[A-Za-z]? (?:[NSEW]\.? )?(?:{NAME} ){{1,4}}{STREETS}\b\.?{UNIT}",
        rf"[0-9]{{1,4}}(?: bis| ter)?,? {STREETS_BEFORE} {SMALL}{MORE}",
        rf"{STREETS_BEFORE} {SMALL}{MORE},? (?:n\.? ?)?[0-9]{{1,4}}[A-Za-z]?",
        rf"(?:{NAME}[ -]){{0,2}}[A-Z?][A-Za-z?-]{{1,24}}(?: ?{GLUED_STREETS}| Str\.) "
        r"?[0-9]{1,4}[A-Za-z]?",
        r"P\.?O\.? Box [0-9]{1,6}|(?:Unit|PSC) [0-9]{1,5},? Box [0-9]{1,5}",
    ]
)
KNOWN: Final = regex(ADDRESS)
TOLD: Final = rf"[0-9]{{1,5}}[A-Za-z]?,? {NAME}(?: {NAME}){{0,3}}(?: [0-9]{{1,4}}[A-Za-z]?)?{UNIT}"
"""An address without a word of a street: a number and names."""


def _name(raw: str, told: bool) -> Sequence[int]:
    """The words with capitals that may be a person's name, as many as there are."""
    if not told:
        return ()
    end = 0
    for part in PART.finditer(raw):
        word = part[0].rstrip(".?'-")
        if word.lower() in NO_NAMES or (len(word) > 4 and word.isupper()) or not word:
            break
        end = part.start() + len(word)
    return (end,) if end > 2 else ()


def _address(raw: str, told: bool) -> Sequence[int]:
    """All of it; what has no word of a street in it counts where a word nearby says that somebody
    is to be found there."""
    return (len(raw.rstrip(" ,?")),) if told or KNOWN.match(raw) is not None else ()


ENTITIES: Final = (
    PersonalEntity(
        "person-name",
        "name of a person",
        sieve=r"[A-Z?][a-z?'-]",
        pattern=rf"{NAME}(?: {NAME}){{0,3}}",
        heads=CAPITALS,
        reads=_name,
        opens=r"[A-Z?][A-Za-z?'.-]*(?: [A-Z?][A-Za-z?'.-]*){0,3} ?",
        words="name|full name|first name|last name|surname|cardholder|passenger|patient|mr|mrs|ms|"
        "dr|dear|sincerely|regards|herr|frau|ich heiße|monsieur|madame|je m appelle|signor|signora|"
        "mi chiamo|me llamo|nombre|apellido|meneer|mevrouw|naam|namn|navn|nimi",
        usual=False,
        within=3,
        longest=100,
        glued="@.-_$#/",
    ),
    PersonalEntity(
        "street-address",
        "street and number",
        sieve=rf"{ADDRESS}|[0-9]{{1,5}}[A-Za-z]?,? [A-Z?][A-Za-z?'.-]",
        pattern=f"{ADDRESS}|{TOLD}",
        heads=CAPITALS + "0123456789ravcqu",
        reads=_address,
        opens=r"[0-9A-Za-z?][0-9A-Za-z?'.,#/ -]*",
        words="address|addresses|live at|lives at|living at|located at|office is at|offices are at|"
        "is at|meet me at|ship to|deliver to|off at|adresse|anschrift|wohnhaft|wohnt|wohne|"
        "dirección|domicilio|indirizzo|endereço|adres",
        usual=False,
        longest=140,
        glued="@.-_$#/",
    ),
)

HITS: Final = (
    ("my name is Ada Lovelace, and I lost my card", "person-name"),
    ("Dear Mrs O'Brien, your order", "person-name"),
    ("customer name: Jean-Luc Dupont", "person-name"),
    ("Frau Müller hat angerufen", "person-name"),
    ("I live at 221 Baker Street.", "street-address"),
    ("ship to 1600 N Amphitheatre Parkway, Suite 4", "street-address"),
    ("Hauptstraße 5a, 8010 Graz", "street-address"),
    ("12 rue de la Paix, Paris", "street-address"),
    ("Calle Mayor 14, Madrid", "street-address"),
    ("Keizersgracht 174, Amsterdam", "street-address"),
    ("our office is at 6076 Piroska 97", "street-address"),
)
MISSES: Final = (
    "Ada Lovelace wrote the first program",
    "the name of the file is README",
    "Name: None",
    "Dear Customer, thank you",
    "we drove down the street for 12 miles",
    "Wall Street fell in 2024",
    "we sold 6076 Piroska 97 last year",
    "section 5 of the Road Act",
)
