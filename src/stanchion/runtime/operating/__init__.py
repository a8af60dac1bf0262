"""Operating: what an operator does with a shield, from a halt to another policy."""
