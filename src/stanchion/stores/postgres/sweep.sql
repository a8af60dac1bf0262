CREATE OR REPLACE FUNCTION {schema}.sweep(
    pages integer, answers_ms bigint, lapsed_ms bigint, margin_ms bigint, OUT swept integer
) LANGUAGE plpgsql AS $sweep$
DECLARE
    now_ms bigint := coalesce(pg_sequence_last_value('{schema}.clock'::regclass), 0);
    page_size bigint := current_setting('block_size');
    first bigint;
    gone text[];
    rows tid[];
BEGIN
    -- A portion anywhere: whoever sweeps needs to remember nothing, and many who do rarely meet. What a batch has is
    -- left alone, so that neither waits for the other.
    first := floor(random() * greatest(pg_relation_size('{schema}.cell') / page_size - pages + 1, 1));
    SELECT array_agg(c.ctid), array_agg(c.key) INTO rows, gone FROM (
        SELECT ctid, key FROM {schema}.cell
        WHERE ctid >= format('(%s,0)', first)::tid AND ctid < format('(%s,0)', first + pages)::tid
            AND touched + keep <= now_ms - margin_ms
        FOR UPDATE SKIP LOCKED
    ) AS c;
    IF rows IS NOT NULL THEN
        DELETE FROM {schema}.cell WHERE ctid = ANY (rows);
        DELETE FROM {schema}.permit WHERE ctid = ANY (
            ARRAY(SELECT ctid FROM {schema}.permit WHERE key = ANY (gone) FOR UPDATE SKIP LOCKED)
        );
    END IF;
    swept := coalesce(cardinality(rows), 0);

    first := floor(random() * greatest(pg_relation_size('{schema}.batch') / page_size - pages + 1, 1));
    SELECT array_agg(b.ctid) INTO rows FROM (
        SELECT ctid FROM {schema}.batch
        WHERE ctid >= format('(%s,0)', first)::tid AND ctid < format('(%s,0)', first + pages)::tid
            AND CASE WHEN due IS NULL THEN at <= now_ms - answers_ms ELSE due <= now_ms - lapsed_ms END
        FOR UPDATE SKIP LOCKED
    ) AS b;
    IF rows IS NOT NULL THEN
        DELETE FROM {schema}.batch WHERE ctid = ANY (rows);
        swept := swept + cardinality(rows);
    END IF;
END
$sweep$;
