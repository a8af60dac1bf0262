"""What a call says in many more characters than it has is read no farther than other calls."""

from stanchion.readings.fingerprint import fingerprint


def test_a_character_that_stands_for_many_is_not_read_to_its_end() -> None:
    wide = "\ufdfa" * 20_000
    here, there = [fingerprint("bash", {"command": wide + end}) for end in (" one", " two")]
    assert here.sketch == there.sketch
    assert here.exact != there.exact


def test_other_texts_are_read_to_their_end() -> None:
    long = "\u00e9" * 20_000
    here, there = [fingerprint("bash", {"command": long + end}) for end in (" one", " two")]
    assert here.sketch != there.sketch
