-- Carries one batch out as the kernel's `carry_out` does. Everything is worked out on what was read and is written at
-- the end, so that an error leaves nothing behind. Numbers are doubles: exact below 2^53, refused from there.
--
-- KEYS  the holds with permits as they fall due; the tenant's own, its time and when the next of those is due; the
--       batch; one that was carried out before it; the batches to settle; the cells. All bear the tenant's hash tag, so they are in one slot. So do the keys
--       that only the server knows: of holds that are due, and of what a hold took.
--
-- Whoever sends a batch names one that it has seen carried out, when that was, and by their bits which lines' cells it
-- knows to be there. A server that lacks any of these has lost what it held: the answer is the time and a zero.
--
-- ARGV  the batch in numbers; how long a hold of it is remembered; the values to put.
--
-- A cell: kind, number, when it was touched, how long it is kept untouched. A window goes on with the width of its
-- buckets, the newest of them, what all hold, what the newest holds, the others; a record goes on with its value.
-- A batch: `d` and its answer; or `h` (holds spend) or `p` (holds permits, too), when it is due, its place among those
-- due at that time, the length of its answer, its answer, what it took. It has lapsed when it is due: spend stays charged
-- by itself, and permits are given back by whatever batch comes next.

local REMEMBER_MS, LAPSED_MS, WAITS = '3600000', '604800000', false
local COUNTER, WINDOW, RECORD, DONE, PERMITS, SPEND = 99, 119, 114, 100, 112, 104
local FOREVER, EXACT, KNOWN_MS = 4611686018427387904, 9007199254740992, 1800000
local keys = KEYS
local DUE, OWN, ID = keys[1], keys[2], keys[3]
local call, floor, sub, byte, pack, read = redis.call, math.floor, string.sub, string.byte, struct.pack, struct.unpack

-- Identity.
local got = call('MGET', unpack(keys, 2))
if got[2] then
  if WAITS and got[1] then call('SETRANGE', OWN, '0', got[1]) end
  if byte(got[2]) == DONE then return sub(got[2], 2) end
  return sub(got[2], 22, 21 + read('<I4', got[2], 18))
end

local batch = ARGV[1]
local now, since, cells, one, tokens, cost, api_calls, duration, go, ceiling, settles, expects, lines, puts, at =
  read('<ddddddddBBHHHH', batch)
local amounts = {one, tokens, cost, api_calls, duration}
local base = 3 + settles
local last, next_due = 0, FOREVER
if got[1] then last, next_due = read('<dd', got[1]) end
local was_due = next_due
local time = call('TIME')
local place = time[1] * 1000000 + time[2]
if now < 0 then now = floor(place / 1000) end
if now < last then now = last end
local knows = since >= 0 and now - since < KNOWN_MS
if knows and not got[3] then return {now, 0} end

-- Corrects what a line took, in the bucket it was taken in.
local changed, others, inexact, change
if settles > 0 or next_due <= now then
  change = function(name, amount, bucket)
    local where, raw
    for at = base + 2, #keys do
      if keys[at] == name then
        where = at - base - 1
        break
      end
    end
    if where then
      raw = got[base + where]
    else
      others = others or {}
      raw = others[name]
      if raw == nil then raw = call('GET', name) end
    end
    if not raw then return end
    local kind, number, touched, keep = read('<Bddd', raw)
    if touched + keep <= now then return end
    number = number + amount
    if number >= EXACT then inexact = name end
    local tail = sub(raw, 26)
    if kind == WINDOW and bucket >= 0 then
      local width, newest, live, current = read('<dddd', tail)
      if bucket == newest then
        tail = pack('<dddd', width, newest, live + amount, current + amount) .. sub(tail, 33)
      else
        for from = 33, #tail, 16 do
          local old, held = read('<dd', tail, from)
          if old == bucket then
            if old > newest - 16 then live = live + amount end
            tail = pack('<dddd', width, newest, live, current) .. sub(tail, 33, from - 1)
              .. pack('<dd', old, held + amount) .. sub(tail, from + 16)
          end
        end
      end
    end
    raw = pack('<Bddd', kind, number, touched, keep) .. tail
    if where then
      changed = changed or {}
      got[base + where], changed[where] = raw, true
    else
      others[name] = raw
    end
  end
end

-- Expiry: permits come back.
local lapsed
if next_due <= now then
  lapsed = call('ZRANGEBYLEX', DUE, '-', '(' .. pack('>d', now + 1))
  for number, member in ipairs(lapsed) do
    local name = sub(member, 17)
    local raw = call('GET', name) or ''
    local from = byte(raw) == PERMITS and 22 + read('<I4', raw, 18) or FOREVER
    while from <= #raw do
      local amount, keeps, bucket, _, key, after = read('<dBdBI4c0', raw, from)
      if keeps == 0 then change(key, -amount, bucket) end
      from = after
    end
    lapsed[number] = name
  end
  local first = call('ZRANGEBYLEX', DUE, '[' .. pack('>d', now + 1), '+', 'LIMIT', '0', '1')[1]
  next_due = first and read('>d', first) or FOREVER
end

-- Expectations.
local stale
for number = 1, expects do
  local value, raw = now, nil
  local where, lo, hi, after = read('<Hdd', batch, at)
  if where > 0 then
    value, raw = 0, got[base + where]
    if raw then
      local total, touched, keep = read('<ddd', raw, 2)
      if touched + keep > now then value = total else raw = nil end
    end
  end
  if value < lo or value >= hi then
    stale = stale or {now}
    stale[#stale + 1] = number
    stale[#stale + 1] = value
    stale[#stale + 1] = raw and byte(raw) == RECORD and sub(raw, 26) or false
  end
  at = after
end

local new, keeping, taken, longest, permits = {false, false, false, false}, {}, '', 0, false
local settled, reply, turned
if not stale then
  -- Settles.
  local words = ''
  for number = 1, settles do
    local name, raw = keys[4 + number], got[3 + number]
    settled = settled or {}
    if not raw then
      words = words .. '\167unknown'
    elseif settled[name] or byte(raw) == DONE then
      words = words .. '\165again'
    else
      local is_held = read('<d', raw, 2) > now
      words = words .. (is_held and '\167settled' or '\164late')
      settled[name] = raw
      local from = 22 + read('<I4', raw, 18)
      while from <= #raw do
        local amount, keeps, bucket, unit, key, after = read('<dBdBI4c0', raw, from)
        local correction = 0
        if keeps == 1 then
          correction = read('<d', batch, at + 8 * (unit - 1)) - amount
        elseif is_held then
          correction = -amount
        end
        if correction ~= 0 then change(key, correction, bucket) end
        from = after
      end
    end
    at = at + 40
  end
  if inexact then return redis.error_reply('INEXACT ' .. inexact) end

  -- Lines, judged and taken in one go; if anything was refused, taken once more as far as they may.
  local first_line = at + 15 * puts
  local values, said, stop, loud, judged = {0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0}, -1, false, false
  local refused, stopped, again
  go = go == 1
  repeat
    local from = first_line
    for number = 1, lines do
      local where, unit, when, follows, keeps, shadow, bands, hold_ms, width, idle, bands_at =
        read('<HBBHBHBddd', batch, from)
      from = bands_at + 9 * bands
      local amount, raw, outcome = amounts[unit], got[base + where], said[number]
      local kind, total, touched, keep = COUNTER, 0, 0, 0
      if knows and not judged and not raw and floor(cells / 2 ^ (number - 1)) % 2 == 1 then return {now, 0} end
      if raw then
        kind, total, touched, keep = read('<Bddd', raw)
        if touched + keep <= now then raw, kind, total, touched, keep = nil, COUNTER, 0, 0, 0 end
      end
      -- A register is told by the width of its window: less than nothing, its bits twice and the bit to push.
      local pushes, register = width < 0, -width
      if pushes then width = 0 end
      local bucket, newest, live, current = -1, nil, 0, 0
      if width > 0 then
        bucket = floor(now / width)
        if kind == WINDOW then newest, live, current = read('<ddd', raw, 34) end
      end
      if not judged then
        local value = 0
        outcome = 0
        if stop >= 0 or (stopped and stopped[shadow]) then
          outcome = -1
        elseif follows > 0 then
          local worst = -2
          for before = math.max(1, number - follows), number - 1 do
            if said[before] > worst then worst = said[before] end
          end
          if worst ~= 1 then outcome = -2 end
        end
        if outcome == 0 then
          if width == 0 then
            value = total
          elseif newest then
            if newest ~= bucket then
              local ring, young = sub(raw, 58) .. pack('<dd', newest, current), ''
              newest, live, current = bucket, 0, 0
              for entry = 1, #ring, 16 do
                local old, held = read('<dd', ring, entry)
                if old > bucket - 16 then live, young = live + held, young .. sub(ring, entry, entry + 15) end
              end
              raw = sub(raw, 1, 33) .. pack('<ddd', newest, live, current) .. young
              got[base + where] = raw
              turned = turned or {}
              turned[where] = true
            end
            value = live
          end
          for band = bands_at, from - 9, 9 do
            local limit, action = read('<dB', batch, band)
            if value + amount > limit and action > outcome then outcome = action end
          end
          if outcome > 0 then
            loud = true
            if outcome > ceiling and shadow > 0 then
              refused = refused or {}
              refused[shadow] = true
              stopped = stopped or {}
              stopped[shadow] = stopped[shadow] or outcome >= 7
            elseif outcome > ceiling then
              go = false
              if outcome >= 7 then stop = number - 1 end
            end
          end
        end
        values[2 * number - 1], values[2 * number], said[number] = 211, value, outcome
      end
      if amount ~= 0 and when > 0 and outcome >= 0
        and (not judged or when == 1 or (go and not (refused and refused[shadow]))) then
        if new[where] then
          raw = new[where]
          kind, total, touched, keep = read('<Bddd', raw)
          if kind == WINDOW then newest, live, current = read('<ddd', raw, 34) end
        end
        if pushes then
          local full = 2 ^ floor(register / 2)
          total = 2 * (total > 0 and total or 1) + register % 2
          if total >= 2 * full then total = total % full + full end
        else
          total = total + amount
        end
        if total >= EXACT or total <= -EXACT then inexact = keys[base + 1 + where] end
        if idle > keep then
          keep, keeping[where] = idle, idle
        elseif now - now % (keep / 4) ~= touched - touched % (keep / 4) then
          keeping[where] = keep
        end
        if width > 0 and kind ~= RECORD then
          new[where] = pack('<Bddddddd', WINDOW, total, now, keep, width, bucket, live + amount, current + amount)
            .. (kind == WINDOW and sub(raw, 58) or '')
        elseif kind == COUNTER then
          new[where] = pack('<Bddd', COUNTER, total, now, keep)
        else
          new[where] = pack('<Bddd', kind, total, now, keep) .. sub(raw, 26)
        end
        if hold_ms > 0 then
          local name = keys[base + 1 + where]
          taken = taken .. pack('<dBdBI4c0', amount, keeps, bucket, unit, #name, name)
          if hold_ms > longest then longest = hold_ms end
          permits = permits or keeps == 0
        end
      end
    end
    again = not judged and (refused or not go)
    judged = true
    if again then new, keeping, taken, longest, permits, inexact = {}, {}, '', 0, false, nil end
  until not again

  -- Puts.
  for number = 1, puts do
    local where, when, before, shadow, keep, after = read('<HBHHd', batch, at)
    if (when == 1 or (go and not (refused and refused[shadow]))) and (stop < 0 or before <= stop) then
      local raw, version = new[where] or got[base + where], nil
      if raw then
        local number, touched, kept = read('<ddd', raw, 2)
        if touched + kept > now then
          version, keep = number, kept
          if now - now % (keep / 4) ~= touched - touched % (keep / 4) then keeping[where] = keep end
        end
      end
      if not version then version, keeping[where] = 0, keep end
      new[where] = pack('<Bddd', RECORD, version + 1, now, keep) .. ARGV[2 + number]
    end
    at = after
  end
  if inexact then return redis.error_reply('INEXACT ' .. inexact) end

  reply = pack('>BBi8BBBH', 150, 211, now, 194, go and 195 or 194, 220, lines)
  if lines > 0 then reply = reply .. pack('>' .. string.rep('Bi8', lines), unpack(values, 1, 2 * lines)) end
  if loud then
    reply = reply .. pack('>BH', 220, lines) .. pack(string.rep('b', lines), unpack(said, 1, lines))
  else
    reply = reply .. '\144'
  end
  reply = reply .. pack('>BH', 220, settles) .. words
end

-- Nothing was written so far.
if lapsed then
  call('ZREMRANGEBYLEX', DUE, '-', '(' .. pack('>d', now + 1))
  for _, name in ipairs(lapsed) do call('PEXPIRE', name, LAPSED_MS) end
end
if longest > 0 then
  local due = now + longest
  local held = pack('<BddI4', permits and PERMITS or SPEND, due, place, #reply) .. reply .. taken
  if permits then
    if due < next_due then next_due = due end
    call('ZADD', DUE, '0', pack('>dd', due, place) .. ID)
    call('SET', ID, held)
  else
    call('SET', ID, held, 'PX', ARGV[2])
  end
elseif reply then
  call('SET', ID, 'd' .. reply, 'PX', REMEMBER_MS)
end
if settled then
  for name, raw in pairs(settled) do
    local due, place_then, length = read('<ddI4', raw, 2)
    if byte(raw) == PERMITS and due > now then call('ZREM', DUE, pack('>dd', due, place_then) .. name) end
    call('SET', name, 'd' .. sub(raw, 22, 21 + length), 'PX', REMEMBER_MS)
  end
end
for where = 1, #keys - base - 1 do
  local name, raw, keep, before = keys[base + 1 + where], new[where], keeping[where], got[base + where]
  if not raw and changed and changed[where] then raw = before end
  if raw and keep then
    if keep < FOREVER then
      call('SET', name, raw, 'PX', keep + floor(keep / 4) + 60000)
    else
      call('SET', name, raw)
    end
  elseif raw and (#raw ~= #before or (turned and turned[where])) then
    call('SET', name, raw, 'KEEPTTL')
  elseif raw then
    call('SETRANGE', name, '0', raw)
  end
end
if others then
  for name, raw in pairs(others) do call('SETRANGE', name, '0', raw) end
end
if now ~= last or next_due ~= was_due then call('SETRANGE', OWN, '0', pack('<dd', now, next_due)) end
return stale or reply
