"""The builder of the lexicon: what it takes from a small WordNet and from the seeds, and that the
shipped file is its work."""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from typing import Any

import pytest
import yaml

from stanchion.readings.prose.lexicon import Mark, is_listed, known, stem
from tools.lexicon import __main__ as builder
from tools.lexicon.__main__ import SEEDS, TARGET, Lexicon
from tools.lexicon.wordnet import NOUN, VERB, WordNet, is_word

ROOT = Path(__file__).resolve().parents[2]

FILES = {
    # A sense is written as: offset, file, type, words, pointers.
    "data.verb": """\
  1 This line is a notice.
00000001 40 v 02 donate 0 give 0 002 @ 00000002 v 0000 + 00000010 n 0101 01 + 08 00 | give freely
00000002 40 v 01 transfer 0 000 01 + 08 00 | move
00000003 35 v 01 look 0 000 01 + 08 00 | see
00000004 35 v 01 house 0 000 01 + 08 00 | give a home
""",
    "data.noun": """\
00000010 04 n 02 donation 0 gift 0 001 + 00000001 v 0101 | a thing given
00000011 06 n 01 house 0 000 | a building
00000012 06 n 02 ice_cream 0 gelato 0 000 | food
""",
    "index.verb": """\
  1 This line is a notice.
donate v 1 2 @ + 1 1 00000001
give v 1 0 1 1 00000001
transfer v 1 0 1 1 00000002
look v 1 0 1 1 00000003
house v 1 0 1 1 00000004
""",
    "index.noun": """\
donation n 1 1 + 1 1 00000010
gift n 1 0 1 1 00000010
house n 1 0 1 1 00000011
ice_cream n 1 0 1 0 00000012
gelato n 1 0 1 0 00000012
""",
    "cntlist.rev": """\
donate%2:40:00:: 1 9
transfer%2:40:00:: 1 7
look%2:39:00:: 1 5
house%2:35:00:: 1 1
house%1:06:00:: 1 90
donation%1:04:00:: 1 4
slow%3:00:00:: 1 3
""",
    "verb.exc": "gave give\ngiving give\nwent go\n",
}


def seeds(**more: Any) -> dict[str, Any]:
    """Seeds with little in them."""
    plain = dict.fromkeys(("modern", "weak", "generic", "reads", "prepares", "makes", "says"), "")
    return {**plain, "near": [], "texts": [], "frames": [], "lists": {}, **more}


@pytest.fixture
def wordnet(tmp_path: Path) -> WordNet:
    """A WordNet of a few words."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return WordNet(tmp_path)


def built(wordnet: WordNet, **more: Any) -> dict[str, list[set[str]]]:
    """What the lexicon says of each stem: marks, near and wide relations."""
    lines = [line.split("\t") for line in Lexicon(wordnet, seeds(**more)).build()]
    return {word: [set(piece.split()) for piece in rest] for word, *rest in lines}


def test_words_have_senses_uses_and_forms(wordnet: WordNet) -> None:
    assert wordnet.words["donate", VERB] == ["00000001"]
    assert [sense.words for sense in wordnet.of("gift", NOUN)] == [("donation", "gift")]
    assert ("ice_cream", NOUN) not in wordnet.words
    assert (
        wordnet.uses["house", NOUN],
        wordnet.uses["house", VERB],
        wordnet.uses["slow", "a"],
    ) == (90, 1, 3)
    assert list(wordnet.irregular()) == [("gave", "give"), ("giving", "give"), ("went", "go")]


def test_pointers_say_which_words_are_related(wordnet: WordNet) -> None:
    (sense,) = wordnet.of("donate", VERB)
    assert [(each.symbol, each.source, each.target) for each in sense.pointers] == [
        ("@", 0, 0),
        ("+", 1, 1),
    ]
    assert [other.words for _, other in wordnet.related(sense, "+", NOUN)] == [("donation", "gift")]


@pytest.mark.parametrize(
    ("text", "word"), [("pay", True), ("ice_cream", False), ("café", False), ("3d", False)]
)
def test_only_single_words_of_plain_letters_count(text: str, word: bool) -> None:
    assert is_word(text) == word


def test_verbs_are_those_that_are_used_as_verbs(wordnet: WordNet) -> None:
    found = built(wordnet)
    assert {Mark.VERB, Mark.ONLY_VERB} <= found[stem("donate")][0]
    assert Mark.BASE in found["donate"][0]
    assert Mark.VERB not in found.get(stem("house"), [set()])[0]
    assert Mark.PAST in found["gave"][0]
    assert "giving" not in found


def test_a_verb_is_near_its_synonyms_and_nouns_and_widely_related_above(wordnet: WordNet) -> None:
    _, near, wide = built(wordnet)[stem("donate")]
    assert {"giv", "donation"} <= near
    assert stem("transfer") in wide
    assert stem("donate") in built(wordnet)["donation"][1]


def test_seeds_add_what_wordnet_does_not_say(wordnet: WordNet) -> None:
    found = built(
        wordnet,
        modern="frob",
        weak="look",
        generic="the",
        reads="peek",
        near=[["frob", "donate"]],
        texts=["mail letter", "page"],
        frames=[["donate", "money"]],
        lists={"articles": "the a"},
    )
    assert {Mark.VERB, Mark.ONLY_VERB} <= found["frob"][0]
    assert Mark.WEAK in found["look"][0]
    assert Mark.ONLY_VERB not in found["look"][0]
    assert found["peek"][0] == {Mark.READS}
    assert found["the"][0] == {Mark.GENERIC, f"{Mark.LIST}articles"}
    assert stem("donate") in found["frob"][1]
    assert "frob" in found[stem("donate")][1]
    assert (found["mail"][0], found["pag"][0]) == ({f"{Mark.TEXT}0"}, {f"{Mark.TEXT}1"})
    assert f"{Mark.SAID}0" in found[stem("donate")][0]
    assert found["money"][0] == {f"{Mark.MEANT}0"}


def test_the_same_folder_gives_the_same_lines(wordnet: WordNet, tmp_path: Path) -> None:
    first = Lexicon(wordnet, seeds()).build()
    assert first == Lexicon(WordNet(tmp_path), seeds()).build()
    assert first == sorted(first, key=lambda line: line.partition("\t")[0])


def test_the_command_writes_a_file_that_opens(
    wordnet: WordNet,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    target = tmp_path / "lexicon.bin"
    monkeypatch.setattr(builder, "TARGET", target)
    monkeypatch.setattr("sys.argv", ["lexicon", str(tmp_path)])
    builder.main()
    lines = zlib.decompress(target.read_bytes()).decode().split("\n")
    assert capsys.readouterr().out.startswith(f"{len(lines):,} words")
    assert any(line.startswith("donate\t") for line in lines)
    monkeypatch.setattr("sys.argv", ["lexicon"])
    with pytest.raises(SystemExit, match="WORDNET"):
        builder.main()


def shipped() -> dict[str, Any]:
    found = yaml.safe_load(SEEDS.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("name", "mark"),
    [
        ("reads", Mark.READS),
        ("prepares", Mark.PREPARES),
        ("makes", Mark.MAKES),
        ("says", Mark.SAYS),
    ],
)
def test_the_shipped_file_was_built_from_the_seeds(name: str, mark: Mark) -> None:
    assert TARGET.exists()
    missing = [word for word in shipped()[name].split() if mark not in known(stem(word)).marks]
    assert not missing, "build it again: python -m tools.lexicon WORDNET"


def test_every_list_of_the_seeds_is_in_the_shipped_file_and_read_by_the_code() -> None:
    folders = (ROOT / "src/stanchion/guards/flow", ROOT / "src/stanchion/readings/prose")
    code = "\n".join(
        [file.read_text(encoding="utf-8") for folder in folders for file in folder.glob("*.py")]
    )
    read = set(re.findall(r'is_listed\([^"]*?"(\w+)"\)', code))
    lists = shipped()["lists"]
    assert read == set(lists)
    for name, words in lists.items():
        assert [word for word in words.split() if not is_listed(word, name)] == []


def test_every_frame_and_kind_of_text_of_the_seeds_is_in_the_shipped_file() -> None:
    for at, (said, meant) in enumerate(shipped()["frames"]):
        assert all(f"{Mark.SAID}{at}" in known(stem(word)).marks for word in said.split())
        assert all(f"{Mark.MEANT}{at}" in known(stem(word)).marks for word in meant.split())
    for at, words in enumerate(shipped()["texts"]):
        assert all(f"{Mark.TEXT}{at}" in known(stem(word)).marks for word in words.split())
