"""The glossary gives each word one meaning, in order, and leaves no stage and no action out."""

import re
from pathlib import Path

from stanchion.kernel.actions import Action
from stanchion.kernel.stages import Stage

GLOSSARY = Path(__file__).resolve().parents[2] / "docs/glossary.md"
WORDS = re.findall(r"^\| (`?[^|]+?`?) \| ", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)[1:]


def test_words_are_in_order_and_unique() -> None:
    plain = [word.strip("`").replace("_", " ").lower() for word in WORDS]
    assert plain == sorted(set(plain))


def test_every_stage_and_action_is_explained() -> None:
    expected = {f"`{stage.value}`" for stage in Stage} | {f"`{action.name}`" for action in Action}
    assert {word for word in WORDS if word.startswith("`")} == expected
