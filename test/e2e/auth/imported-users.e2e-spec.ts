/** Users imported from another system with their bcrypt hashes. */
import { hashSync } from 'bcryptjs';
import { randomUUID } from 'node:crypto';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';

const PASSWORD = 'imported password';

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start({ tuning: { bcryptCost: 5 } });
  project = await plinth.createProject();
});
afterAll(() => plinth.stop());

const signIn = async (email: string, password: string): Promise<number> => {
  const client = project.client(project.anonKey, null);
  return (await client.post(`${project.auth}/login`, { email, password })).status;
};
const storedHash = async (email: string): Promise<string> => {
  const rows = await project.sql(`select encrypted_password from auth.users where email = '${email}'`);
  return rows[0].encrypted_password as string;
};

it.each(['2a', '2b', '2y'])('signs in with a hash that begins with $%s$', async (version) => {
  const email = `ada-${randomUUID()}@example.com`;
  const password_hash = hashSync(PASSWORD, 5).replace(/^\$2[aby]/, `$$${version}`);
  const created = await project.service.post(`${project.auth}/admin/users`, { email, password_hash });
  expect(created.status).toBe(200);
  expect(await storedHash(email)).toBe(password_hash);
  expect(await signIn(email, 'wrong')).toBe(401);
  expect(await signIn(email, PASSWORD)).toBe(200);
});

it('replaces a hash of too low cost at the first sign-in', async () => {
  const email = `ada-${randomUUID()}@example.com`;
  await project.sql(
    `insert into auth.users (email, encrypted_password) values ('${email}', '${hashSync(PASSWORD, 4)}')`,
  );
  expect(await signIn(email, 'wrong')).toBe(401);
  expect(await storedHash(email)).toMatch(/^\$2[aby]\$04\$/);
  expect(await signIn(email, PASSWORD)).toBe(200);
  expect(await storedHash(email)).toMatch(/^\$2[aby]\$05\$/);
  expect(await signIn(email, PASSWORD)).toBe(200);
});

it('gives users that SQL imports a name and compares their addresses case-insensitively', async () => {
  const local = `Ada-${randomUUID()}`;
  await project.sql(
    `insert into auth.users (email, encrypted_password) values ('${local}@Example.com', '${hashSync(PASSWORD, 5)}')`,
  );
  const client = project.client(project.anonKey, null);
  const { status, body } = await client.post(`${project.auth}/login`, {
    email: `${local.toLowerCase()}@example.COM`,
    password: PASSWORD,
  });
  expect([status, body.user.name]).toEqual([200, local]);
});

it.each(['', 'plain text', '$2b$05$tooshort', '$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$aGFzaA'])(
  'answers 400 for the hash "%s", which is not bcrypt',
  async (password_hash) => {
    const email = `ada-${randomUUID()}@example.com`;
    const answer = await project.service.post(`${project.auth}/admin/users`, { email, password_hash });
    expect(answer.status).toBe(400);
  },
);

it('refuses sign-in to an account without a password', async () => {
  const email = `ada-${randomUUID()}@example.com`;
  await project.service.post(`${project.auth}/admin/users`, { email });
  expect(await signIn(email, 'a password that nobody has')).toBe(401);
});

it.each(['17', '31', '03'])('answers 400 for a bcrypt hash of cost %s', async (cost) => {
  const password_hash = `$2b$${cost}$${'a'.repeat(53)}`;
  const email = `ada-${randomUUID()}@example.com`;
  const answer = await project.service.post(`${project.auth}/admin/users`, { email, password_hash });
  expect(answer.status).toBe(400);
});

it('does not let an imported hash of excessive cost delay other sign-ins', async () => {
  const email = `ada-${randomUUID()}@example.com`;
  await project.sql(
    `insert into auth.users (email, encrypted_password) values ('${email}', '$2b$31$${'a'.repeat(53)}')`,
  );
  expect(await signIn(email, PASSWORD)).toBe(401);
  const other = await project.signUp();
  expect(await signIn(other.email, other.password)).toBe(200);
});
