"""Transcripts: what a player answered in a game, turn by turn, also when it was asked again."""

from __future__ import annotations

from pathlib import Path

import msgspec

from stanchion.tutor.envelope.envelope import Asked, Came, Episode, Over, TutorEnvelope
from stanchion.tutor.playing.games import GameError, read_as

Replies = tuple[tuple[str, ...], ...]
"""For each turn the reply to the first question, and those to being asked again, in their order."""


class Transcript(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The replies of a player under each law. The laws have different moves, and so different
    replies."""

    first: Replies
    second: Replies

    def under(self, law: str) -> Replies:
        """The replies under a law: `1` or `2`."""
        return self.first if law == "1" else self.second


def load_transcript(path: str | Path) -> Transcript:
    """Read a file of a transcript; raises `GameError`."""
    found = read_as(path, Transcript)
    for law, turns in (("first", found.first), ("second", found.second)):
        if not turns or not all(turns):
            raise GameError(
                f"{path}: `{law}` has a turn without a reply, or no turn: give each turn one at "
                f"least"
            )
    return found


def reply_to(turns: Replies, asked: Asked) -> Came:
    """What the player answers. Whoever is not asked again does not get the replies to that; whoever
    is asked more often than was written down gets the last of the turn once more. Behind the last
    turn there is nothing."""
    if asked.turn > len(turns):
        return Over("the transcript ends here")
    said = turns[asked.turn - 1]
    return said[min(asked.attempt, len(said) - 1)]


def play_transcript(envelope: TutorEnvelope, turns: Replies, most: int) -> Episode:
    """Play a game of at most so many turns by what a transcript says."""
    playing = envelope.episode(most)
    try:
        asked = next(playing)
        while True:
            asked = playing.send(reply_to(turns, asked))
    except StopIteration as ended:
        episode: Episode = ended.value
        return episode.whole()
