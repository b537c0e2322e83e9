"""Every key of the mirror, and every script that runs on them: docs/reference/redis-keys.md.

Part of the hot ring. The brace part is constant for a project, so that all keys of one script lie in
one slot of a cluster. Core commands and plain types alone: Redis 6.2, Valkey 7.2 and later.

A posting is a u32: the line's number in the upper 20 bits, its share (``valor.recall.share``) in
4,095ths in the lower 12. A row is what recall needs of a line, little-endian: when it was made
(f64, unix seconds), importance (f64), place in the log's file (u64), length (u32), the first 8 bytes
of the sha384 of its bytes, the lengths of id and type (u16 each); then id, type and text in UTF-8.
"""

from __future__ import annotations

try:
    from _struct import unpack_from
except ImportError:  # not CPython
    from struct import unpack_from

FORMAT = "1"  # of everything below; another format has other keys, and the old ones expire
LIFE = 30 * 86_400  # seconds that a view outlives its checkout's last sync
LOAD_LIFE = 3_600  # and what a killed sync was loading

POSTING = 4  # bytes
SHARE_BITS = 12
SHARE_STEPS = 4_095
MOST_NUMBERS = 1 << 20  # line numbers that fit
ROW_HEAD = 40  # bytes before the id
DIGEST = 8


class Keys:
    """The keys of one checkout's view (``terms`` to ``meta``) and of its project (``strength``)."""

    __slots__ = ("embeddings", "forward", "ids", "lines", "meta", "strength", "terms")

    def __init__(self, project: str, view: str, load: str = "") -> None:
        base = f"valor:{{{project}}}:{FORMAT}:"
        home = f"{base}{view}:load-{load}:" if load else f"{base}{view}:"
        self.terms = home + "terms"  # hash: term -> its postings, ascending by number
        self.lines = home + "lines"  # hash: number -> row
        self.ids = home + "ids"  # hash: id -> number
        self.forward = home + "forward"  # hash: number -> the line's terms, one a line
        self.embeddings = home + "embeddings"  # hash: id -> model, dimension, half floats
        self.meta = home + "meta"  # hash: lines, next, stamp, state
        self.strength = base + "strength"  # hash: id -> what outcomes taught, 1 where nothing did

    @property
    def loaded(self) -> tuple[str, str, str, str]:
        """The keys that a rebuild loads under other names and then swaps."""
        return self.terms, self.lines, self.ids, self.forward


class Row:
    """A row, read. ``created`` is in unix seconds, ``offset`` and ``length`` are bytes of the log's file,
    ``digest`` tells these bytes from others, ``text`` is the summary in one line without secrets;
    ``references`` are the line's, once it was read in the file. Raises ValueError for bytes that are no
    row."""

    __slots__ = (
        *("created", "digest", "id", "importance", "length"),
        *("offset", "references", "text", "type"),
    )

    def __init__(self, raw: bytes) -> None:
        if len(raw) < ROW_HEAD:
            raise ValueError("no row")
        self.created, self.importance, self.offset, self.length, self.digest, long, kind = unpack_from(
            "<ddQI8sHH", raw
        )
        end = ROW_HEAD + long
        self.id = raw[ROW_HEAD:end].decode()
        self.type = raw[end : end + kind].decode()
        self.text = raw[end + kind :].decode()
        self.references: list[str] = []


# The line numbers with the most evidence, their evidence, score and row: ``valor.recall``, run where the
# postings lie. tests/test_mirror.py holds it to that. KEYS terms, lines, strength, meta.
RECALL = """
local a = ARGV
local bar, near, now = tonumber(a[1]), tonumber(a[2]), tonumber(a[3])
local before, limit = tonumber(a[4]), tonumber(a[5])
local divisor, common, never_common = tonumber(a[6]), tonumber(a[7]), tonumber(a[8])
local rare, always_rare, least_lines = tonumber(a[9]), tonumber(a[10]), tonumber(a[11])
local decay_rate, least_strength = tonumber(a[12]), tonumber(a[13])
local alone_share, alone_least = tonumber(a[14]), tonumber(a[15])
local types, told, at = {}, {}, 17
for i = 1, tonumber(a[16]) do types[a[at]] = tonumber(a[at + 1]); at = at + 2 end
for i = 1, tonumber(a[at]) do told[a[at + i]] = true end
at = at + tonumber(a[at]) + 1

local meta = redis.call('HMGET', KEYS[4], 'lines', 'stamp')
if not meta[1] then return false end
local lines = tonumber(meta[1])
local population = math.max(lines, least_lines)

local asked = {}
for i = at, #a, 2 do
  local holding = redis.call('HSTRLEN', KEYS[1], a[i]) / 4
  if holding > 0 and (holding <= never_common or holding <= common * lines) then
    local gain = tonumber(a[i + 1]) * math.log(1 + (population - holding + 0.5) / (holding + 0.5))
    asked[#asked + 1] = {holding, i, gain}
  end
end
table.sort(asked, function(x, y) if x[1] ~= y[1] then return x[1] < y[1] end return x[2] < y[2] end)

local sums, first, said = {}, #asked + 1, {}
for k, ask in ipairs(asked) do
  if ask[1] > always_rare and ask[1] > rare * lines then first = k; break end
  local postings, gain = redis.call('HGET', KEYS[1], a[ask[2]]), ask[3]
  local alone = ask[1] <= alone_least or ask[1] <= alone_share * lines
  for p = 1, #postings, 4 do
    local word = struct.unpack('<I4', postings, p)
    local share = word % 4096
    local number = (word - share) / 4096
    if alone then said[number] = true end
    sums[number] = (sums[number] or 0) + gain * (share / 4095)
  end
end

-- What could still reach the bar; the terms left only add to it.
local most, left, count = 0, {}, 0
for k = first, #asked do most = most + asked[k][3] end
for number, sum in pairs(sums) do
  if sum + most >= bar or said[number] then left[number] = sum; count = count + 1 end
end
for k = first, #asked do
  if count == 0 then break end
  local postings, gain, holding = redis.call('HGET', KEYS[1], a[asked[k][2]]), asked[k][3], asked[k][1]
  if count * 40 < holding then
    for number, sum in pairs(left) do
      local low, high = 0, holding - 1
      while low <= high do
        local middle = math.floor((low + high) / 2)
        local word = struct.unpack('<I4', postings, middle * 4 + 1)
        local share = word % 4096
        local found = (word - share) / 4096
        if found == number then left[number] = sum + gain * (share / 4095); break end
        if found < number then low = middle + 1 else high = middle - 1 end
      end
    end
  else
    for p = 1, #postings, 4 do
      local word = struct.unpack('<I4', postings, p)
      local share = word % 4096
      local number = (word - share) / 4096
      local sum = left[number]
      if sum then left[number] = sum + gain * (share / 4095) end
    end
  end
end

local best, rows = 0, {}
for number, sum in pairs(left) do
  if (sum >= bar or said[number]) and sum > 0 and (before or sum >= best * near) then
    if before then
      local row = redis.call('HGET', KEYS[2], number)
      if row and struct.unpack('<d', row) < before then rows[number] = row else sum = 0 end
    end
    if sum > best then best = sum end
  end
end
local enough = best * near
local found = {}
for number, sum in pairs(left) do
  if sum >= enough and (sum >= bar or said[number]) and sum > 0 and (not before or rows[number]) then
    local row = rows[number] or redis.call('HGET', KEYS[2], number)
    if row then
      local made, importance, _, _, _, long, kind = struct.unpack('<ddI8I4c8I2I2', row)
      local id, type = string.sub(row, 41, 40 + long), string.sub(row, 41 + long, 40 + long + kind)
      local strength = tonumber(redis.call('HGET', KEYS[3], id) or 1)
      if strength >= least_strength and not told[id] then
        local days = math.max((now - made) / 86400, 1)
        local factor = strength * days ^ (-(decay_rate / math.max(importance, 0.1))) * (types[type] or 1)
        found[#found + 1] = {sum / divisor, sum / divisor * factor, made, id, row}
      end
    end
  end
end
table.sort(found, function(x, y)
  if x[2] ~= y[2] then return x[2] > y[2] end
  if x[3] ~= y[3] then return x[3] > y[3] end
  return x[4] > y[4]
end)
local out = {meta[2], lines}
for i = 1, math.min(limit, #found) do
  out[#out + 1] = string.format('%.17g', found[i][1])
  out[#out + 1] = string.format('%.17g', found[i][2])
  out[#out + 1] = found[i][5]
end
return out
"""

# One step from a view to the next: all of it, or, where the view is not the one expected (its stamp is
# ARGV[1]), nothing and 0. KEYS terms, lines, ids, forward, meta, embeddings.
CHANGE = """
local a, at = ARGV, 3
if redis.call('HGET', KEYS[5], 'stamp') ~= a[1] then return 0 end
local function count() at = at + 1; return tonumber(a[at - 1]) end
for i = 1, count() do  -- a term: what leaves its postings, what joins them
  local term, cut, join = a[at], a[at + 1], a[at + 2]
  at = at + 3
  local postings = redis.call('HGET', KEYS[1], term) or ''
  if #cut > 0 then
    local gone, kept = {}, {}
    for p = 1, #cut, 4 do gone[struct.unpack('<I4', cut, p)] = true end
    for p = 1, #postings, 4 do
      local word = struct.unpack('<I4', postings, p)
      if not gone[(word - word % 4096) / 4096] then kept[#kept + 1] = string.sub(postings, p, p + 3) end
    end
    postings = table.concat(kept)
  end
  postings = postings .. join
  if #postings > 0 then redis.call('HSET', KEYS[1], term, postings) else redis.call('HDEL', KEYS[1], term) end
end
for key = 2, 4 do  -- lines, ids, forward
  for i = 1, count() do redis.call('HDEL', KEYS[key], a[at]); at = at + 1 end
  for i = 1, count() do redis.call('HSET', KEYS[key], a[at], a[at + 1]); at = at + 2 end
end
for i = 1, count() do redis.call('HDEL', KEYS[6], a[at]); at = at + 1 end
for i = 1, count() do redis.call('HSET', KEYS[5], a[at], a[at + 1]); at = at + 2 end
for _, key in ipairs(KEYS) do redis.call('EXPIRE', key, a[2]) end
return 1
"""

# A loaded view takes the place of the one there, at once. KEYS terms, lines, ids, forward as loaded; the
# same as they are to be; meta. ARGV life, then the fields of meta.
SWAP = """
for i = 1, 4 do
  redis.call('UNLINK', KEYS[i + 4])
  if redis.call('EXISTS', KEYS[i]) == 1 then
    redis.call('RENAME', KEYS[i], KEYS[i + 4])
    redis.call('EXPIRE', KEYS[i + 4], ARGV[1])
  end
end
redis.call('UNLINK', KEYS[9])
for i = 2, #ARGV, 2 do redis.call('HSET', KEYS[9], ARGV[i], ARGV[i + 1]) end
redis.call('EXPIRE', KEYS[9], ARGV[1])
return 1
"""
