/**
 * kill -9 during the upgrade of an install with many projects, while a process of the older version serves one of them: in the
 * migration of the platform, while the template of new projects is made, and between and within migrations of projects. Each
 * next start continues.
 */
import { join } from 'node:path';
import { Client } from 'pg';
import { Program, until } from '../../process/support/processes';
import { freePort, PlinthProcess } from '../plinth-process';
import { createLoadedProject, type LoadedProject, SteadyLoad } from '../steady-load';
import { killOften, type Work } from './killed-install';

const LIMIT_MS = 120_000;
const CLIENTS = 2;
const HAS_COLUMN = `select from pg_attribute where attrelid = 'auth.users'::regclass and attname = 'later'`;
const HAS_RECORD = `select from extensions.plinth_migrations where name like 'Later%'`;
const IN_PLATFORM = `select from pg_stat_activity where query like 'select pg_sleep%later' and state = 'active'`;
const IN_TEMPLATE = `select from pg_stat_activity where datname like '%\\_draft'`;
const PROJECTS = 'select database_name as name, schema_version as version from projects order by random()';

interface UpgradeKillsOptions {
  readonly directory: string;
  /** URL of a database on the server. */
  readonly databaseUrl: (database: string) => string;
  readonly environment: Record<string, string>;
  /** Folder of the build of the later release (buildLaterRelease). */
  readonly later: string;
  readonly projects: number;
}

/** Parts of an upgrade: the migration of the platform, the database that new projects are copies of, and the projects. */
type Phase = 'platform' | 'template' | 'projects';

interface UpgradeCounts {
  readonly kills: Record<Phase, number>;
  /** Maximum number of databases that were migrated concurrently. */
  most: number;
  migrated: number;
}

export class UpgradeKills {
  readonly counts: UpgradeCounts = { kills: { platform: 0, template: 0, projects: 0 }, most: 0, migrated: 0 };
  /** Number of all projects, including the loaded project and the demo. */
  total = 0;
  private older: PlinthProcess | undefined;
  private upgrade: Program | undefined;
  private begun = Promise.resolve();
  private upgraded: PlinthProcess | undefined;
  private loaded!: LoadedProject;
  private load!: SteadyLoad;
  private client!: Client;

  constructor(private readonly options: UpgradeKillsOptions) {}

  async setUp(): Promise<void> {
    const { directory, environment, projects } = this.options;
    const older = await PlinthProcess.start({ dataDir: directory, env: environment });
    this.older = older;
    // Not compared with the OpenAPI document, because the process has another version.
    const admin = older.admin.unchecked();
    for (let n = 0; n < projects; n += 4) {
      const names = Array.from({ length: Math.min(4, projects - n) }, (_, of) => `Project ${n + of}`);
      await Promise.all(names.map((name) => admin.post('/admin/v1/projects', { name })));
    }
    this.loaded = await createLoadedProject(admin, 'Loaded');
    this.client = await this.connect('many');
    this.total = (await this.client.query(PROJECTS)).rows.length;
    expect(this.total).toBeGreaterThan(projects);
    this.load = new SteadyLoad(this.loaded, [older]);
    this.load.start(CLIENTS);
    await this.load.requests(20);
  }

  async tearDown(): Promise<void> {
    await this.load?.stop();
    await this.older?.end('SIGKILL');
    await this.upgrade?.end('SIGKILL');
    await this.upgraded?.end('SIGKILL');
    await this.client?.end();
  }

  /** Kills a number of upgrades in a phase, each at a random moment; the next upgrade continues. */
  async killIn(phase: Phase, kills: number): Promise<void> {
    const { isReached, spread, verify } = this.phases(kills)[phase];
    const work: Work = {
      acknowledged: null,
      prepare: () => Promise.resolve(),
      run: () => this.run(),
      verify: async () => {
        this.counts.kills[phase] += 1;
        await verify();
      },
    };
    const moment = async (): Promise<void> => {
      await this.begun;
      await until(isReached, LIMIT_MS, () => this.upgrade?.output ?? '');
      await pause(Math.random() * spread);
    };
    // The upgrade is started by run().
    const start = (): Promise<void> => Promise.resolve();
    await killOften(() => ({ start, kill: () => this.killUpgrade() }), [work], { kills, moment });
  }

  private phases(
    kills: number,
  ): Record<Phase, { isReached: () => Promise<boolean>; spread: number; verify: () => Promise<void> }> {
    const isFound = async (query: string): Promise<boolean> =>
      (await this.client.query(query)).rowCount !== 0;
    return {
      platform: {
        isReached: () => isFound(IN_PLATFORM),
        spread: 300,
        verify: () => this.assertPlatformWholeOrUnchanged(),
      },
      template: {
        isReached: () => isFound(IN_TEMPLATE),
        spread: 300,
        verify: async () => {
          await this.assertPlatformWholeOrUnchanged();
          expect((await this.client.query('select from later')).rowCount).toBe(10);
        },
      },
      projects: {
        isReached: async () => {
          const wanted = Math.floor((this.total * (this.counts.kills.projects + 1)) / (kills + 2));
          return (await this.countMigrated()) >= Math.max(this.counts.migrated + 1, wanted);
        },
        spread: 100,
        verify: async () => {
          const migrated = await this.countMigrated();
          expect(migrated).toBeGreaterThan(this.counts.migrated);
          this.counts.migrated = migrated;
          await this.assertNoHalfProjects(10);
        },
      },
    };
  }

  /** Checks that the next start completes the upgrade, and that the older process has served all the time and lost nothing. */
  async assertCompleted(): Promise<void> {
    const { directory, environment, later } = this.options;
    this.upgraded = await PlinthProcess.start({ dataDir: directory, env: environment, build: later });
    expect(await this.countMigrated()).toBe(this.total);
    await this.assertPlatformWholeOrUnchanged();
    expect((await this.client.query('select from later')).rowCount).toBe(10);
    await this.assertNoHalfProjects(this.total);
    await this.load.requests(20);
    this.load.targets = [this.upgraded];
    await this.load.requests(20);
    await this.load.stop();
    expect(this.load.failed).toEqual([]);
    const sql = { query: 'select count(*)::int as count from notes' };
    const path = `/admin/v1/projects/${this.loaded.id}/sql`;
    const { body } = await this.upgraded.admin.unchecked().post(path, sql);
    expect(body.rows).toEqual([{ count: this.load.inserted }]);
  }

  /** @returns when the upgrade has ended */
  private async run(): Promise<unknown> {
    const begun = this.begin();
    this.begun = begun.then((upgrade) => void (this.upgrade = upgrade));
    return (await begun).exited;
  }

  private async killUpgrade(): Promise<void> {
    await this.begun;
    await this.upgrade?.end('SIGKILL');
  }

  private async begin(): Promise<Program> {
    const { directory, environment, later } = this.options;
    const env = {
      PATH: process.env.PATH,
      ...environment,
      DATA_DIR: join(directory, 'data'),
      PLATFORM_ADMIN_KEY: 'process-platform-admin-key-0123',
      PORT: String(await freePort()),
      HOST: '127.0.0.1',
      LOG_LEVEL: 'error',
    };
    return Program.start(process.execPath, [join(later, 'src/main.js')], { env, cwd: directory });
  }

  private async countMigrated(): Promise<number> {
    const { rows } = await this.client.query<{ done: number; at_once: number }>(
      `select (select count(*)::int from projects where schema_version like '%_9990000000000') as done,
         (select count(*)::int from pg_stat_activity where application_name = 'plinth-migrations') as at_once`,
    );
    // After the first kill, sessions of the killed process may not have ended yet.
    if (this.counts.kills.projects === 0)
      this.counts.most = Math.max(this.counts.most, rows[0]?.at_once ?? 0);
    return rows[0]?.done ?? 0;
  }

  /** The table and the record of its migration both exist, or neither. */
  private async assertPlatformWholeOrUnchanged(): Promise<void> {
    const { rows } = await this.client.query<{ made: boolean; recorded: number }>(
      `select to_regclass('public.later') is not null as made,
         (select count(*)::int from migrations where name like 'Later%') as recorded`,
    );
    expect([
      { made: true, recorded: 1 },
      { made: false, recorded: 0 },
    ]).toContainEqual(rows[0]);
  }

  /** In each of a number of databases, the column and the record of its migration both exist, or neither. */
  private async assertNoHalfProjects(count: number): Promise<void> {
    const { rows } = await this.client.query<{ name: string; version: string }>(`${PROJECTS} limit $1`, [
      count,
    ]);
    const half: string[] = [];
    for (const { name, version } of rows) {
      const database = await this.connect(name);
      try {
        const [columns, records] = [await database.query(HAS_COLUMN), await database.query(HAS_RECORD)];
        const isMarked = version.endsWith('_9990000000000');
        if (columns.rowCount !== records.rowCount || (isMarked && columns.rowCount !== 1)) half.push(name);
      } finally {
        await database.end();
      }
    }
    expect(half).toEqual([]);
  }

  private async connect(database: string): Promise<Client> {
    const client = new Client({ connectionString: this.options.databaseUrl(database) });
    await client.connect();
    return client;
  }
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
