-- What `wrk` asks for: the paths of the file BENCH_PATHS, one a line, in turn; the outcome as one line of JSON on stderr.
-- Requests are formatted once, so that the client costs little of what is measured.
local formatted = {}
local at = 0

function init()
  local body = os.getenv('BENCH_BODY')
  for path in io.lines(os.getenv('BENCH_PATHS')) do
    formatted[#formatted + 1] = wrk.format(os.getenv('BENCH_METHOD'), path, wrk.headers, body)
  end
end

function request()
  at = at % #formatted + 1
  return formatted[at]
end

function done(summary, latency)
  local errors = summary.errors
  io.stderr:write(string.format(
    '{"requests":%d,"bytes":%d,"microseconds":%d,"p50":%f,"p99":%f,"failed":%d}\n',
    summary.requests, summary.bytes, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
