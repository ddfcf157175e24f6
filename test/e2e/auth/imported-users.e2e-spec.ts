/** Users imported from another system with their bcrypt hashes. */
import { hashSync } from 'bcryptjs';
import { argon2i, argon2id } from 'hash-wasm';
import { pbkdf2Sync, randomBytes, randomUUID } from 'node:crypto';
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

/** The example of github.com/firebase/scrypt. */
const FIREBASE = [
  '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==',
  'sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$' +
    'lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
].join(',');
const argon2 = (hash: typeof argon2id): Promise<string> =>
  hash({
    password: PASSWORD,
    salt: randomBytes(16),
    memorySize: 1_024,
    iterations: 2,
    parallelism: 2,
    hashLength: 32,
    outputType: 'encoded',
  });
function pbkdf2(digest: string, iterations: number): string {
  const salt = randomBytes(16);
  const hash = pbkdf2Sync(PASSWORD, salt, iterations, 64, digest);
  return `$pbkdf2-${digest}$i=${iterations}$${salt.toString('base64')}$${hash.toString('base64')}`;
}

it.each([
  ['Firebase', () => FIREBASE, 'user1password'],
  ['Argon2id', () => argon2(argon2id), PASSWORD],
  ['Argon2i', () => argon2(argon2i), PASSWORD],
  ['Keycloak', () => pbkdf2('sha256', 27_500), PASSWORD],
  ['a newer Keycloak', () => pbkdf2('sha512', 210_000), PASSWORD],
])(
  'verifies the original hash of %s, and replaces it at the first sign-in',
  async (_name, make, password) => {
    const email = `ada-${randomUUID()}@example.com`;
    const password_hash = await make();
    const created = await project.service.post(`${project.auth}/admin/users`, { email, password_hash });
    expect(created.status).toBe(200);
    expect(await signIn(email, 'wrong')).toBe(401);
    expect(await storedHash(email)).toBe(password_hash);
    expect(await signIn(email, password)).toBe(200);
    expect(await storedHash(email)).toMatch(/^\$2[aby]\$05\$/);
    expect(await signIn(email, password)).toBe(200);
  },
);

it.each([
  '',
  'plain text',
  '$2b$05$tooshort',
  `$argon2id$v=19$m=999999,t=3,p=4$${'c'.repeat(22)}$${'a'.repeat(43)}`,
  `$argon2id$v=19$m=65536,t=99,p=4$${'c'.repeat(22)}$${'a'.repeat(43)}`,
  '$pbkdf2-sha256$i=9999999$c2FsdA==$aGFzaA==',
  '$pbkdf2-md5$i=1000$c2FsdA==$aGFzaA==',
  FIREBASE.replace('n=14', 'n=24'),
  FIREBASE.replace('r=8', 'r=99'),
])('answers 400 for the hash "%s", which is invalid or too costly', async (password_hash) => {
  const email = `ada-${randomUUID()}@example.com`;
  const answer = await project.service.post(`${project.auth}/admin/users`, { email, password_hash });
  expect(answer.status).toBe(400);
});

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

it('takes as long for unknown addresses as for users whose hashes take long', async () => {
  const own = await plinth.createProject();
  const guest = own.client(own.anonKey, null);
  const hash = pbkdf2('sha512', 1_000_000);
  await own.sql(`insert into auth.users (email, email_key, encrypted_password)
    select mail, mail, '${hash}' from (select 'user-' || n || '@example.com' as mail from generate_series(1, 20) n) names`);
  const timeOf = async (email: string): Promise<number> => {
    const begin = performance.now();
    const { status } = await guest.post(`${own.auth}/login`, { email, password: 'wrong' });
    expect(status).toBe(401);
    return performance.now() - begin;
  };
  const [known, unknown]: number[][] = [[], []];
  for (let n = 1; n <= 4; n += 1) {
    known?.push(await timeOf(`user-${n}@example.com`));
    unknown?.push(await timeOf(`nobody-${n}@example.com`));
  }
  // Neither of the two is faster every time.
  expect(Math.max(...(unknown ?? []))).toBeGreaterThan(Math.min(...(known ?? [])) / 2);
});
