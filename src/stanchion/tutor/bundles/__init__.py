"""Bundles: frozen prompts, exemplars and parameters, made beforehand and used as they are."""
