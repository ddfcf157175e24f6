/** Rows and projects: bulk inserts, and creations of projects. A bulk insert is complete or absent, and so is a project. */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { IN_SOAK } from '../extent';
import { type KilledInstall, type KilledProject, repeatUntilKilled, type Work } from './killed-install';

/** Number of the latest rows, which are compared after each kill. */
const COMPARED = 5_000;
/** Milliseconds, at most, between two creations of projects: each project costs time at every verification. */
const MAX_PAUSE_MS = IN_SOAK ? 1 : 600;

export class RowWork implements Work {
  acknowledged = 0;
  project!: KilledProject;
  private next = 1;
  private readonly rows: number[] = [];

  /** @param server of the project */
  constructor(
    private readonly install: KilledInstall,
    private readonly server = 'platform',
  ) {}

  async prepare(): Promise<void> {
    this.project = await this.install.create('Rows', { server: this.server });
    await this.install.sql(this.project.id, 'create table numbers (n int primary key)');
  }

  run(): Promise<unknown> {
    return Promise.all([1, 2].map(() => repeatUntilKilled(() => this.insert())));
  }

  private async insert(): Promise<void> {
    const n = this.next++;
    const { status } = await this.install
      .service(this.project)
      .post('/rest/v1/numbers', [{ n }, { n: -n }], { headers: { prefer: 'return=minimal' } });
    if (status !== 201) return;
    this.rows.push(n);
    this.acknowledged += 1;
  }

  async verify(): Promise<void> {
    const last = this.next;
    const { body } = await this.install.sql(
      this.project.id,
      `select string_agg(n::text, ',') as all from numbers where abs(n) > ${last - COMPARED}`,
    );
    const present = new Set(String(body.rows[0].all).split(',').map(Number));
    const compared = this.rows.filter((n) => n > last - COMPARED);
    expect(compared.filter((n) => !present.has(n))).toEqual([]);
    expect([...present].filter((n) => !present.has(-n))).toEqual([]);
  }
}

export class ProjectWork implements Work {
  acknowledged = 0;
  private witness!: KilledProject;
  private readonly created = new Set<string>();

  constructor(private readonly install: KilledInstall) {}

  async prepare(): Promise<void> {
    this.witness = await this.install.create('Witness of projects');
  }

  run(): Promise<void> {
    return repeatUntilKilled(async () => {
      const name = `Project ${this.created.size}`;
      const { status, body } = await this.install.admin.post('/admin/v1/projects', { name });
      if (status !== 201) return;
      this.created.add(body.id);
      this.acknowledged += 1;
      await sleep(randomInt(MAX_PAUSE_MS));
    });
  }

  /** Each project has its database and its roles and answers, and there are no other projects. */
  async verify(): Promise<void> {
    const listed = (await this.install.admin.get('/admin/v1/projects?limit=1000')).body as { id: string }[];
    const ids = new Set(listed.map(({ id }) => id));
    expect([...this.created].filter((id) => !ids.has(id))).toEqual([]);
    for (const id of ids)
      expect((await this.install.admin.get(`/admin/v1/projects/${id}/tables`)).status).toBe(200);
    const { body } = await this.install.sql(
      this.witness.id,
      `select datname as name from pg_database where datname ~ '^plinth_[a-z0-9]{20}$'
       union all select rolname from pg_roles where rolname ~ '^plinth_[a-z0-9]{20}_'`,
    );
    const names = (body.rows as { name: string }[]).map(({ name }) => name).sort();
    expect(names).toEqual(
      [...ids].flatMap((id) => [`plinth_${id}`, `plinth_${id}_owner`, `plinth_${id}_login`]).sort(),
    );
  }
}
