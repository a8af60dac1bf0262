CREATE FUNCTION {schema}.audit_keep() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
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

CREATE TRIGGER audit_keep BEFORE UPDATE OR DELETE ON {schema}.audit_record
    FOR EACH ROW EXECUTE FUNCTION {schema}.audit_keep();
CREATE TRIGGER audit_keep_all BEFORE TRUNCATE ON {schema}.audit_record
    FOR EACH STATEMENT EXECUTE FUNCTION {schema}.audit_keep();
CREATE TRIGGER audit_keep_all BEFORE TRUNCATE ON {schema}.audit_record_rest
    FOR EACH STATEMENT EXECUTE FUNCTION {schema}.audit_keep();

CREATE FUNCTION {schema}.audit_name_retired() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NOT EXISTS (
            SELECT FROM {schema}.audit_record AS said,
                json_array_elements(convert_from(said.body, 'UTF8')::json -> 'segments') AS gone
            WHERE said.chain = NEW.chain AND said.seq = NEW.by_seq AND said.kind = 'retired'
                AND (gone ->> 0)::bigint = NEW.segment
                AND (gone ->> 1)::bigint = NEW.first_seq AND (gone ->> 2)::bigint = NEW.last_seq
        ) THEN
            RAISE EXCEPTION 'record % of chain % does not retire segment %', NEW.by_seq, NEW.chain, NEW.segment
                USING ERRCODE = 'ST101';
        END IF;
        RETURN NEW;
    ELSIF TG_OP = 'UPDATE' THEN
        IF to_jsonb(NEW) - 'removed_at' = to_jsonb(OLD) - 'removed_at' THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'what was retired stays retired' USING ERRCODE = 'ST101';
END $$;

CREATE TRIGGER audit_name_retired BEFORE INSERT OR UPDATE OR DELETE ON {schema}.audit_retired
    FOR EACH ROW EXECUTE FUNCTION {schema}.audit_name_retired();
CREATE TRIGGER audit_name_retired_all BEFORE TRUNCATE ON {schema}.audit_retired
    FOR EACH STATEMENT EXECUTE FUNCTION {schema}.audit_name_retired();

CREATE FUNCTION {schema}.audit_forward() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF NEW.chain = OLD.chain AND NEW.shipped_seq >= OLD.shipped_seq AND NEW.head_seq >= OLD.head_seq THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'the head of a chain only goes forward' USING ERRCODE = 'ST101';
END $$;

CREATE TRIGGER audit_forward BEFORE UPDATE OR DELETE ON {schema}.audit_head
    FOR EACH ROW EXECUTE FUNCTION {schema}.audit_forward();
CREATE TRIGGER audit_forward_all BEFORE TRUNCATE ON {schema}.audit_head
    FOR EACH STATEMENT EXECUTE FUNCTION {schema}.audit_forward();

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
