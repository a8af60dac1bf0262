"""People: who may answer and change what stands, the tickets that wait for them, and whose word a
policy has."""
