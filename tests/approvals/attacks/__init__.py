"""What a scripted agent tries so that a payment goes ahead which nobody agreed to; one function an
attack."""
