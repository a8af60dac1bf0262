"""Presidio's recognisers, asked by the guard of that name: patterns and check digits, no model, no
network."""

from __future__ import annotations

import logging
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from stanchion.kernel.regex import regex
from stanchion.locks import Lock

if TYPE_CHECKING:
    from presidio_analyzer import AnalyzerEngine

UNUSUAL: Final = frozenset({"URL", "DATE_TIME", "UUID"})
"""What is looked for only where it is asked for: too much of everyday work is one."""
WORDS: Final = regex(r"[^\W\d_]+")
HUMP: Final = regex(r"(?<=[a-z\d])(?=[A-Z])")

_lock = Lock()


def found(asked: Any) -> list[tuple[int, int, int, str, float]]:
    """What is personal in some texts: the number of the text, from where to where, what it is, how
    sure that is."""
    with _lock:
        engine = analyzer(asked.language)
    known = engine.get_supported_entities(asked.language)
    entities = [
        e for e in known if (e not in UNUSUAL if asked.entities is None else e in asked.entities)
    ]
    answer: list[tuple[int, int, int, str, float]] = []
    for number, text in enumerate(asked.texts if entities else ()):
        context = [
            word
            for name in asked.names[number]
            for word in WORDS.findall(HUMP.sub(" ", name).lower())
        ]
        results = engine.analyze(
            text,
            asked.language,
            entities=entities,
            score_threshold=asked.score,
            context=context if context else None,
        )
        own = [
            (number, one.start, one.end, one.entity_type, round(one.score, 4)) for one in results
        ]
        answer += sorted(own, key=lambda one: (one[1], -one[2], -one[4], one[3]))
    return answer


@cache
def analyzer(language: str) -> AnalyzerEngine:
    """The engine for a language; made once, which takes a moment. It parts words by rules alone."""
    import spacy
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.nlp_engine import NlpArtifacts, NlpEngine

    parts = spacy.blank(language)

    class Parting(NlpEngine):
        """Parts a text into words and knows nothing more of them."""

        def load(self) -> None:
            pass

        def is_loaded(self) -> bool:
            return True

        def process_text(self, text: str, language: str) -> NlpArtifacts:
            words = parts.make_doc(text)
            return NlpArtifacts(
                [], words, [w.idx for w in words], [w.lower_ for w in words], self, language
            )

        def process_batch(self, texts: Any, language: str, *_: Any, **__: Any) -> Any:
            return ((text, self.process_text(text, language)) for text in texts)

        def is_stopword(self, word: str, language: str) -> bool:
            return bool(parts.vocab[word].is_stop)

        def is_punct(self, word: str, language: str) -> bool:
            return bool(parts.vocab[word].is_punct)

        def get_supported_entities(self) -> list[str]:
            return []

        def get_supported_languages(self) -> list[str]:
            return [language]

    _offline()
    engine = Parting()
    registry = RecognizerRegistry(supported_languages=[language])
    log = logging.getLogger("presidio-analyzer")
    level = log.level
    log.setLevel(logging.ERROR)  # it warns of every recogniser of another language
    try:
        registry.load_predefined_recognizers(languages=[language], nlp_engine=engine)
    finally:
        log.setLevel(level)
    registry.recognizers = [
        one for one in registry.recognizers if type(one).__name__ != "SpacyRecognizer"
    ]
    return AnalyzerEngine(registry=registry, nlp_engine=engine, supported_languages=[language])


def _offline() -> None:
    """Have the recogniser of e-mail addresses use the list of domains it came with: by itself it
    would fetch one."""
    from presidio_analyzer.predefined_recognizers.generic import email_recognizer
    from tldextract import TLDExtract

    class Domains:
        extract = TLDExtract(suffix_list_urls=(), cache_dir=None)

    vars(email_recognizer)["tldextract"] = Domains
