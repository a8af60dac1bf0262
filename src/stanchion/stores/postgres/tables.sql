CREATE TABLE {schema}.cell (
    number bigint NOT NULL,
    touched bigint NOT NULL,
    keep bigint NOT NULL,
    width bigint,
    head bigint,
    live bigint,
    next_due bigint,
    key text COLLATE "C" NOT NULL PRIMARY KEY,
    ring bigint[],
    value bytea
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

CREATE TABLE {schema}.batch (
    seq bigint GENERATED ALWAYS AS IDENTITY,
    at bigint NOT NULL,
    due bigint,
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    reply bigint[] NOT NULL,
    keys text[],
    took bigint[],
    locks bigint[]
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05);

CREATE TABLE {schema}.permit (
    due bigint NOT NULL,
    amount bigint NOT NULL,
    bucket bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX permit_due ON {schema}.permit (key, due);

CREATE SEQUENCE {schema}.clock MINVALUE 0 START 0;
