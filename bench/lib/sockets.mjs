// A process that holds many WebSockets of realtime, and measures when messages arrive. The parent sends the work as messages:
//   {open: {url, tokens, channels, count}}   opens `count` sockets; socket n joins channels[n % channels.length] with tokens[n % tokens.length]
//   {idle: {url, count}}                     opens sockets that join nothing
//   {take: true}                             returns what has arrived since the last time
import WebSocket from 'ws';

/** Sockets that open at the same time. */
const CONCURRENCY = 50;
const HEARTBEAT_MS = 25_000;

const sockets = [];
/** Milliseconds from the commit to the arrival of each change, and the arrivals of each commit. */
let latencies = [];
let arrivals = new Map();

/** The wall clock in milliseconds, with microseconds: that of PostgreSQL's commit timestamps. */
const now = () => performance.timeOrigin + performance.now();

const WORK = {
  async open({ url, tokens, channels, count }) {
    await each(count, (n) => open(url, channels[n % channels.length], tokens[n % tokens.length]));
  },
  async idle({ url, count }) {
    await each(count, () => open(url));
  },
  async take() {
    const taken = { latencies, spreads: [...arrivals.values()].map(({ count, last }) => ({ count, last })) };
    [latencies, arrivals] = [[], new Map()];
    return taken;
  },
};

async function each(count, action) {
  let next = 0;
  const worker = async () => {
    while (next < count) await action(next++);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

function open(url, config, token) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    sockets.push(socket);
    socket.once('error', reject);
    socket.once('close', (code, reason) => reject(new Error(`closed with ${code}: ${reason}`)));
    socket.once('open', () => {
      if (!config) return resolve();
      const payload = { config: { postgres_changes: [config] }, access_token: token };
      socket.send(JSON.stringify(['1', '1', 'realtime:bench', 'phx_join', payload]));
    });
    socket.on('message', (data) => receive(data.toString(), resolve, reject));
  });
}

function receive(text, onSubscribed, onRefused) {
  const at = now();
  const commit = /"commit_timestamp":"([^"]+)"/.exec(text);
  if (commit) {
    // Date.parse() cuts to milliseconds.
    const micros = Number(/\.\d{3}(\d{1,3})/.exec(commit[1])?.[1].padEnd(3, '0') ?? 0);
    const latency = at - (Date.parse(commit[1]) + micros / 1_000);
    latencies.push(latency);
    const { count } = arrivals.get(commit[1]) ?? { count: 0 };
    arrivals.set(commit[1], { count: count + 1, last: latency });
  } else if (/"system".*"status":"ok"/.test(text)) onSubscribed();
  else if (/"status":"error"/.test(text)) onRefused(new Error(text));
}

setInterval(() => {
  for (const socket of sockets) socket.send(JSON.stringify([null, '2', 'phoenix', 'heartbeat', {}]));
}, HEARTBEAT_MS);

process.on('message', (message) => {
  const [[name, given]] = Object.entries(message);
  WORK[name](given).then(
    (result) => process.send({ result: result ?? null }),
    (error) => process.send({ error: error.message }),
  );
});
