/** The steps with the client of the platform's document. A client implements PlatformApi with its own functions. */
import assert from 'node:assert/strict';
import type { Failure } from './steps';

export interface PlatformApi {
  createProject(body: { name: string; slug: string }): Promise<CreatedProject>;
  /** A change that names the plan alone. */
  changePlan(id: string, plan: 'pro'): Promise<{ name: string; plan: 'free' | 'pro' | 'enterprise' }>;
  runSql(id: string, query: string): Promise<{ rows: readonly object[] }>;
  signUp(id: string, body: { email: string; password: string }): Promise<{ user: { email: string } }>;
  /** All rows of any table. */
  selectRows(table: string): Promise<readonly object[]>;
  deleteProject(id: string): Promise<{ id: string }>;
  /** An insert of a project whose slug is taken. */
  conflictingCreate(body: { name: string; slug: string }): Promise<Failure<unknown>>;
}

interface CreatedProject {
  readonly id: string;
  readonly slug: string;
  readonly service_role_key: string;
}

export interface Credentials {
  readonly apikey?: string;
  readonly Authorization: string;
}

const SQL =
  'create table todos (id int, title text); insert into todos values (1, $$Buy milk$$) returning id';

/** @param connect a client that sends the given credentials with each request */
export async function runPlatformSteps(connect: (credentials: Credentials) => PlatformApi): Promise<void> {
  const admin = connect({ Authorization: `Bearer ${process.env['ADMIN_KEY']}` });
  const body = { name: 'Of the scenario', slug: `scenario-${Date.now()}` };
  const { id, slug, service_role_key: key } = await admin.createProject(body);
  assert.equal(slug, body.slug);
  done('create project');

  const { name, plan } = await admin.changePlan(id, 'pro');
  assert.deepEqual([name, plan], [body.name, 'pro']);
  done('change plan');

  assert.deepEqual((await admin.runSql(id, SQL)).rows, [{ id: 1 }]);
  done('run SQL');

  const service = connect({ apikey: key, Authorization: `Bearer ${key}` });
  const account = { email: 'ada@example.com', password: 'correct horse' };
  assert.equal((await service.signUp(id, account)).user.email, account.email);
  done('sign up');

  assert.deepEqual(await service.selectRows('todos'), [{ id: 1, title: 'Buy milk' }]);
  done('select rows');

  assert.equal((await admin.conflictingCreate(body)).status, 409);
  done('409');

  assert.equal((await admin.deleteProject(id)).id, id);
  done('delete project');
}

/** A test reads the steps from standard output. */
function done(step: string): void {
  console.log(step);
}
