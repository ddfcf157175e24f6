/**
 * Quotas that the operator sets: size of the database, requests per second, requests and mails per day.
 * e2e/storage/quotas tests quotas of files.
 */
import type { LoggerService } from '@nestjs/common';
import { ProjectPools } from '../../../src/database/pools/project-pools';
import { RequestSamples } from '../../../src/traffic/samples/request-samples.service';
import { ProjectQuotas } from '../../../src/limits/project-quotas.service';
import { eventually } from '../../support/eventually';
import type { HttpClient } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

let plinth: TestPlinth;
const warnings: string[] = [];
const COLLECTOR: LoggerService = {
  log: () => undefined,
  error: () => undefined,
  warn: (message: unknown) => void warnings.push(String(message)),
};
const NOTES = '/rest/v1/notes';

beforeAll(async () => {
  plinth = await TestPlinth.start({
    env: {
      QUOTAS: 'pro: database_quota_bytes=1TiB mails_per_day=2; enterprise: requests_per_second=2',
    },
  });
  plinth.clock.hold();
  plinth.app.useLogger(COLLECTOR);
});
afterAll(() => plinth.stop());

async function newProject(settings: Record<string, unknown>, plan = 'free'): Promise<TestProject> {
  const project = await plinth.createProject({ plan, settings });
  await project.sql(`create table notes (id int primary key);
    create policy everybody on notes to anon using (true) with check (true)`);
  return project;
}

/** Does the work of each minute: samples requests and sizes, and compares the samples with the quotas. */
async function sample(project: TestProject): Promise<void> {
  await project.anon.get(NOTES);
  await plinth.app.get(RequestSamples).write();
  await plinth.app.get(ProjectQuotas).refresh();
}

const setting = (project: TestProject, settings: object): ReturnType<HttpClient['patch']> =>
  plinth.admin.patch(`/admin/v1/projects/${project.id}`, { settings });
const quotaOf = async (project: TestProject, name: string) => {
  const { body } = await plinth.admin.get(`/admin/v1/projects/${project.id}/usage`);
  return body.quotas.find((one) => one.name === name)!;
};
const statusesOf = (...answers: { status: number }[]): number[] => answers.map(({ status }) => status);

describe('the size of the database', () => {
  it('refuses inserts and updates once it is reached; reads and deletions remain possible', async () => {
    const project = await newProject({});
    const { anon } = project;
    expect(statusesOf(await anon.post(NOTES, [{ id: 1 }, { id: 2 }]))).toEqual([201]);
    await setting(project, { database_quota_bytes: 1_000_000 });
    await sample(project);
    const refused = await anon.post(NOTES, { id: 3 });
    expect(refused).toMatchObject({ status: 413, body: { code: 'PL413', detail: { sqlstate: 'PL413' } } });
    expect(statusesOf(await anon.patch(`${NOTES}?id=eq.1`, { id: 4 }))).toEqual([413]);
    const read = await anon.get(NOTES);
    expect(read).toMatchObject({ status: 200, body: [{ id: 1 }, { id: 2 }] });
    expect(read.headers.get('x-quota-warning')).toBe('database=100');
    expect(statusesOf(await anon.delete(`${NOTES}?id=eq.1`))).toEqual([200]);
    expect(await quotaOf(project, 'database_bytes')).toMatchObject({ limit: 1_000_000, state: 'exceeded' });
  });

  it('accepts rows again as soon as the quota is raised', async () => {
    const project = await newProject({ database_quota_bytes: 1 });
    await sample(project);
    expect(statusesOf(await project.anon.post(NOTES, { id: 1 }))).toEqual([413]);
    await setting(project, { database_quota_bytes: null });
    expect(statusesOf(await project.anon.post(NOTES, { id: 1 }))).toEqual([201]);
  });

  it('warns at 80 % in a header, in the admin API and once in the log', async () => {
    const project = await newProject({});
    await sample(project);
    const { used, limit, state } = await quotaOf(project, 'database_bytes');
    expect([limit, state]).toEqual([null, 'ok']);
    await setting(project, { database_quota_bytes: Math.floor(Number(used) * 1.15) });
    warnings.length = 0;
    await sample(project);
    await sample(project);
    const { status, headers } = await project.anon.post(NOTES, { id: 1 });
    expect([status, headers.get('x-quota-warning')]).toEqual([201, 'database=80']);
    expect(await quotaOf(project, 'database_bytes')).toMatchObject({ state: 'warning' });
    const logged = warnings.filter((text) => text.includes(project.slug));
    expect(logged).toEqual([`quota_warning: 80 % of the database quota of project ${project.slug} are used`]);
  });
});

describe('requests per second', () => {
  /** Creates a project, and moves the clock, so that no request of the current second is counted. */
  const newLimited = async (settings: Record<string, unknown>, plan?: string): Promise<TestProject> => {
    const project = await newProject(settings, plan);
    plinth.clock.move(10);
    return project;
  };
  const refusedInEveryArea = (
    project: TestProject,
  ): (() => Promise<{ status: number; headers: Headers }>)[] => [
    () => project.anon.get(NOTES),
    // The request is refused before its body is read.
    () => project.anon.post(NOTES, '{"not JSON'),
    () => project.client(project.anonKey, null).post(`${project.auth}/login`, { email: 'a@example.com' }),
    () => project.service.get(`${project.storage}/buckets`),
  ];

  it('are limited by the plan in every area, without effect on other projects', async () => {
    const other = await newProject({});
    const project = await newLimited({}, 'enterprise');
    for (let n = 0; n < 2; n += 1) expect(statusesOf(await project.anon.get(NOTES))).toEqual([200]);
    for (const ask of refusedInEveryArea(project)) {
      const { status, headers } = await ask();
      expect([status, headers.get('retry-after')]).toEqual([429, '1']);
    }
    expect(await project.anon.get(NOTES)).toMatchObject({ body: { code: 'PL429' } });
    expect(statusesOf(await other.anon.get(NOTES))).toEqual([200]);
    plinth.clock.move(1);
    expect(statusesOf(await project.anon.get(NOTES))).toEqual([200]);
  });

  it('are refused without a query to the database', async () => {
    const project = await newLimited({ requests_per_second: 1 });
    await project.anon.get(NOTES);
    const roundTrips = (): number => plinth.app.get(ProjectPools).stats().roundTrips;
    const before = roundTrips();
    for (let n = 0; n < 100; n += 1) expect(statusesOf(await project.anon.get(NOTES))).toEqual([429]);
    // Background work also makes round trips.
    expect(roundTrips() - before).toBeLessThan(50);
  });

  it('have the limit of a changed setting immediately, and no limit without a setting', async () => {
    const project = await newLimited({ requests_per_second: 1 });
    await project.anon.get(NOTES);
    expect(statusesOf(await project.anon.get(NOTES))).toEqual([429]);
    await setting(project, { requests_per_second: null });
    for (let n = 0; n < 5; n += 1) expect(statusesOf(await project.anon.get(NOTES))).toEqual([200]);
  });

  it('are counted for signed URLs and previews of files as well', async () => {
    const project = await newLimited({});
    const { service, storage } = project;
    await service.post(`${storage}/buckets`, { name: 'open', is_public: true });
    const file = await upload(service, storage, 'open', Buffer.from('text'), { name: 'a.txt' });
    const path = `${storage}/files/${file.body.data.id}/preview`;
    await setting(project, { requests_per_second: 1 });
    expect((await plinth.http.get(path)).status).toBe(200);
    const { status, headers } = await plinth.http.get(path);
    expect([status, headers.get('retry-after')]).toEqual([429, '1']);
  });
});

describe('requests per day', () => {
  it('are refused with 429 and Retry-After in every area, until midnight in UTC', async () => {
    const project = await newProject({ requests_per_day: 3 });
    for (let n = 0; n < 2; n += 1) await project.anon.get(NOTES);
    await sample(project);
    const answers = [
      await project.anon.get(NOTES),
      await project.service.get(`${project.storage}/buckets`),
      await project
        .client(project.anonKey, null)
        .post(`${project.auth}/login`, { email: 'a@example.com', password: 'correct horse' }),
    ];
    expect(statusesOf(...answers)).toEqual([429, 429, 429]);
    expect(answers[0]?.body).toMatchObject({ code: 'PL429' });
    expect(answers[1]?.body).toMatchObject({ error: { code: 'rate_limited' } });
    const untilMidnight = Number(answers[0]?.headers.get('retry-after'));
    expect(untilMidnight).toBeGreaterThan(0);
    expect(untilMidnight).toBeLessThanOrEqual(86_400);
    plinth.clock.move(untilMidnight + 1);
    expect(statusesOf(await project.anon.get(NOTES))).toEqual([200]);
    plinth.clock.move(-untilMidnight - 1);
  });
});

describe('the daily quota of requests', () => {
  it('applies to signed URLs and previews, which need no key', async () => {
    const project = await newProject({});
    const { service, storage } = project;
    await service.post(`${storage}/buckets`, { name: 'open', is_public: true });
    const file = await upload(service, storage, 'open', Buffer.from('text'), { name: 'a.txt' });
    const path = `${storage}/files/${file.body.data.id}`;
    const { pathname, search } = new URL(
      (await service.post(`${path}/signed-url`, { expiry: '5m' })).body.data.url,
    );
    const paths = [pathname + search, `${path}/preview`];
    for (const one of paths) expect((await plinth.http.get(one)).status).toBe(200);
    await setting(project, { requests_per_day: 1 });
    await sample(project);
    for (const one of paths) {
      const { status, headers } = await plinth.http.get(one);
      expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true]);
    }
  });
});

describe('mails per day', () => {
  const reset = async (project: TestProject, email: string): Promise<number> =>
    (await project.client(project.anonKey, null).post(`${project.auth}/reset-password`, { email })).status;

  it('are limited by the plan; a further request for a mail gets 429', async () => {
    const project = await newProject({}, 'pro');
    const { email } = await project.signUp();
    expect([await reset(project, email), await reset(project, email)]).toEqual([200, 200]);
    expect([await reset(project, email), await reset(project, 'unknown@example.com')]).toEqual([429, 429]);
    expect(await quotaOf(project, 'mails_per_day')).toMatchObject({ used: 2, limit: 2, state: 'exceeded' });
    await setting(project, { mails_per_day: 100 });
    expect(await reset(project, email)).toBe(200);
  });

  it('are not used up by requests for unknown addresses', async () => {
    const project = await newProject({ mails_per_day: 2 });
    const { email } = await project.signUp();
    for (let n = 0; n < 6; n += 1) {
      expect(await reset(project, `unknown-${n}@example.com`)).toBe(200);
      await eventually(async () =>
        expect(await quotaOf(project, 'mails_per_day')).toMatchObject({ used: 0 }),
      );
    }
    expect([await reset(project, email), await reset(project, email)]).toEqual([200, 200]);
    expect(await reset(project, email)).toBe(429);
  });
});
