CREATE TABLE {schema}.best_practices (
    tenant text COLLATE "C" NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,
    tool_name text COLLATE "C" NOT NULL,
    success_count bigint NOT NULL,
    failure_count bigint NOT NULL,
    last_success_data text,
    last_ms bigint NOT NULL,
    PRIMARY KEY (tenant, fingerprint)
);

CREATE INDEX newest_practice ON {schema}.best_practices (tenant, tool_name, last_ms DESC, fingerprint)
    WHERE last_success_data IS NOT NULL;
CREATE INDEX used_practice ON {schema}.best_practices (tenant, tool_name, success_count DESC, fingerprint)
    WHERE last_success_data IS NOT NULL AND success_count > 1;

-- Day -1 counts everything.
CREATE TABLE {schema}.tool_days (
    tenant text COLLATE "C" NOT NULL,
    tool_name text COLLATE "C" NOT NULL,
    day integer NOT NULL,
    successes bigint NOT NULL,
    failures bigint NOT NULL,
    PRIMARY KEY (tenant, tool_name, day)
);

CREATE VIEW {schema}.incidents AS
    SELECT id, tenant, run AS session_id, tool AS tool_name, fingerprint, success,
        extract(epoch FROM at)::double precision AS timestamp, reason AS error_reason, hint AS context_hint,
        convert_from(call, 'UTF8') AS call_data
    FROM {schema}.incident;
