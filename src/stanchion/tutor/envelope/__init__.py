"""The envelope: optional layers between a model and the law. The law decides; the envelope helps to
reach it."""
