-- Every record of a trail with a key bears a mac; without one it is empty.
ALTER TABLE {schema}.audit_record ADD COLUMN mac bytea NOT NULL DEFAULT '';
