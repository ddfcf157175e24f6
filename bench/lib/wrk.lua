-- What `wrk` asks for: the requests of the file BENCH_REQUESTS in turn, a line each for the path, the body and the key that
-- is sent as apikey and as bearer (empty: those of the command line); the outcome as one line of JSON. Requests are formatted once, so that the client costs little of what is measured.
local formatted = {}
local at = 0

function init()
  wrk.headers['Host'] = wrk.host .. ':' .. wrk.port
  local lines = io.lines(os.getenv('BENCH_REQUESTS'))
  for path in lines do
    local body = lines()
    if body == '' then body = nil end
    local key = lines()
    if key ~= '' then
      wrk.headers['apikey'] = key
      wrk.headers['Authorization'] = 'Bearer ' .. key
    end
    formatted[#formatted + 1] = wrk.format(os.getenv('BENCH_METHOD'), path, wrk.headers, body)
  end
end

function request()
  at = at % #formatted + 1
  return formatted[at]
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"bytes":%d,"microseconds":%d,"p50":%f,"p99":%f,"failed":%d}',
    summary.requests, summary.bytes, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
