-- wrk script: POSTs the bodies named in the arguments in turn, as a kube-apiserver does, and prints one line of figures:
--   RESULT <requests> <microseconds> <p50 us> <p99 us> <failed>
local requests = {}
local turn = 0

function init(arguments)
  for _, name in ipairs(arguments) do
    local file = assert(io.open(name, "rb"))
    local headers = {
      ["User-Agent"] = "kube-apiserver-admission",
      ["Content-Type"] = "application/json",
      ["Accept"] = "application/json, */*",
      ["Accept-Encoding"] = "gzip",
    }
    requests[#requests + 1] = wrk.format("POST", "/mutate?timeout=10s", headers, file:read("*a"))
    file:close()
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format("RESULT %d %d %d %d %d\n", summary.requests, summary.duration, latency:percentile(50),
    latency:percentile(99), failed))
end
