/** Clients that use auth, table REST and storage of a project all the time, and count failures. */
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../process/support/processes';
import { HttpAnswer, HttpClient } from './http-client';
import { upload } from './uploads';

const PASSWORD = 'correct horse';
const TABLE = 'create table notes (n int); create policy everybody on notes using (true) with check (true)';

/** The answer to the creation of a project. */
export interface LoadedProject {
  readonly id: string;
  readonly slug: string;
  readonly anon_key: string;
  readonly service_role_key: string;
}

/** Creates a project with the objects that the load needs. @param admin with the platform's admin key */
export async function createLoadedProject(admin: HttpClient, name: string): Promise<LoadedProject> {
  const created = await admin.post('/admin/v1/projects', { name, plan: 'enterprise' });
  const project = created.body as LoadedProject;
  const made = await admin.post(`/admin/v1/projects/${project.id}/sql`, { query: TABLE });
  const key = project.service_role_key;
  const owner = new HttpClient(admin.baseUrl, { apikey: key, authorization: `Bearer ${key}` }, false);
  const bucket = await owner.post(`/p/${project.slug}/storage/buckets`, { name: 'box' });
  expect([created.status, made.status, bucket.status]).toEqual([201, 200, 201]);
  return project;
}

/** A request that a client repeats, on any process. */
export class SteadyLoad {
  /** Numbers of sent and failed requests. */
  sent = 0;
  readonly failed: string[] = [];
  /** Rows whose insertion was acknowledged. */
  inserted = 0;
  private isStopped = false;
  private readonly clients: Promise<void>[] = [];

  constructor(
    private readonly project: LoadedProject,
    public targets: readonly { readonly baseUrl: string }[],
    /** Milliseconds between the requests of a client. */
    private readonly pauseMs = 0,
  ) {}

  start(clients: number): void {
    for (let n = 0; n < clients; n += 1) this.clients.push(this.run(n));
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.clients);
  }

  /** Resolves when the given number of further requests were sent, or a request has failed. */
  async requests(count: number): Promise<void> {
    const wanted = this.sent + count;
    await until(() => this.sent >= wanted || this.failed.length > 0, 120_000);
  }

  private async run(n: number): Promise<void> {
    const email = `user-${n}@example.com`;
    const auth = `/v1/auth/${this.project.id}`;
    const storage = `/p/${this.project.slug}/storage`;
    const signUp = { email, password: PASSWORD };
    let token = '';
    await this.ask('sign-up', async (http) => http.post(`${auth}/signup`, signUp));
    for (let round = 0; !this.isStopped; round += 1) {
      await this.ask('sign-in', async (http) => {
        const answer = await http.post(`${auth}/login`, signUp);
        token = answer.body?.session?.access_token ?? token;
        return answer;
      });
      const own = { authorization: `Bearer ${token}` };
      await this.ask('user', (http) => http.get(`${auth}/user`, { headers: own }));
      await this.ask('rows', (http) => http.get('/rest/v1/notes?limit=10', { headers: own }));
      await this.ask('insert', async (http) => {
        const answer = await http.post('/rest/v1/notes', { n: round }, { headers: own });
        if (answer.status === 201) this.inserted += 1;
        return answer;
      });
      const key = { authorization: `Bearer ${this.project.service_role_key}` };
      await this.ask('upload', (http) => {
        const owner = new HttpClient(http.baseUrl, { apikey: this.project.service_role_key, ...key }, false);
        return upload(owner, storage, 'box', `content ${n} ${round}`, { name: `${n}-${round}.txt` });
      });
      await this.ask('files', (http) => http.get(`${storage}/buckets`, { headers: own }));
    }
  }

  private async ask(what: string, send: (http: HttpClient) => Promise<HttpAnswer>): Promise<void> {
    const target = this.targets[this.sent % this.targets.length] as { readonly baseUrl: string };
    this.sent += 1;
    try {
      const { status, text } = await send(
        new HttpClient(target.baseUrl, { apikey: this.project.anon_key }, false),
      );
      if (status >= 300) this.failed.push(`${what}: ${status} ${text}`);
    } catch (error) {
      this.failed.push(`${what}: ${String(error)}`);
    }
    await sleep(this.pauseMs);
  }
}
