"""What commands and consoles show, as typed values computed from a store, a trail or a shield."""
