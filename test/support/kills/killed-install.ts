/**
 * Repeated kill -9 while an install works. Works run at the same time until the process has ended. After the
 * next start, each work verifies that nothing acknowledged is lost and nothing is left half done.
 */
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tuning } from '../../../src/config/tuning';
import { until } from '../eventually';
import { IN_SOAK } from '../extent';
import { type HttpAnswer, HttpClient } from '../http-client';
import type { TestProvider } from '../object-servers/object-stores';
import { PlinthProcess } from '../plinth-process';
import { upload } from '../uploads';

/** Maximum number of acknowledgements after which a process is killed. */
const MAX_ACKNOWLEDGED = IN_SOAK ? 120 : 50;
const ACKNOWLEDGED_MS = 120_000;

export interface KilledProject {
  readonly id: string;
  readonly slug: string;
  readonly anon_key: string;
  readonly service_role_key: string;
}

export const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** The target of killOften(): an install, or the upgrade of an install. */
interface Killed {
  start(tuning?: Partial<Tuning>): Promise<void>;
  kill(): Promise<void>;
  /** Kills the embedded PostgreSQL. */
  killDatabase?(): void;
}

export class KilledInstall implements Killed {
  private running: PlinthProcess | undefined;

  /** @param provider the provider of files; default: the data directory */
  constructor(
    readonly directory: string,
    private readonly environment: Record<string, string> = {},
    private readonly provider: TestProvider | null = null,
  ) {
    mkdirSync(directory, { recursive: true });
  }

  async start(tuning: Partial<Tuning> = {}): Promise<void> {
    const env = { ...this.provider?.env, ...this.environment };
    this.running = await PlinthProcess.start({ dataDir: this.directory, env, tuning });
  }

  /** @returns the exit code */
  async stop(): Promise<number | null> {
    return (await this.running?.end('SIGTERM')) ?? null;
  }

  get plinth(): PlinthProcess {
    if (!this.running) throw new Error('the install was not started');
    return this.running;
  }

  get admin(): HttpClient {
    return this.plinth.admin;
  }

  /** A client with the project's service-role key. */
  service({ service_role_key: key }: KilledProject): HttpClient {
    return new HttpClient(this.plinth.baseUrl, { apikey: key, authorization: `Bearer ${key}` });
  }

  async create(name: string, more: object = {}): Promise<KilledProject> {
    const answer = await this.admin.post('/admin/v1/projects', { name, plan: 'enterprise', ...more });
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
    return answer.body;
  }

  /** Runs SQL as the owner of a project. */
  sql(id: string, query: string): Promise<HttpAnswer> {
    return this.admin.post(`/admin/v1/projects/${id}/sql`, { query });
  }

  /** Gives a project a table `notes`, and a bucket with files. @returns the digests of the files by id */
  async fill(project: KilledProject, rows: number, files: number): Promise<Map<string, string>> {
    const notes = `create table notes as select n, md5(n::text) from generate_series(1, ${rows}) n`;
    expect((await this.sql(project.id, notes)).status).toBe(200);
    const storage = `/p/${project.slug}/storage`;
    const service = this.service(project);
    await service.post(`${storage}/buckets`, { name: 'box' });
    const digests = new Map<string, string>();
    for (let n = 0; n < files; n += 1) {
      const content = randomBytes(1_500_000);
      const { status, body } = await upload(service, storage, 'box', content, { name: `${n}.bin` });
      expect(status).toBe(201);
      digests.set(body.data.id as string, sha256(content));
    }
    return digests;
  }

  /** The databases and roles of a project, as another project on the same server sees them. */
  async databaseObjectsOf(id: string, witness: { readonly id: string }): Promise<unknown[]> {
    const names = `select datname as name from pg_database where strpos(datname, '${id}') > 0
      union all select rolname from pg_roles where strpos(rolname, '${id}') > 0`;
    return (await this.sql(witness.id, names)).body.rows as unknown[];
  }

  /** Stored bytes of a project's files, whether or not they have rows. */
  objectsOf(id: string): string[] {
    if (!this.provider) return this.filesIn(`files/${id}`);
    return this.provider.names().filter((name) => name.startsWith(`${id}/`));
  }

  /** Files below a folder of the data directory. */
  filesIn(folder: string): string[] {
    const path = join(this.directory, 'data', folder);
    if (!existsSync(path)) return [];
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  }

  async kill(): Promise<void> {
    await this.plinth.end('SIGKILL');
  }

  killDatabase(): void {
    const [pid] = readFileSync(join(this.directory, 'data/postgres/postmaster.pid'), 'utf8').split('\n');
    process.kill(Number(pid), 'SIGKILL');
  }
}

/** A kind of work that an installation does until it is killed. */
export interface Work {
  /** Number of operations that were acknowledged so far; null for a work that a kill does not wait for. */
  readonly acknowledged: number | null;
  /** Called before the first kill. */
  prepare(): Promise<void>;
  /** Works until the process has ended. @param kill number of the next kill, from 0 */
  run(kill: number): Promise<unknown>;
  /** Called after each start. */
  verify(isLast: boolean): Promise<void>;
}

export interface KillOptions {
  readonly kills: number;
  readonly tuning?: Partial<Tuning>;
  /** Resolves when the process is to be killed; default: after a random number of acknowledgements. */
  readonly moment?: () => Promise<unknown>;
  /** Whether the embedded PostgreSQL is killed, too. */
  readonly withDatabase?: (kill: number) => boolean;
  readonly onKill?: (kill: number) => void;
}

/**
 * Kills a started install while all its works run, starts it again, and verifies each work. By default a kill
 * comes after a random number of acknowledgements, so that it hits the same work on slow machines.
 * @param installOf returns the installation that a kill hits; kills count from 0
 */
export async function killOften(
  installOf: (kill: number) => Killed,
  works: readonly Work[],
  { kills, tuning, moment, withDatabase = () => false, onKill }: KillOptions,
): Promise<void> {
  const counts = (): number[] => works.flatMap(({ acknowledged }) => acknowledged ?? []);
  const acknowledged = (): number => counts().reduce((sum, count) => sum + count, 0);
  /** Whether enough operations were acknowledged, at least one of each work. */
  const isReached = (goal: number): boolean => acknowledged() >= goal && !counts().includes(0);
  for (let kill = 0; kill < kills; kill += 1) {
    const install = installOf(kill);
    const goal = acknowledged() + randomInt(1, MAX_ACKNOWLEDGED);
    const ended = Promise.all(works.map((work) => work.run(kill)));
    // The wait also ends if a work fails.
    await Promise.race([(moment ?? (() => until(() => isReached(goal), ACKNOWLEDGED_MS)))(), ended]);
    // Kills the process first: it must not have time to answer that PostgreSQL has ended.
    const killed = install.kill();
    if (withDatabase(kill)) install.killDatabase?.();
    await killed;
    await ended;
    await install.start(tuning);
    for (const work of works) await work.verify(kill === kills - 1);
    onKill?.(kill);
  }
}

/**
 * Repeats an operation until the process has ended. An interrupted operation was not acknowledged; an
 * unexpected response fails the test.
 */
export async function repeatUntilKilled(operation: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await operation();
    } catch (error) {
      // fetch throws a TypeError after a lost connection; instanceof would compare with Jest's own class.
      if ((error as Error).name === 'TypeError') return;
      throw error;
    }
  }
}
