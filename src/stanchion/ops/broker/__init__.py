"""The broker: it judges for programs of other users."""
