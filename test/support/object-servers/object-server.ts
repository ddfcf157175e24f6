/**
 * Base of the object storage servers for tests: a socket that can be closed and reopened, objects in memory, and faults on
 * demand. Each server implements its provider's API for the real SDK.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Content } from './content';

/** Bytes of a response that are written at a time. */
const SLICE = 65_536;

export interface Fault {
  /** Method of the requests that the fault affects. */
  readonly method?: string;
  /** Matched against the path and query string of a request. */
  readonly path?: RegExp;
  /** Number of requests that the fault affects; default: 1. */
  readonly times?: number;
  /** Responds with this status. */
  readonly status?: number;
  /** Closes the connection after this number of bytes of the request's body. */
  readonly resetRequestAfter?: number;
  /** Closes the connection after this number of bytes of the response's body. */
  readonly resetAnswerAfter?: number;
  /** Sends this number of bytes of the response's body, and then stalls. */
  readonly stallAnswerAfter?: number;
  /** Delay before the request is handled, in milliseconds. */
  readonly delay?: number;
}

export interface SeenRequest {
  readonly method: string;
  /** Path and query string. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** Thrown after a fault closed the connection, when no response is possible. */
export class BrokenOff extends Error {}

export abstract class ObjectServer {
  readonly requests: SeenRequest[] = [];
  /** Downloads whose client disconnected before the end. */
  abortedDownloads = 0;
  /** Bytes of objects that were sent. */
  sentBytes = 0;
  /** Every request whose number is a multiple of this one is refused, as busy services do now and then. */
  refuseEvery = Infinity;
  private arrived = 0;
  private readonly server: Server;
  private readonly faults: { fault: Fault; left: number }[] = [];
  private port = 0;

  constructor() {
    this.server = createServer((request, response) => void this.serve(request, response));
    this.server.keepAliveTimeout = 60_000;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts on the same port as before, if there was one. */
  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port;
  }

  /** Stops immediately and aborts running requests. The objects are kept. */
  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  fail(fault: Fault): void {
    this.faults.push({ fault, left: fault.times ?? 1 });
  }

  /** Number of faults that have not occurred yet. */
  get faultsLeft(): number {
    return this.faults.reduce((sum, { left }) => sum + left, 0);
  }

  /** Bytes of the bodies of all recorded requests. */
  get receivedBytes(): number {
    return this.requests.reduce((sum, { body }) => sum + body.length, 0);
  }

  /** Clears pending faults and the recorded requests. */
  reset(): void {
    this.faults.length = 0;
    this.requests.length = 0;
    this.abortedDownloads = 0;
    this.sentBytes = 0;
    this.refuseEvery = Infinity;
  }

  protected abstract answer(request: SeenRequest, response: ServerResponse, fault: Fault): Promise<void>;
  protected abstract refuse(response: ServerResponse, status: number): void;
  /** Handles the part of a body that arrived before its connection was closed. */
  protected abstract receivedInPart(request: SeenRequest): void;

  /** Sends bytes up to the limit that the fault sets. */
  protected async send(response: ServerResponse, content: Content, fault: Fault): Promise<void> {
    const limit = fault.resetAnswerAfter ?? fault.stallAnswerAfter;
    const closed = new Promise<void>((resolve) => response.once('close', resolve));
    void closed.then(() => {
      if (!response.writableFinished && limit === undefined) this.abortedDownloads += 1;
    });
    this.sentBytes += Math.min(content.size, limit ?? Infinity);
    if (limit === undefined) {
      // Writes in blocks, so that a disconnected client is detected.
      for (let at = 0; at < content.size && !response.destroyed; at += SLICE) {
        const written = [...content.part(at, at + SLICE - 1)].map((piece) => response.write(piece));
        if (written.at(-1)) continue;
        await Promise.race([new Promise((resolve) => response.once('drain', resolve)), closed]);
      }
      response.end();
      return;
    }
    const head = Buffer.concat([...content.part(0, limit - 1)]);
    await new Promise<void>((resolve) => response.write(head, () => resolve()));
    if (fault.resetAnswerAfter === undefined) return;
    await sleep(20);
    response.socket?.resetAndDestroy();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [method, path] = [request.method ?? '', request.url ?? ''];
    const fault = this.faultOf(method, path);
    try {
      if (fault.delay !== undefined) await sleep(fault.delay, undefined, { ref: false });
      const body = await this.read(request, fault);
      const seen = { method, path, headers: request.headers, body };
      this.requests.push(seen);
      if (fault.status !== undefined) this.refuse(response, fault.status);
      else await this.answer(seen, response, fault);
    } catch (error) {
      if (!(error instanceof BrokenOff)) response.destroy(error as Error);
    }
  }

  private async read(request: IncomingMessage, { resetRequestAfter }: Fault): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let size = 0;
    try {
      for await (const chunk of request) {
        chunks.push(chunk as Buffer);
        size += (chunk as Buffer).length;
        if (resetRequestAfter === undefined || size < resetRequestAfter) continue;
        request.socket.resetAndDestroy();
        break;
      }
    } catch {
      size = Infinity;
    }
    const body = Buffer.concat(chunks);
    if (size < (resetRequestAfter ?? Infinity)) return body;
    this.receivedInPart({
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body,
    });
    throw new BrokenOff();
  }

  private faultOf(method: string, path: string): Fault {
    this.arrived += 1;
    if (this.arrived % this.refuseEvery === 0) return { status: 503 };
    const found = this.faults.find(
      ({ fault, left }) =>
        left > 0 && (fault.method ?? method) === method && (fault.path?.test(path) ?? true),
    );
    if (!found) return {};
    found.left -= 1;
    return found.fault;
  }
}

/** Range of a `Range` header; null for the whole object. */
export function rangeOf(header: string | undefined, size: number): { start: number; end: number } | null {
  const match = /^bytes=(\d+)-(\d*)$/.exec(header ?? '');
  if (!match) return null;
  return { start: Number(match[1]), end: Math.min(match[2] ? Number(match[2]) : Infinity, size - 1) };
}
