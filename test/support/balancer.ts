/**
 * A small load balancer: it checks /health/ready of each process, distributes requests to the ready processes in turn,
 * and never sends a request twice.
 */
import {
  Agent,
  createServer,
  get,
  request,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** Milliseconds between two probes of a process. */
export const PROBE_MS = 200;

interface Backend {
  readonly url: URL;
  readonly agent: Agent;
  isReady: boolean;
}

export class Balancer {
  private readonly backends: Backend[];
  private readonly timer: NodeJS.Timeout;
  private turn = 0;

  private constructor(
    private readonly server: Server,
    urls: readonly string[],
  ) {
    this.backends = urls.map((url) => ({
      url: new URL(url),
      agent: new Agent({ keepAlive: true, maxSockets: 100 }),
      isReady: true,
    }));
    this.timer = setInterval(() => this.backends.forEach(probe), PROBE_MS);
  }

  static async start(urls: readonly string[]): Promise<Balancer> {
    const holder: { self?: Balancer } = {};
    const server = createServer((incoming, outgoing) => holder.self?.forward(incoming, outgoing));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (holder.self = new Balancer(server, urls));
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Whether the process of that URL gets requests. */
  sendsTo(url: string): boolean {
    return this.backends.some((one) => one.isReady && one.url.origin === new URL(url).origin);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    for (const { agent } of this.backends) agent.destroy();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const ready = this.backends.filter(({ isReady }) => isReady);
    const backend = ready[(this.turn += 1) % ready.length];
    const fail = (error: Error): void => void outgoing.writeHead(502).end(String(error));
    if (!backend) return fail(new Error('no process is ready'));
    const { url, agent } = backend;
    const headers = { ...incoming.headers, connection: 'keep-alive' };
    const { method, url: path } = incoming;
    const sent = request({ host: url.hostname, port: url.port, agent, method, path, headers }, (answer) => {
      const { connection: _connection, 'keep-alive': _keepAlive, ...rest } = answer.headers;
      outgoing.writeHead(answer.statusCode ?? 502, rest);
      answer.pipe(outgoing);
    });
    sent.on('error', fail);
    incoming.pipe(sent);
  }
}

function probe(backend: Backend): void {
  const sent = get(new URL('/health/ready', backend.url), { timeout: 2_000, agent: false }, (answer) => {
    backend.isReady = answer.statusCode === 200;
    answer.resume();
  });
  sent.on('timeout', () => sent.destroy());
  sent.on('error', () => (backend.isReady = false));
}
