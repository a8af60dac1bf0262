CREATE FUNCTION {schema}.make_month(parent text, at timestamptz) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    month timestamp := date_trunc('month', at AT TIME ZONE 'UTC');
    part text := parent || to_char(month, '_YYYY_MM');
BEGIN
    IF parent NOT IN ('audit_record', 'incident') THEN
        RAISE EXCEPTION 'no table of months is named %', parent USING ERRCODE = 'ST102';
    END IF;
    -- A clock that is far off makes no months: its records stay in the partition for the rest.
    IF month < timestamp '2020-01-01' OR month > now() AT TIME ZONE 'UTC' + interval '35 days' THEN
        RETURN false;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended({name} || ' months', 0));
    IF EXISTS (
        SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = {name} AND c.relname = part
    ) THEN
        RETURN true;
    END IF;
    EXECUTE format(
        'CREATE TABLE %I.%I PARTITION OF %I.%I FOR VALUES FROM (%L) TO (%L)',
        {name}, part, {name}, parent, month AT TIME ZONE 'UTC', (month + interval '1 month') AT TIME ZONE 'UTC'
    );
    IF parent = 'audit_record' THEN
        EXECUTE format(
            'CREATE TRIGGER audit_keep_all BEFORE TRUNCATE ON %I.%I FOR EACH STATEMENT EXECUTE FUNCTION %I.audit_keep()',
            {name}, part, {name}
        );
    END IF;
    RETURN true;
EXCEPTION
    -- Records of the month came while it could not be made. They are where they can be found, and the rest joins them.
    WHEN check_violation THEN RETURN false;
END $$;

CREATE FUNCTION {schema}.months_of(parent text) RETURNS TABLE (part text, ends timestamptz) LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp AS $$
    SELECT c.relname::text, (to_timestamp(right(c.relname, 7), 'YYYY_MM')::timestamp + interval '1 month')
        AT TIME ZONE 'UTC'
    FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
    WHERE i.inhparent = to_regclass(format('%I.%I', {name}, parent)) AND c.relname ~ '_\d\d\d\d_\d\d$'
$$;

CREATE FUNCTION {schema}.drop_empty_months(parent text, before timestamptz) RETURNS integer LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    month record;
    is_empty boolean;
    done integer := 0;
BEGIN
    FOR month IN SELECT part FROM {schema}.months_of(parent) WHERE ends <= before ORDER BY part LOOP
        EXECUTE format('SELECT NOT EXISTS (SELECT FROM %I.%I)', {name}, month.part) INTO is_empty;
        CONTINUE WHEN NOT is_empty;
        EXECUTE format('LOCK TABLE ONLY %I.%I IN ACCESS EXCLUSIVE MODE NOWAIT', {name}, parent);
        EXECUTE format('LOCK TABLE %I.%I IN ACCESS EXCLUSIVE MODE NOWAIT', {name}, month.part);
        EXECUTE format('SELECT NOT EXISTS (SELECT FROM %I.%I)', {name}, month.part) INTO is_empty;
        IF is_empty THEN
            EXECUTE format('DROP TABLE %I.%I', {name}, month.part);
            done := done + 1;
        END IF;
    END LOOP;
    RETURN done;
EXCEPTION
    -- Nobody is kept waiting for it: it can be done at any other time.
    WHEN lock_not_available THEN RETURN 0;
END $$;

CREATE FUNCTION {schema}.audit_remove_retired(most integer) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    gone record;
    from_seq bigint;
    count bigint;
    done bigint := 0;
BEGIN
    FOR gone IN
        SELECT r.chain, r.segment, r.first_seq, r.last_seq
        FROM {schema}.audit_retired AS r JOIN {schema}.audit_head AS h USING (chain)
        WHERE r.removed_at IS NULL AND r.by_seq <= h.head_seq AND NOT EXISTS (
            SELECT FROM {schema}.audit_record AS b
            WHERE b.kind = 'bypass' AND b.chain = r.chain AND b.seq BETWEEN r.first_seq AND r.last_seq
        )
        ORDER BY r.chain, r.segment
    LOOP
        SELECT seq INTO from_seq FROM {schema}.audit_record
        WHERE chain = gone.chain AND seq BETWEEN gone.first_seq AND gone.last_seq ORDER BY seq LIMIT 1;
        IF from_seq IS NOT NULL THEN
            DELETE FROM {schema}.audit_record
            WHERE chain = gone.chain AND seq BETWEEN from_seq AND least(gone.last_seq, from_seq + most - done - 1);
            GET DIAGNOSTICS count = ROW_COUNT;
            done := done + count;
        END IF;
        UPDATE {schema}.audit_retired SET removed_at = now()
        WHERE chain = gone.chain AND segment = gone.segment AND NOT EXISTS (
            SELECT FROM {schema}.audit_record
            WHERE chain = gone.chain AND seq BETWEEN gone.first_seq AND gone.last_seq
        );
        EXIT WHEN done >= most;
    END LOOP;
    RETURN done;
END $$;

CREATE FUNCTION {schema}.audit_erase(most integer) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    gone record;
    count bigint;
    done bigint := 0;
BEGIN
    FOR gone IN
        SELECT e.* FROM {schema}.audit_erased AS e JOIN {schema}.audit_head AS h ON h.chain = e.by_chain
        WHERE e.erased_at IS NULL AND e.by_seq <= h.head_seq ORDER BY e.chain, e.first_seq
    LOOP
        UPDATE {schema}.audit_record AS r SET kept = convert_to(rpad('null', length(r.kept)), 'UTF8')
        FROM (
            SELECT o.chain, o.seq, o.at FROM {schema}.audit_record AS o
            WHERE o.chain = gone.chain AND o.seq BETWEEN gone.first_seq AND gone.last_seq
                AND substring(o.kept FROM 1 FOR 1) = '\x7b' ORDER BY o.seq LIMIT most - done
        ) AS old WHERE r.chain = old.chain AND r.seq = old.seq AND r.at = old.at;
        GET DIAGNOSTICS count = ROW_COUNT;
        done := done + count;
        IF done >= most THEN
            RETURN done;
        END IF;
        -- Records of it that have not arrived yet may still say something when they do.
        UPDATE {schema}.audit_erased AS e SET erased_at = now()
        WHERE (e.chain, e.first_seq, e.last_seq, e.by_chain, e.by_seq)
            = (gone.chain, gone.first_seq, gone.last_seq, gone.by_chain, gone.by_seq)
            AND EXISTS (
                SELECT FROM {schema}.audit_head AS h WHERE h.chain = gone.chain AND h.shipped_seq >= gone.last_seq
            );
    END LOOP;
    RETURN done;
END $$;

REVOKE ALL ON FUNCTION {schema}.make_month, {schema}.drop_empty_months, {schema}.audit_remove_retired,
    {schema}.audit_erase FROM PUBLIC;
