"""The door: the one way from inside walls to the network, judged as the run's own requests are."""
