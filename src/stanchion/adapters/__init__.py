"""Adapters: each puts one framework, client or protocol under a shield, by the contract in
`stanchion.hosting`."""
