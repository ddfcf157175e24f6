/** An install whose embedded PostgreSQL crashes under load, and the load. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually';
import { HttpAnswer, HttpClient } from '../../support/http-client';
import { PlinthProcess } from '../../support/plinth-process';

const PASSWORD = 'correct horse';
const EMAIL = 'ada@example.com';
/** Recovery takes 0.5 to 2 seconds; the limit allows for slower machines. */
export const SERVES_AGAIN_MS = 30_000;

interface Project {
  readonly id: string;
  readonly slug: string;
  readonly anon_key: string;
  readonly service_role_key: string;
}

/** A request of each area that needs the database. */
type Ask = () => Promise<HttpAnswer>;

export class CrashingInstall {
  private constructor(
    readonly directory: string,
    readonly plinth: PlinthProcess,
    readonly project: Project,
  ) {}

  static async start(): Promise<CrashingInstall> {
    const directory = mkdtempSync(join(tmpdir(), 'plinth-restart-'));
    return CrashingInstall.of(directory, await PlinthProcess.start({ dataDir: directory }));
  }

  /** @param directory of the running install */
  static async of(directory: string, plinth: PlinthProcess): Promise<CrashingInstall> {
    const created = await plinth.admin.post('/admin/v1/projects', { name: 'Restart', plan: 'enterprise' });
    const install = new CrashingInstall(directory, plinth, created.body);
    await install.sql('create table numbers (n int primary key)');
    expect((await install.auth('signup')).status).toBe(201);
    return install;
  }

  get areas(): Record<string, Ask> {
    return {
      rest: () => this.service.get('/rest/v1/numbers?limit=1'),
      auth: () => this.auth('login'),
      storage: () => this.service.get(`/p/${this.project.slug}/storage/buckets`),
      admin: () => this.plinth.admin.get('/admin/v1/projects'),
    };
  }

  get service(): HttpClient {
    const key = this.project.service_role_key;
    return new HttpClient(this.plinth.baseUrl, { apikey: key, authorization: `Bearer ${key}` });
  }

  auth(path: string): Promise<HttpAnswer> {
    const client = new HttpClient(this.plinth.baseUrl, { apikey: this.project.anon_key });
    return client.post(`/v1/auth/${this.project.id}/${path}`, { email: EMAIL, password: PASSWORD });
  }

  async sql(query: string): Promise<unknown[]> {
    const { status, body } = await this.plinth.admin.post(`/admin/v1/projects/${this.project.id}/sql`, {
      query,
    });
    expect({ status, body }).toMatchObject({ status: 200 });
    return body.rows as unknown[];
  }

  get clusterDir(): string {
    return join(this.directory, 'data/postgres');
  }

  get postmaster(): number {
    return Number.parseInt(readFileSync(join(this.clusterDir, 'postmaster.pid'), 'utf8'), 10);
  }

  /** Process id of a backend that serves requests of the project. */
  async backend(): Promise<number> {
    const [row] = await this.sql(
      `select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
       and application_name = 'plinth' limit 1`,
    );
    return (row as { pid: number }).pid;
  }

  /** Waits until every area serves requests. @returns milliseconds */
  async servesAgain(limitMs = SERVES_AGAIN_MS): Promise<number> {
    const since = performance.now();
    for (const [area, ask] of Object.entries(this.areas)) {
      await eventually(async () => {
        if (this.plinth.child.exitCode !== null) throw new Error(`Plinth ended:\n${this.plinth.printed}`);
        const { status, text } = await ask();
        expect({ area, status, text }).toMatchObject({ status: 200 });
      }, limitMs);
    }
    return performance.now() - since;
  }

  /** Expects that the notifications of the catalog and of the registry arrive, and that a queued mail is sent. */
  async expectEverythingRecovered(): Promise<void> {
    const name = `made_at_${Date.now()}`;
    await this.sql(`create table ${name} as select generate_series(1, 3) as n`);
    const readsRows = (count: number): Promise<void> =>
      eventually(
        async () => expect((await this.service.get(`/rest/v1/${name}`)).body).toHaveLength(count),
        SERVES_AGAIN_MS,
      );
    await readsRows(3);
    const path = `/admin/v1/projects/${this.project.id}`;
    expect((await this.plinth.admin.patch(path, { settings: { max_rows: 2 } })).status).toBe(200);
    await readsRows(2);
    expect((await this.plinth.admin.patch(path, { settings: { max_rows: null } })).status).toBe(200);
    await this.sql(`drop table ${name}`);

    const before = this.mails;
    expect((await this.auth('reset-password')).status).toBe(200);
    await eventually(async () => expect(this.mails).toBeGreaterThan(before), 60_000);
    expect((await this.plinth.admin.post('/admin/v1/projects', { name: 'Another', slug: null })).status).toBe(
      201,
    );
  }

  private get mails(): number {
    const outbox = join(this.directory, 'data/mail');
    return existsSync(outbox) ? readdirSync(outbox).length : 0;
  }

  async end(): Promise<void> {
    await this.plinth.end('SIGTERM');
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Milliseconds between the requests of a client. */
const PAUSE_MS = 5;

/** Writes and reads continuously; expects 2xx, or 503 with Retry-After. */
export class CrashLoad {
  readonly acknowledged: number[] = [];
  readonly wrong: string[] = [];
  unavailable = 0;
  private next = 0;
  private stopped = false;
  private readonly running: Promise<void>[];

  constructor(private readonly install: CrashingInstall) {
    const areas = Object.values(install.areas);
    this.running = [...[1, 2, 3].map(() => this.write()), ...areas.map((ask) => this.read(ask))];
  }

  /** Resolves after 20 further acknowledged writes. */
  async progress(): Promise<void> {
    const before = this.acknowledged.length;
    const more = async (): Promise<void> => expect(this.acknowledged.length).toBeGreaterThan(before + 20);
    await eventually(more, SERVES_AGAIN_MS);
  }

  /** Stops the load, and expects that only good and unavailable responses came, and that every acknowledged row exists. */
  async expectNothingLost(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.running);
    expect(this.wrong).toEqual([]);
    const rows = (await this.install.sql('select n from numbers')) as { n: number }[];
    const kept = new Set(rows.map(({ n }) => n));
    expect(this.acknowledged.filter((n) => !kept.has(n))).toEqual([]);
  }

  private async write(): Promise<void> {
    while (!this.stopped) {
      const n = this.next++;
      const answer = await this.install.service.post('/rest/v1/numbers', { n });
      if (this.judge(answer)) this.acknowledged.push(n);
      await sleep(PAUSE_MS);
    }
  }

  private async read(ask: Ask): Promise<void> {
    while (!this.stopped) {
      this.judge(await ask());
      await sleep(PAUSE_MS);
    }
  }

  private judge({ status, headers, text }: HttpAnswer): boolean {
    const isGood = status === 200 || status === 201;
    if (status === 503 && headers.has('retry-after')) this.unavailable += 1;
    else if (!isGood) this.wrong.push(`${status} ${text}`);
    return isGood;
  }
}
