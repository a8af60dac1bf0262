"""Driving: what a flow asks for is done, in the calling thread or on an event loop."""
