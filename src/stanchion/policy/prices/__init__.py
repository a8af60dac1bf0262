"""Model prices: what tokens cost, by model, with where each price was read and when."""
