ALTER TABLE {schema}.audit_record ADD COLUMN kept bytea NOT NULL DEFAULT ''::bytea;

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

CREATE OR REPLACE FUNCTION {schema}.audit_keep() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        -- What was said may go where a record says so. As many bytes stay, so that a copy is as long as the file.
        IF to_jsonb(NEW) - 'kept' = to_jsonb(OLD) - 'kept'
            AND NEW.kept = convert_to(rpad('null', length(OLD.kept)), 'UTF8')
            AND EXISTS (
                SELECT FROM {schema}.audit_erased AS gone JOIN {schema}.audit_head AS now ON now.chain = gone.by_chain
                WHERE gone.chain = OLD.chain AND OLD.seq BETWEEN gone.first_seq AND gone.last_seq
                    AND gone.by_seq <= now.head_seq
            )
        THEN
            RETURN NEW;
        END IF;
        RAISE EXCEPTION 'audit records are never changed' USING ERRCODE = 'ST101';
    ELSIF TG_OP = 'TRUNCATE' THEN
        RAISE EXCEPTION 'audit records leave only where their chain retires them' USING ERRCODE = 'ST101';
    ELSIF OLD.kind = 'bypass' THEN
        RAISE EXCEPTION 'record % of chain % is a bypass, which is never removed', OLD.seq, OLD.chain
            USING ERRCODE = 'ST101';
    ELSIF NOT EXISTS (
        SELECT FROM {schema}.audit_retired AS gone JOIN {schema}.audit_head AS now USING (chain)
        WHERE gone.chain = OLD.chain AND gone.segment = OLD.segment
            AND OLD.seq BETWEEN gone.first_seq AND gone.last_seq AND gone.by_seq <= now.head_seq
    ) THEN
        RAISE EXCEPTION 'record % of chain % is in a segment that no record retires', OLD.seq, OLD.chain
            USING ERRCODE = 'ST101';
    END IF;
    RETURN OLD;
END $$;

CREATE FUNCTION {schema}.audit_name_erased() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NOT EXISTS (
            SELECT FROM {schema}.audit_record AS said,
                json_each(convert_from(said.body, 'UTF8')::json -> 'records') AS one,
                json_array_elements(one.value) AS gone
            WHERE said.chain = NEW.by_chain AND said.seq = NEW.by_seq AND said.kind = 'erased'
                AND one.key = NEW.chain
                AND (gone ->> 0)::bigint = NEW.first_seq AND (gone ->> 1)::bigint = NEW.last_seq
        ) THEN
            RAISE EXCEPTION 'record % of chain % erases nothing of chain %', NEW.by_seq, NEW.by_chain, NEW.chain
                USING ERRCODE = 'ST101';
        END IF;
        RETURN NEW;
    ELSIF TG_OP = 'UPDATE' THEN
        IF to_jsonb(NEW) - 'erased_at' = to_jsonb(OLD) - 'erased_at' THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'what was erased stays erased' USING ERRCODE = 'ST101';
END $$;

CREATE TRIGGER audit_name_erased BEFORE INSERT OR UPDATE OR DELETE ON {schema}.audit_erased
    FOR EACH ROW EXECUTE FUNCTION {schema}.audit_name_erased();
CREATE TRIGGER audit_name_erased_all BEFORE TRUNCATE ON {schema}.audit_erased
    FOR EACH STATEMENT EXECUTE FUNCTION {schema}.audit_name_erased();

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

REVOKE ALL ON FUNCTION {schema}.audit_erase FROM PUBLIC;
