"""The hooks of a coding agent over HTTP, beside an endpoint that judges nothing."""
