CREATE TABLE {schema}.audit_record (
    chain text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    segment integer NOT NULL,
    at timestamptz NOT NULL,
    kind text COLLATE "C" NOT NULL,
    run text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    stage text COLLATE "C" NOT NULL,
    action text COLLATE "C" NOT NULL,
    tool text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    task text COLLATE "C" NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    hash bytea NOT NULL,
    took bigint NOT NULL,
    seal text COLLATE "C" NOT NULL,
    body bytea NOT NULL,
    -- Every record of a trail with a key bears a mac; without one it is empty.
    mac bytea NOT NULL DEFAULT '',
    kept bytea NOT NULL DEFAULT ''::bytea,
    PRIMARY KEY (chain, seq, at)
) PARTITION BY RANGE (at);

CREATE TABLE {schema}.audit_record_rest PARTITION OF {schema}.audit_record DEFAULT;

CREATE INDEX audit_record_at ON {schema}.audit_record (at);
CREATE INDEX audit_record_run ON {schema}.audit_record (run, at) WHERE run <> '';
CREATE INDEX audit_record_id ON {schema}.audit_record (id) WHERE id <> '';
CREATE INDEX audit_record_bypass ON {schema}.audit_record (chain, seq) WHERE kind = 'bypass';

CREATE TABLE {schema}.audit_head (
    chain text COLLATE "C" PRIMARY KEY,
    shipped_seq bigint NOT NULL,
    shipped_hash bytea NOT NULL,
    segment integer NOT NULL,
    place bigint NOT NULL,
    head_seq bigint NOT NULL DEFAULT -1,
    head text COLLATE "C" NOT NULL DEFAULT '',
    stopped text NOT NULL DEFAULT '',
    at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE {schema}.audit_retired (
    chain text COLLATE "C" NOT NULL,
    segment integer NOT NULL,
    first_seq bigint NOT NULL,
    last_seq bigint NOT NULL,
    by_seq bigint NOT NULL,
    removed_at timestamptz,
    PRIMARY KEY (chain, segment)
);

CREATE INDEX audit_retired_open ON {schema}.audit_retired (chain, segment) WHERE removed_at IS NULL;

CREATE TABLE {schema}.audit_evidence (
    chain text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    deed text NOT NULL,
    why text NOT NULL,
    line bytea NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (chain, seq, at)
);

CREATE TABLE {schema}.audit_erased (
    chain text COLLATE "C" NOT NULL,
    first_seq bigint NOT NULL,
    last_seq bigint NOT NULL,
    by_chain text COLLATE "C" NOT NULL,
    by_seq bigint NOT NULL,
    erased_at timestamptz,
    PRIMARY KEY (chain, first_seq, last_seq, by_chain, by_seq)
);

CREATE INDEX audit_erased_open ON {schema}.audit_erased (chain, first_seq) WHERE erased_at IS NULL;
