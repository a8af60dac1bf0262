"""The process of a user that judges for the coding agents on this machine."""
