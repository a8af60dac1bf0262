CREATE TABLE {schema}.incident (
    at timestamptz NOT NULL,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    tenant text COLLATE "C" NOT NULL DEFAULT 'default',
    run text COLLATE "C" NOT NULL,
    tool text COLLATE "C" NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,
    success boolean NOT NULL,
    reason text NOT NULL DEFAULT '',
    hint text NOT NULL DEFAULT '',
    call bytea NOT NULL,
    PRIMARY KEY (id, at)
) PARTITION BY RANGE (at);

CREATE TABLE {schema}.incident_rest PARTITION OF {schema}.incident DEFAULT;

CREATE INDEX incident_at ON {schema}.incident (at);
CREATE INDEX incident_fingerprint ON {schema}.incident (tenant, fingerprint, at);
CREATE INDEX incident_tool ON {schema}.incident (tenant, tool, at);

CREATE FUNCTION {schema}.forget_incidents(before timestamptz, most integer) RETURNS bigint LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    month record;
    count bigint;
    done bigint := 0;
BEGIN
    FOR month IN SELECT part FROM {schema}.months_of('incident') WHERE ends <= before ORDER BY part LOOP
        EXECUTE format('SELECT count(*) FROM %I.%I', {name}, month.part) INTO count;
        EXECUTE format('DROP TABLE %I.%I', {name}, month.part);
        done := done + count;
    END LOOP;
    DELETE FROM {schema}.incident AS i USING (
        SELECT o.id, o.at FROM {schema}.incident AS o WHERE o.at < before ORDER BY o.at LIMIT most
    ) AS old WHERE i.id = old.id AND i.at = old.at;
    GET DIAGNOSTICS count = ROW_COUNT;
    RETURN done + count;
END $$;

REVOKE ALL ON FUNCTION {schema}.forget_incidents FROM PUBLIC;
