/**
 * Clients and the owner, who write to and read from a project while it moves. Each write has a number, and
 * acknowledged numbers are recorded.
 */
import { Client } from 'pg';
import { until } from './eventually';
import type { HttpClient } from './http-client';
import type { DatabaseAccess } from './owner-connection';

const NOTES = '/rest/v1/notes';

export class MoveLoad {
  readonly acknowledged: number[] = [];
  /** Answers that are neither a success nor 503 with Retry-After. */
  readonly faults: string[] = [];
  /** Longest times without a success, in milliseconds. */
  readonly longest = { write: 0, read: 0 };
  reads = 0;
  private next = 0;
  private stopped = false;
  private readonly last = { write: 0, read: 0 };
  private readonly loops: Promise<void>[] = [];
  private owner: Client | undefined;

  /** @param clients anonymous clients of one process or several */
  constructor(
    private readonly clients: readonly HttpClient[],
    private access: DatabaseAccess,
    private readonly pauseMs = 0,
  ) {}

  async start(): Promise<void> {
    this.last.write = this.last.read = performance.now();
    for (const client of this.clients) this.loops.push(this.write(client), this.read(client));
    this.loops.push(this.writeAsOwner());
  }

  /** Waits for that many further acknowledged writes. */
  async written(count: number): Promise<void> {
    const goal = this.acknowledged.length + count;
    await until(() => this.acknowledged.length >= goal, 60_000);
  }

  /** The owner's sessions end with a move; a client would then connect to the new server. */
  async restartOwner(access: DatabaseAccess): Promise<void> {
    this.access = access;
    await this.owner?.end().catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.owner?.end().catch(() => undefined);
    await Promise.all(this.loops);
  }

  private async write(client: HttpClient): Promise<void> {
    while (!this.stopped) {
      const id = (this.next += 1);
      await this.observe('write', async () => {
        const { status, headers, text } = await client.post(NOTES, { id, via: 'rest' });
        if (status === 201) this.acknowledged.push(id);
        return { status, headers, text, isGood: status === 201 };
      });
    }
  }

  private async read(client: HttpClient): Promise<void> {
    while (!this.stopped) {
      await this.observe('read', async () => {
        const { status, headers, text } = await client.get(`${NOTES}?limit=1`);
        if (status === 200) this.reads += 1;
        return { status, headers, text, isGood: status === 200 };
      });
    }
  }

  private async observe(
    kind: 'write' | 'read',
    request: () => Promise<{ status: number; headers: Headers; text: string; isGood: boolean }>,
  ): Promise<void> {
    try {
      const { status, headers, text, isGood } = await request();
      if (isGood) {
        const now = performance.now();
        this.longest[kind] = Math.max(this.longest[kind], now - this.last[kind]);
        this.last[kind] = now;
      } else if (status !== 503 || !Number(headers.get('retry-after')))
        this.faults.push(`${kind}: ${status} ${text}`);
    } catch (error) {
      this.onBroken(kind, error);
    }
    await new Promise((resolve) => setTimeout(resolve, this.pauseMs));
  }

  /** Throws for a broken connection; a test that kills processes replaces this function. */
  onBroken = (kind: string, error: unknown): void => {
    this.faults.push(`${kind}: ${String(error)}`);
  };

  /** Writes in one session, without regard to the move, until the session ends. */
  private async writeAsOwner(): Promise<void> {
    while (!this.stopped) {
      const { host, port, database, owner_role: user, owner_password: password } = this.access;
      const client = new Client({ host, port, database, user, password });
      client.on('error', () => undefined);
      try {
        await client.connect();
        this.owner = client;
        while (!this.stopped) {
          const id = (this.next += 1);
          await client.query(`insert into notes values ($1, 'owner')`, [id]);
          this.acknowledged.push(id);
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 50));
      } finally {
        await client.end().catch(() => undefined);
      }
    }
  }
}
