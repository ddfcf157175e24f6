/** Reads server-sent events of a response that stays open. */
import { HttpClient } from './http-client';

export interface ServerEvent {
  readonly event: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- answers of the product under test
  readonly data: any;
}

export class EventReader {
  readonly events: ServerEvent[] = [];
  /** Resolves with true when the server ended the response, with false when the connection broke. */
  readonly ended: Promise<boolean>;
  private readonly abort = new AbortController();

  private constructor(
    readonly status: number,
    readonly headers: Headers,
    body: ReadableStream<Uint8Array> | null,
    abort: AbortController,
  ) {
    this.abort = abort;
    this.ended = this.read(body).then(
      () => true,
      () => false,
    );
  }

  /** Resolves when the head of the response has arrived. */
  static async open({ baseUrl, headers }: HttpClient, path: string): Promise<EventReader> {
    const abort = new AbortController();
    const response = await fetch(baseUrl + path, { headers, signal: abort.signal });
    return new EventReader(response.status, response.headers, response.body, abort);
  }

  of(event: string): ServerEvent['data'][] {
    return this.events.filter((one) => one.event === event).map(({ data }) => data as unknown);
  }

  async close(): Promise<void> {
    this.abort.abort();
    await this.ended;
  }

  private async read(body: ReadableStream<Uint8Array> | null): Promise<void> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) this.take(block);
    }
  }

  private take(block: string): void {
    const [, event] = /^event: (.+)$/m.exec(block) ?? [];
    const [, data] = /^data: (.+)$/m.exec(block) ?? [];
    if (event !== undefined) this.events.push({ event, data: JSON.parse(data ?? 'null') as unknown });
  }
}
