/**
 * Reads and writes at a constant rate, and records the outcome of each. Only 2xx, and 503 with Retry-After, are
 * expected.
 */
import type { HttpAnswer, HttpClient } from './http-client';

const REQUESTS_PER_SECOND = 200;
/**
 * Limit of concurrent requests. A busy machine serves fewer requests than are sent, and this process is both
 * client and server. Without a limit, thousands of requests, each with a connection, would accumulate until
 * the kernel resets connections.
 */
const MAX_RUNNING = 100;

export class NumberLoad {
  readonly acknowledged: number[] = [];
  readonly wrong: string[] = [];
  unavailable = 0;
  served = 0;
  private next = 0;
  private readonly running = new Set<Promise<void>>();
  private readonly timer: NodeJS.Timeout;
  private readonly start = performance.now();
  private readonly client: HttpClient;

  /** @param client with the right to insert into the table `numbers`, whose column `n` is unique @param first number */
  constructor(
    client: HttpClient,
    private readonly first = 0,
  ) {
    // Not compared with the documents, which other requests do.
    this.client = client.unchecked();
    this.timer = setInterval(() => this.send(), 5);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.running);
  }

  /** @returns the acknowledged numbers that the table lacks */
  lostFrom(rows: readonly { readonly n: number }[]): number[] {
    const kept = new Set(rows.map(({ n }) => n));
    return this.acknowledged.filter((n) => !kept.has(n));
  }

  /** After a late timer, sends the missing requests, too. */
  private send(): void {
    const due = ((performance.now() - this.start) / 1_000) * REQUESTS_PER_SECOND;
    while (this.next < due) {
      const n = this.next++;
      if (this.running.size >= MAX_RUNNING) continue;
      const request = n % 2 === 0 ? this.write(this.first + n) : this.read();
      this.running.add(request);
      void request.finally(() => this.running.delete(request));
    }
  }

  private async write(n: number): Promise<void> {
    if (await this.isServed(this.client.post('/rest/v1/numbers', { n }))) this.acknowledged.push(n);
  }

  private async read(): Promise<void> {
    await this.isServed(this.client.get('/rest/v1/numbers?limit=1'));
  }

  private async isServed(request: Promise<HttpAnswer>): Promise<boolean> {
    try {
      return this.judge(await request);
    } catch (error) {
      this.wrong.push(`${String(error)}: ${String((error as Error).cause)}`);
      return false;
    }
  }

  private judge({ status, headers, text }: HttpAnswer): boolean {
    const isGood = status === 200 || status === 201;
    if (isGood) this.served += 1;
    else if (status === 503 && headers.has('retry-after')) this.unavailable += 1;
    else this.wrong.push(`${status} ${text}`);
    return isGood;
  }
}
