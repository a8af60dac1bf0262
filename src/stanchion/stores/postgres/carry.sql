-- Carries a batch out as kernel/carry.py does. Its arguments are flat arrays, a place is a number of `keys` from 1:
--   known    a batch that its sender has seen carried out, or nothing
--   given    go, ceiling, what there is of each unit, when `known` was carried out (-1: nothing is known), and by their
--            bits the lines whose cells the sender knows to be there
--   lines    13 each: place, unit, when, follows, hold_ms, keep, bucket width, shadow, idle_ms, lowest limit,
--            first and last place in `bands`, lock; a register has, instead of a width, its bits twice and the bit to
--            push, less than nothing
--   bands    2 each: limit, action
--   expects  3 each: place (0 is the clock), from, below
--   actuals  5 for each of `settles`
--   puts     5 each: place, when, lines before, shadow, how long it is kept; `records` has their values
-- The reply is now, go, how many lines, whether one of them spoke, then values, actions if one did, and settlements;
-- or, where an expectation failed: now, 2, then place and number of each cell that is not as expected; or, where
-- something is not there that is known to be: now, 3.
CREATE OR REPLACE FUNCTION {schema}.carry(
    batch_id text,
    known text,
    clock bigint,
    given bigint[],
    keys text[],
    locks bigint[],
    lines bigint[],
    bands bigint[],
    expects bigint[],
    settles text[],
    actuals bigint[],
    puts bigint[],
    records bytea[],
    OUT reply bigint[],
    OUT fresh bytea[]
) LANGUAGE plpgsql AS $carry$
#variable_conflict use_column
DECLARE
    now_ms bigint;
    floor_ms bigint;
    go boolean := given[1] = 1;
    ceiling bigint := given[2];
    found boolean := false;
    held {schema}.batch[];
    hold {schema}.batch;
    lock_id bigint;
    permit record;

    numbers bigint[];
    keeps bigint[];
    widths bigint[];
    heads bigint[];
    lives bigint[];
    dues bigint[];
    rings text[];
    ring bigint[];
    earliest bigint;

    changed bigint[];
    made boolean[];
    news bytea[];
    many integer := coalesce(cardinality(keys), 0);
    making boolean := false;
    changing boolean := false;

    settled bigint[] := '{{}}';
    closed text[] := '{{}}';
    closing boolean := false;
    correction bigint;

    stop integer := -1;
    refused bigint[] := '{{}}';
    stopped bigint[] := '{{}}';
    before bigint[] := '{{}}';
    said bigint[] := '{{}}';
    spoke boolean := false;
    outcome bigint;
    amount bigint;
    number bigint;
    bucket bigint;

    took_keys text[];
    took bigint[];
    took_locks bigint[];
    permits bigint[];
    longest bigint := 0;

    j integer;
    k integer;
    at integer;
BEGIN
    -- What is read after a lock was waited for must be what whoever had it wrote.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'the isolation level is `%`', current_setting('transaction_isolation') USING ERRCODE = 'ST002';
    END IF;

    -- Identity, and the holds to be settled: which cells they are of must be known before anything is locked.
    SELECT array_agg(b) INTO held FROM {schema}.batch AS b WHERE b.id = ANY (settles || batch_id || known);
    IF held IS NOT NULL THEN
        FOREACH hold IN ARRAY held LOOP
            IF hold.id = batch_id THEN
                reply := hold.reply;
                RETURN;
            END IF;
            found := found OR hold.id = known;
            IF hold.due IS NOT NULL AND hold.id = ANY (settles) THEN
                IF locks IS NULL OR NOT hold.locks <@ locks THEN
                    locks := ARRAY(SELECT DISTINCT l FROM unnest(locks || hold.locks) AS l ORDER BY l);
                END IF;
                FOR j IN 1 .. cardinality(hold.keys) LOOP
                    IF array_position(keys, hold.keys[j]) IS NULL THEN
                        keys := keys || hold.keys[j];
                        many := many + 1;
                    END IF;
                END LOOP;
            END IF;
        END LOOP;
    END IF;

    -- One order of locking for all batches. An even number is a lock of one's own, an odd one is shared.
    IF locks IS NOT NULL THEN
        FOREACH lock_id IN ARRAY locks LOOP
            IF lock_id & 1 = 0 THEN
                IF NOT pg_try_advisory_xact_lock(lock_id) THEN
                    PERFORM pg_advisory_xact_lock(lock_id);
                END IF;
            ELSIF NOT pg_try_advisory_xact_lock_shared(lock_id - 1) THEN
                PERFORM pg_advisory_xact_lock_shared(lock_id - 1);
            END IF;
        END LOOP;
    END IF;

    -- After locking, so that no batch sees an earlier time than one that it comes after.
    floor_ms := pg_sequence_last_value('{schema}.clock'::regclass);
    now_ms := greatest(coalesce(clock, (extract(epoch FROM clock_timestamp()) * 1000)::bigint), floor_ms);

    IF many > 0 THEN
        SELECT array_agg(coalesce(s.number, 0)), array_agg(s.keep), array_agg(s.width), array_agg(s.head),
            array_agg(s.live), array_agg(s.next_due), array_agg(s.ring::text), min(s.next_due)
        INTO numbers, keeps, widths, heads, lives, dues, rings, earliest
        FROM (
            SELECT c.number, c.keep, c.width, c.head, c.live, c.next_due, c.ring
            FROM unnest(keys) WITH ORDINALITY AS u (key, at)
            LEFT JOIN {schema}.cell AS c ON c.key = u.key AND c.touched + c.keep > now_ms
            ORDER BY u.at
        ) AS s;
        IF earliest <= now_ms THEN
            FOR permit IN SELECT p.key, p.amount, p.bucket FROM {schema}.permit AS p
                WHERE p.key = ANY (keys) AND p.due <= now_ms
            LOOP
                k := array_position(keys, permit.key);
                IF keeps[k] IS NOT NULL THEN
                    numbers[k] := numbers[k] - permit.amount;
                    IF permit.bucket > heads[k] - 16 AND permit.bucket <= heads[k] THEN
                        at := permit.bucket % 16 + 1;
                        ring := rings[k]::bigint[];
                        ring[at] := ring[at] - permit.amount;
                        rings[k] := ring::text;
                        lives[k] := lives[k] - permit.amount;
                    END IF;
                END IF;
            END LOOP;
        END IF;
        changed := array_fill(0::bigint, ARRAY[many]);
        made := array_fill(false, ARRAY[many]);
        news := array_fill(NULL::bytea, ARRAY[many]);
    END IF;

    -- Whoever wrote something half an hour ago finds it, unless it was lost: that long, and longer, everything is kept.
    IF given[8] >= 0 AND now_ms - given[8] < 1800000 THEN
        FOR i IN 0 .. least(cardinality(lines) / 13, 52) - 1 LOOP
            found := found AND (given[9] >> i & 1 = 0 OR keeps[lines[i * 13 + 1]] IS NOT NULL);
        END LOOP;
        IF NOT found THEN
            reply := ARRAY[now_ms, 3];
            RETURN;
        END IF;
    END IF;

    IF expects IS NOT NULL THEN
        FOR i IN 1 .. cardinality(expects) BY 3 LOOP
            k := expects[i];
            number := CASE WHEN k = 0 THEN now_ms ELSE numbers[k] END;
            IF number < expects[i + 1] OR number >= expects[i + 2] THEN
                before := before || k::bigint || number;
                fresh := fresh || (SELECT c.value FROM {schema}.cell AS c
                    WHERE k > 0 AND c.key = keys[k] AND keeps[k] IS NOT NULL);
            END IF;
        END LOOP;
        IF fresh IS NOT NULL THEN
            -- It may be this very batch, sent before, that changed what it expects.
            IF EXISTS (SELECT FROM {schema}.batch AS b WHERE b.id = batch_id) THEN
                RAISE EXCEPTION 'the batch was carried out meanwhile' USING ERRCODE = 'ST001';
            END IF;
            -- What a crash can take of this is the time that was told, nothing else.
            IF now_ms > floor_ms OR floor_ms IS NULL THEN
                PERFORM set_config('synchronous_commit', 'off', true), setval('{schema}.clock', now_ms);
            END IF;
            reply := ARRAY[now_ms, 2] || before;
            RETURN;
        END IF;
    END IF;

    IF settles IS NOT NULL THEN
        FOR i IN 1 .. cardinality(settles) LOOP
            outcome := 3;
            IF held IS NOT NULL THEN
                FOREACH hold IN ARRAY held LOOP
                    IF hold.id = settles[i] THEN
                        outcome := CASE
                            WHEN hold.due IS NULL OR hold.id = ANY (closed) THEN 1
                            WHEN hold.due <= now_ms THEN 2
                            ELSE 0
                        END;
                        EXIT;
                    END IF;
                END LOOP;
            END IF;
            settled := settled || outcome;
            IF outcome = 0 OR outcome = 2 THEN
                closed := closed || hold.id;
                closing := true;
                FOR j IN 1 .. cardinality(hold.keys) LOOP
                    at := 4 * j - 3;
                    amount := hold.took[at];
                    IF hold.took[at + 1] = 1 THEN
                        correction := actuals[5 * i - 4 + hold.took[at + 3]] - amount;
                    ELSIF outcome = 0 THEN
                        correction := -amount;
                        DELETE FROM {schema}.permit AS p
                        WHERE p.key = hold.keys[j] AND p.due = hold.due AND p.id = hold.id;
                    ELSE
                        correction := 0;
                    END IF;
                    k := array_position(keys, hold.keys[j]);
                    IF correction <> 0 AND keeps[k] IS NOT NULL THEN
                        numbers[k] := numbers[k] + correction;
                        bucket := hold.took[at + 2];
                        IF bucket > heads[k] - 16 AND bucket <= heads[k] THEN
                            at := bucket % 16 + 1;
                            ring := rings[k]::bigint[];
                            ring[at] := ring[at] + correction;
                            rings[k] := ring::text;
                            lives[k] := lives[k] + correction;
                        END IF;
                        changed[k] := 1;
                        changing := true;
                    END IF;
                END LOOP;
            END IF;
        END LOOP;
        IF 3 = ANY (settled) AND EXISTS (
            SELECT FROM {schema}.batch AS b WHERE b.id = ANY (settles) AND b.id <> ALL (
                SELECT o.id FROM unnest(held) AS o
            )
        ) THEN
            RAISE EXCEPTION 'a hold was taken meanwhile' USING ERRCODE = 'ST001';
        END IF;
    END IF;

    IF lines IS NOT NULL THEN
        FOR i IN 0 .. cardinality(lines) / 13 - 1 LOOP
            j := i * 13;
            k := lines[j + 1];
            number := 0;
            outcome := 0;
            IF stop >= 0 OR lines[j + 8] = ANY (stopped) THEN
                outcome := -1;
            ELSIF lines[j + 4] > 0 AND (SELECT max(s) FROM unnest(said[i - lines[j + 4] + 1 : i]) AS s) <> 1 THEN
                outcome := -2;
            ELSE
                IF lines[j + 7] <= 0 THEN
                    number := numbers[k];
                ELSIF heads[k] IS NOT NULL THEN
                    bucket := now_ms / lines[j + 7];
                    IF heads[k] < bucket THEN
                        ring := rings[k]::bigint[];
                        FOR gone IN 0 .. least(bucket - heads[k], 16) - 1 LOOP
                            at := (bucket - gone) % 16 + 1;
                            lives[k] := lives[k] - ring[at];
                            ring[at] := 0;
                        END LOOP;
                        rings[k] := ring::text;
                        heads[k] := bucket;
                    END IF;
                    number := lives[k];
                END IF;
                amount := given[3 + lines[j + 2]];
                IF number + amount > lines[j + 10] THEN
                    FOR at IN lines[j + 11] .. lines[j + 12] BY 2 LOOP
                        IF number + amount > bands[at] THEN
                            outcome := greatest(outcome, bands[at + 1]);
                        END IF;
                    END LOOP;
                    spoke := spoke OR outcome > 0;
                END IF;
            END IF;
            before[i + 1] := number;
            said[i + 1] := outcome;
            IF outcome > ceiling THEN
                IF lines[j + 8] > 0 THEN
                    refused := refused || lines[j + 8];
                    IF outcome >= 7 THEN
                        stopped := stopped || lines[j + 8];
                    END IF;
                ELSE
                    go := false;
                    IF outcome >= 7 THEN
                        stop := i;
                    END IF;
                END IF;
            END IF;
        END LOOP;

        FOR i IN 0 .. cardinality(lines) / 13 - 1 LOOP
            j := i * 13;
            amount := given[3 + lines[j + 2]];
            IF amount <> 0 AND said[i + 1] >= 0 AND (
                lines[j + 3] = 1 OR lines[j + 3] = 2 AND go AND lines[j + 8] <> ALL (refused)
            ) THEN
                k := lines[j + 1];
                IF keeps[k] IS NULL THEN
                    keeps[k] := lines[j + 9];
                    made[k] := true;
                    making := true;
                ELSIF keeps[k] < lines[j + 9] THEN
                    keeps[k] := lines[j + 9];
                END IF;
                IF lines[j + 7] < 0 THEN
                    number := 2 * greatest(numbers[k], 1) - lines[j + 7] % 2;
                    amount := 1::bigint << (-lines[j + 7] / 2)::integer;
                    numbers[k] := CASE WHEN number < 2 * amount THEN number ELSE number % amount + amount END;
                ELSE
                    numbers[k] := numbers[k] + amount;
                END IF;
                changed[k] := 2;
                changing := true;
                bucket := -1;
                IF lines[j + 7] > 0 THEN
                    bucket := now_ms / lines[j + 7];
                    IF heads[k] IS NULL THEN
                        ring := array_fill(0::bigint, ARRAY[16]);
                        heads[k] := bucket;
                        lives[k] := 0;
                        widths[k] := lines[j + 7];
                    ELSE
                        ring := rings[k]::bigint[];
                    END IF;
                    at := bucket % 16 + 1;
                    ring[at] := ring[at] + amount;
                    rings[k] := ring::text;
                    lives[k] := lives[k] + amount;
                END IF;
                IF lines[j + 5] > 0 THEN
                    took_keys := took_keys || keys[k];
                    took := took || ARRAY[amount, lines[j + 6], bucket, lines[j + 2]];
                    took_locks := took_locks || lines[j + 13];
                    longest := greatest(longest, lines[j + 5]);
                    IF lines[j + 6] = 0 THEN
                        permits := permits || ARRAY[k, amount, bucket];
                    END IF;
                END IF;
            END IF;
        END LOOP;
    END IF;

    IF puts IS NOT NULL THEN
        FOR i IN 0 .. cardinality(puts) / 5 - 1 LOOP
            j := i * 5;
            IF (go AND puts[j + 4] <> ALL (refused) OR puts[j + 2] = 1) AND (stop < 0 OR puts[j + 3] <= stop) THEN
                k := puts[j + 1];
                IF keeps[k] IS NULL THEN
                    keeps[k] := puts[j + 5];
                    made[k] := true;
                    making := true;
                END IF;
                numbers[k] := numbers[k] + 1;
                news[k] := records[i + 1];
                changed[k] := 2;
                changing := true;
            END IF;
        END LOOP;
    END IF;

    IF making THEN
        DELETE FROM {schema}.permit AS p USING unnest(keys, made) AS u (key, made) WHERE p.key = u.key AND u.made;
    END IF;
    IF permits IS NOT NULL THEN
        FOR i IN 1 .. cardinality(permits) BY 3 LOOP
            k := permits[i];
            dues[k] := least(dues[k], now_ms + longest);
            INSERT INTO {schema}.permit (due, amount, bucket, key, id)
            VALUES (now_ms + longest, permits[i + 1], permits[i + 2], keys[k], batch_id);
        END LOOP;
    END IF;

    IF earliest <= now_ms THEN
        FOR k IN 1 .. many LOOP
            IF changed[k] > 0 AND dues[k] <= now_ms THEN
                DELETE FROM {schema}.permit AS p WHERE p.key = keys[k] AND p.due <= now_ms;
                dues[k] := (SELECT min(p.due) FROM {schema}.permit AS p WHERE p.key = keys[k]);
            END IF;
        END LOOP;
    END IF;

    IF changing THEN
        UPDATE {schema}.cell AS c
        SET number = u.number,
            touched = CASE WHEN u.changed = 2 THEN now_ms ELSE c.touched END,
            keep = u.keep,
            width = u.width,
            head = u.head,
            live = u.live,
            next_due = u.due,
            ring = u.ring::bigint[],
            value = coalesce(u.value, c.value)
        FROM unnest(keys, numbers, keeps, widths, heads, lives, dues, rings, news, changed, made)
            AS u (key, number, keep, width, head, live, due, ring, value, changed, made)
        WHERE c.key = u.key AND u.changed > 0 AND NOT u.made;
    END IF;
    IF making THEN
        INSERT INTO {schema}.cell (key, number, touched, keep, width, head, live, next_due, ring, value)
        SELECT u.key, u.number, now_ms, u.keep, u.width, u.head, u.live, u.due, u.ring::bigint[], u.value
        FROM unnest(keys, numbers, keeps, widths, heads, lives, dues, rings, news, made)
            AS u (key, number, keep, width, head, live, due, ring, value, made)
        WHERE u.made
        ON CONFLICT (key) DO UPDATE
        SET number = excluded.number, touched = excluded.touched, keep = excluded.keep, width = excluded.width,
            head = excluded.head, live = excluded.live, next_due = excluded.next_due, ring = excluded.ring,
            value = excluded.value;
    END IF;
    IF closing THEN
        UPDATE {schema}.batch AS b SET at = now_ms, due = NULL, keys = NULL, took = NULL, locks = NULL
        WHERE b.id = ANY (closed) AND b.due IS NOT NULL;
        GET DIAGNOSTICS at = ROW_COUNT;
        IF at <> cardinality(closed) THEN
            RAISE EXCEPTION 'a hold was settled meanwhile' USING ERRCODE = 'ST001';
        END IF;
    END IF;

    reply := ARRAY[now_ms, go::integer, cardinality(before), spoke::integer] || before
        || CASE WHEN spoke THEN said || settled ELSE settled END;
    INSERT INTO {schema}.batch (id, at, due, reply, keys, took, locks)
    VALUES (batch_id, now_ms, CASE WHEN took IS NOT NULL THEN now_ms + longest END, reply, took_keys, took, took_locks);
    IF now_ms > floor_ms OR floor_ms IS NULL THEN
        floor_ms := setval('{schema}.clock', now_ms);
    END IF;
END
$carry$;
