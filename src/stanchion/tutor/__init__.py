"""The Tutor: a game in which a player claims and proposes, and a law decides what is proven. Pure: what runs commands,
reads files or knows the time is handed in."""

from stanchion.tutor.envelope.schema.reading import read_move as read_move
