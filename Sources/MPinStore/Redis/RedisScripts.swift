/// The scripts that change items. A server runs each as a whole, and nothing else meanwhile.
///
/// An item is kept as 8 bytes for its expiry (microseconds since 1970, big-endian; the largest number: never) and its
/// value. The server deletes it by its own clock some time after that; whether it has expired, the caller says.
enum RedisScript: String, CaseIterable {
    /// Makes blind writes (``BlindWrite``). The first argument is the caller's time. Then come a letter for each write,
    /// and what it needs. Returns for each write the number of the key that it has touched, or 0, and the item.
    case write = """
        local now, nextKey, nextArgument, results = tonumber(ARGV[1]), 0, 1, {}
        local function key() nextKey = nextKey + 1 return KEYS[nextKey] end
        local function argument() nextArgument = nextArgument + 1 return ARGV[nextArgument] end
        local function live(key)
            local item = redis.call('GET', key)
            return item and struct.unpack('>i8', item) > now and item
        end
        local function store(key, item, milliseconds)
            if milliseconds == '0' then redis.call('SET', key, item)
            else redis.call('SET', key, item, 'PX', milliseconds) end
            return item
        end
        local function begins(item, bytes) return string.sub(item, 9, 8 + #bytes) == bytes end
        local never = '\\127' .. string.rep('\\255', 7)
        local writes = {}
        function writes.put() return 1, store(key(), argument(), argument()) end
        function writes.append()
            local key, bytes = key(), argument()
            local item = live(key)
            if not item then return 0 end
            redis.call('APPEND', key, bytes)
            return 1, item .. bytes
        end
        function writes.appendOrPut()
            local key, bytes, otherwise, milliseconds = key(), argument(), argument(), argument()
            local item = live(key)
            if item then otherwise = string.sub(otherwise, 1, 8) .. string.sub(item, 9) .. bytes end
            return 1, store(key, otherwise, milliseconds)
        end
        function writes.appendOrFill()
            local own, slot, bytes, beginning, first = key(), key(), argument(), argument(), argument()
            local item, place = live(own), 1
            if not item then
                item, place = live(slot), 2
                if item and not begins(item, beginning) then item = false end
            end
            return place, store(place == 1 and own or slot, never .. (item and string.sub(item, 9) or first) .. bytes, '0')
        end
        function writes.replace()
            local key, old, new = key(), argument(), argument()
            local item = live(key)
            if not item or string.sub(item, 9) ~= old then return 0 end
            item = string.sub(item, 1, 8) .. new
            redis.call('SET', key, item, 'KEEPTTL')
            return 1, item
        end
        function writes.take()
            local key, beginning = key(), argument()
            local item = live(key)
            if not item or not begins(item, beginning) then return 0 end
            redis.call('DEL', key)
            return 1, item
        end
        function writes.look()
            local item = live(key())
            return item and 1 or 0, item
        end
        while nextArgument < #ARGV do
            local place, item = writes[argument()]()
            results[#results + 1] = place
            results[#results + 1] = item or ''
        end
        return results
        """

    /// Changes items if all of them are what the caller has read. For each key there are three arguments: the old item, the
    /// new one, and the milliseconds until the server may delete it. An item that does not exist is empty. With "-" for
    /// the milliseconds the item stays. Returns whether the items were changed.
    case change = """
        local found = redis.call('MGET', unpack(KEYS))
        for number = 1, #KEYS do
            if (found[number] or '') ~= ARGV[3 * number - 2] then return 0 end
        end
        for number = 1, #KEYS do
            local key, item, milliseconds = KEYS[number], ARGV[3 * number - 1], ARGV[3 * number]
            if milliseconds ~= '-' then
                if item == '' then redis.call('DEL', key)
                elseif milliseconds == '0' then redis.call('SET', key, item)
                else redis.call('SET', key, item, 'PX', milliseconds) end
            end
        end
        return 1
        """

    /// Deletes items that have expired at the time in the first argument, at most as many as the second says. Returns
    /// their number.
    case collect = """
        local count = 0
        for _, key in ipairs(KEYS) do
            local expiry = redis.call('GETRANGE', key, 0, 7)
            if count < tonumber(ARGV[2]) and #expiry == 8 and struct.unpack('>i8', expiry) <= tonumber(ARGV[1]) then
                redis.call('DEL', key)
                count = count + 1
            end
        end
        return count
        """

    /// Adds requests to buckets. For each key there are four arguments: the microseconds in which it regains a request,
    /// the number of requests, the most microseconds after which it is full again, and the least before the requests are
    /// added. Returns the microseconds until each bucket is full.
    case count = """
        local time, results = redis.call('TIME'), {}
        local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
        for number, key in ipairs(KEYS) do
            local interval, count, most, known =
                tonumber(ARGV[4 * number - 3]), tonumber(ARGV[4 * number - 2]), tonumber(ARGV[4 * number - 1]),
                tonumber(ARGV[4 * number])
            local full = math.max(tonumber(redis.call('GET', key) or '0'), now + known) + interval * count
            local left = math.min(full - now, most)
            redis.call('SET', key, string.format('%.0f', now + left), 'PX', math.ceil(left / 1000) + 1)
            results[number] = left
        end
        return results
        """
}
