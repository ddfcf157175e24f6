/** A receiver of webhooks on loopback, which records requests by path and answers as the test sets. */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- bodies of the product under test
  readonly json: any;
}

type Answer = (response: ServerResponse, received: Received) => void;

export class WebhookReceiver {
  private readonly answers = new Map<string, Answer>();
  private readonly arrived = new Map<string, Received[]>();

  private constructor(
    private readonly server: Server,
    readonly host: string,
  ) {}

  static async start(): Promise<WebhookReceiver> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const receiver = new WebhookReceiver(server, `127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString('utf8');
        const received = { headers: request.headers, body, json: JSON.parse(body) as unknown };
        const path = request.url ?? '';
        const arrived = receiver.arrived.get(path);
        if (arrived) arrived.push(received);
        else receiver.arrived.set(path, [received]);
        const answer = receiver.answers.get(path);
        if (answer) answer(response, received);
        else response.end('thanks');
      });
    });
    return receiver;
  }

  url(path: string): string {
    return `http://${this.host}${path}`;
  }

  /** The requests to a path, in the order of arrival. */
  at(path: string): Received[] {
    return [...(this.arrived.get(path) ?? [])];
  }

  /** Sets the response for requests to the path; without `answer` resets it. */
  answer(path: string, answer?: Answer): void {
    if (answer) this.answers.set(path, answer);
    else this.answers.delete(path);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** The signature as in the specification of Standard Webhooks. */
export function signatureOf({ headers, body }: Received, secret: string): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const text = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  return `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
}
