"""Measuring the `pii` guard: how much personal data it finds by entity, and what else it takes for
some."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.guards.pii import Pii
from stanchion.kernel.events import RunInfo, ToolResult
from stanchion.kernel.findings import Patch
from stanchion.readings import read
from stanchion_lab.measuring.figure import Figure, Report, counted
from stanchion_lab.measuring.rows import Row, rows
from stanchion_lab.measuring.watching import each

FILE: Final = "pii.jsonl"
HONEST: Final = "benign_traces.jsonl"
SINGLE: Final = "presidio_recognizer"

KINDS: Final = {
    "aba_routing": "us-aba-routing", "au_abn": "au-abn", "au_acn": "au-acn",
    "au_medicare": "au-medicare", "au_tfn": "au-tfn", "ca_sin": "ca-sin",
    "certificate_number": "us-dea", "credit_card": "credit-card",
    "crypto": "bitcoin-address bitcoin-segwit-address ethereum-address", "de_bsnr": "de-practice",
    "de_fuehrerschein": "de-driving-licence", "de_handelsregister": "de-trade-register",
    "de_health_insurance": "de-health-insurance", "de_id_card": "de-id-card", "de_kfz": "de-plate",
    "de_lanr": "de-doctor", "de_passport": "de-passport", "de_plz": "de-postal-code",
    "de_social_security": "de-social-security", "de_tax_id": "de-tax-id",
    "de_tax_number": "de-tax-number", "de_vat_id": "de-vat-id", "email": "email",
    "es_nie": "es-nie", "es_nif": "es-nif", "es_passport": "es-passport",
    "fi_personal_identity_code": "fi-personal-code", "iban": "iban", "in_aadhaar": "in-aadhaar",
    "in_gstin": "in-gst", "in_pan": "in-pan", "in_passport": "in-passport",
    "in_vehicle_registration": "in-vehicle-registration", "in_voter": "in-voter", "ip": "ip",
    "it_driver_license": "it-driving-licence", "it_fiscal_code": "it-fiscal-code",
    "it_identity_card": "it-identity-card", "it_passport": "it-passport", "it_vat_code": "it-vat",
    "kr_brn": "kr-business", "kr_driver_license": "kr-driving-licence", "kr_frn": "kr-foreigner",
    "kr_passport": "kr-passport", "kr_rrn": "kr-resident", "mac": "mac",
    "medical_license": "us-dea", "ng_vehicle_registration": "ng-vehicle-registration",
    "ph_mobile_number": "phone", "ph_tin": "ph-tin", "phone": "phone", "pl_pesel": "pl-pesel",
    "se_organisationsnummer": "se-organisation", "se_personnummer": "se-personal-number",
    "sg_fin": "sg-nric", "th_tnin": "th-national-id", "tr_license_plate": "tr-plate",
    "tr_national_id": "tr-national-id", "tr_phone_number": "phone",
    "uk_driving_licence": "uk-driving-licence", "uk_nhs": "uk-nhs", "uk_nino": "uk-nino",
    "uk_passport": "uk-passport", "uk_postcode": "uk-postcode",
    "uk_vehicle_registration": "uk-vehicle-registration", "url": "url",
    "us_bank": "us-bank-account", "us_driver_license": "us-driver-license", "us_itin": "us-itin",
    "us_mbi": "us-mbi", "us_npi": "us-npi", "us_passport": "us-passport", "us_ssn": "us-ssn",
    "za_id_number": "za-id", "CREDIT_CARD": "credit-card", "PHONE_NUMBER": "phone",
    "EMAIL_ADDRESS": "email", "DOMAIN_NAME": "url", "US_SSN": "us-ssn", "IBAN_CODE": "iban",
    "IP_ADDRESS": "ip", "US_DRIVER_LICENSE": "us-driver-license",
    "ZIP_CODE": "postal-code uk-postcode de-postal-code",
}  # fmt: skip
"""The guard's kinds for the entities that corpora name; what is not here has no shape, or is
nobody's."""

NOTES: Final = (
    (
        "found: every letter and digit of it is hidden, whatever kind it is taken for; all entities "  # noqa: E501
        "are looked for"
    ),
    (
        "bare: a row's text alone; under its name: as a field that is named for the entity, as in "
        "structured data"
    ),
    "a false alarm of the single rows is one of the very kind that the row says it is not",
    (
        "names, places, organisations, titles, ages, streets and plain dates have no shape: a model "  # noqa: E501
        "has to read them"
    ),
)


class Seen(msgspec.Struct, frozen=True):
    """A row, one thing in it that was to be found, and what the guard made of the text."""

    row: Row
    label: str
    wanted: tuple[int, int] | None
    found: tuple[tuple[int, int, str], ...]

    @property
    def hidden(self) -> bool:
        """Whether all of it is hidden."""
        if self.wanted is None:
            return bool(self.found)
        text = str(self.row.payload)
        letters = [at for at in range(*self.wanted) if text[at].isalnum()]
        return all(any(start <= at < end for start, end, _ in self.found) for at in letters)

    @property
    def line(self) -> str:
        """The row in a list of misses."""
        text = str(self.row.payload)
        part = text if self.wanted is None else text[slice(*self.wanted)]
        taken = ", ".join(dict.fromkeys([kind for _, _, kind in self.found]))
        return f"{self.row.id} ({self.label}): {part!r}{f' taken for {taken}' if taken else ''}"


def measure(folder: Path) -> Report:
    """Read every text of `pii.jsonl` with all entities, and honest traces with the usual ones."""
    whole, usual = Pii(entities=("*",)), Pii()
    every = list(rows(folder, FILE))
    single = [row for row in every if row.kind == SINGLE]
    texts = [row for row in every if row.kind != SINGLE]
    shaped = [row for row in single if _entity(row) in KINDS]
    known = [row for row in shaped if row.label == "pii"]
    harmless = [row for row in shaped if row.label != "pii"]
    bare = [one for row in each(known) for one in _singled(whole, row, "")]
    named = [one for row in each(known) for one in _singled(whole, row, _entity(row))]
    freed = [
        one for row in each(known) for one in _singled(Pii(entities=("*",), bare=True), row, "")
    ]
    spoken = [one for row in each(texts) for one in _spoken(whole, row)]
    written = [one for one in spoken if one.label in KINDS]
    shapeless = [one for one in spoken if one.label not in KINDS]
    rest = [row for row in single if _entity(row) not in KINDS and row.label == "pii"]
    return Report(
        "PII: numbers, addresses and what names them",
        (
            _recall("single values, under their name: found", named),
            _recall("single values, bare: found", bare),
            _recall("single values, bare, with `bare: true`: found", freed),
            _alarms("single values, under their name: false alarms", harmless, named=True),
            _alarms("single values, bare: false alarms", harmless),
            _alarms("single values, bare, with `bare: true`: false alarms", harmless, bare=True),
            _recall("synthetic texts: found", written),
            _disturbed("synthetic texts with a false alarm, all entities", texts, whole),
            _disturbed("synthetic texts with a false alarm, usual ones", texts, usual),
            _recall("needs a model, synthetic texts: hidden all the same", shapeless, misses=False),
            Figure("needs a model, single values", 0, len(rest)),
            *_honest(folder, usual),
        ),
        NOTES,
    )


def _entity(row: Row) -> str:
    return str(row.rest.get("entity", ""))


def _found(guard: Pii, text: str, name: str = "") -> tuple[tuple[int, int, str], ...]:
    path = (name,) if name else ()
    return tuple(
        [
            (p.start, p.end, p.kind)
            for p in _patches(guard, {name: text} if name else text)
            if p.path == path
        ]
    )


def _patches(guard: Pii, result: Any) -> tuple[Patch, ...]:
    finding = guard.judge(
        read(ToolResult(id="measure", at=0, run=RunInfo("measure"), tool="read", result=result))
    )
    return () if finding is None else finding.patches


def _singled(guard: Pii, row: Row, name: str) -> Iterator[Seen]:
    found = _found(guard, str(row.payload), name)
    spans = list(_spans(row.rest.get("spans")))
    for span in spans if spans else [None]:
        yield Seen(row, _entity(row), span, found)


def _spoken(guard: Pii, row: Row) -> Iterator[Seen]:
    found = _found(guard, str(row.payload))
    for span in row.rest.get("spans", []):
        yield Seen(row, str(span[2]), (int(span[0]), int(span[1])), found)


def _spans(given: Any) -> Iterator[tuple[int, int]]:
    """The spans of a row; some have a single one without brackets of its own."""
    if isinstance(given, list) and given:
        for one in [given] if isinstance(given[0], int) else given:
            yield int(one[0]), int(one[1])


def _recall(name: str, own: list[Seen], misses: bool = True) -> Figure:
    """What of each entity is hidden; an entity is a family."""
    missed = _line if misses else None
    return counted(name, own, lambda one: one.hidden, lambda one: one.label, missed=missed)


def _line(one: Seen) -> str:
    return one.line


def _alarms(name: str, harmless: list[Row], named: bool = False, bare: bool = False) -> Figure:
    """Rows in which the very thing is found that they say they have not."""
    lines: list[str] = []
    for row in each(harmless):
        guard = Pii(entities=tuple(KINDS[_entity(row)].split()), bare=bare)
        found = _found(guard, str(row.payload), _entity(row) if named else "")
        lines += [Seen(row, _entity(row), None, found).line] if found else []
    return Figure(name, len(lines), len(harmless), "few", tuple(lines), aim="less")


def _disturbed(name: str, texts: list[Row], guard: Pii) -> Figure:
    """Texts in which something is hidden that touches nothing personal."""
    lines: list[str] = []
    for row in each(texts):
        marked = [(int(span[0]), int(span[1])) for span in row.rest.get("spans", [])]
        wrong = [one for one in _found(guard, str(row.payload)) if not _touches(one, marked)]
        lines += [
            f"{row.id}: {str(row.payload)[s:e]!r} taken for {kind}" for s, e, kind in wrong[:1]
        ]
    return Figure(name, len(lines), len(texts), "few", tuple(lines), aim="less")


def _touches(one: tuple[int, int, str], marked: Iterable[tuple[int, int]]) -> bool:
    return any(one[0] < end and start < one[1] for start, end in marked)


def _honest(folder: Path, guard: Pii) -> Iterator[Figure]:
    if not (folder / HONEST).is_file():
        return
    every = list(rows(folder, HONEST))
    lines = []
    for row in every:
        kinds = list(
            dict.fromkeys([patch.kind for patch in _patches(guard, [row.payload, row.rest])])
        )
        lines += [f"{row.id}: {', '.join(kinds)}"] if kinds else []
    yield Figure(
        "honest traces with something found, usual ones",
        len(lines),
        len(every),
        "few",
        tuple(lines),
        aim="less",
    )
