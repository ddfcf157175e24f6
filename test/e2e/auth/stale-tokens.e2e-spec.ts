/** Mailed tokens that a later change of the account invalidates. */
import { randomUUID } from 'node:crypto';
import type { HttpAnswer, HttpClient } from '../../support/http-client';
import { MailServer, tokenIn } from '../../support/mail-server';
import { TestPlinth } from '../../support/plinth';
import { TestProject, TestUser } from '../../support/test-project';

let smtp: MailServer;
let plinth: TestPlinth;
let project: TestProject;
let guest: HttpClient;

beforeAll(async () => {
  smtp = await MailServer.start();
  plinth = await TestPlinth.start({ env: { SMTP_URL: smtp.url } });
  project = await plinth.createProject();
  guest = project.client(project.anonKey, null);
});
afterAll(async () => {
  await plinth.stop();
  await smtp.stop();
});

const address = (): string => `user-${randomUUID()}@example.com`;
const admin = ({ id }: TestUser): string => `${project.auth}/admin/users/${id}`;
const updatePassword = (token: string, password = 'a new password'): Promise<HttpAnswer> =>
  guest.post(`${project.auth}/update-password`, { token, password });
const verifyEmail = (token: string): Promise<HttpAnswer> =>
  guest.post(`${project.auth}/verify-email`, { token });

/** Requests a new address and waits for the notice to the old one. @returns the token mailed to the new address */
async function askForChange(user: TestUser, email: string): Promise<string> {
  const before = smtp.to(user.email).length;
  expect((await user.http.patch(`${project.auth}/user`, { email })).status).toBe(200);
  await smtp.mailTo(user.email, before + 1);
  return tokenIn(await smtp.mailTo(email));
}

/** @returns the token that was mailed to the user's address */
async function askForReset({ email }: TestUser): Promise<string> {
  const before = smtp.to(email).length;
  await guest.post(`${project.auth}/reset-password`, { email });
  return tokenIn(await smtp.mailTo(email, before + 1));
}

const NEW_PASSWORDS: [string, (user: TestUser) => Promise<HttpAnswer>][] = [
  [
    'the user sets',
    ({ http, password }) =>
      http.patch(`${project.auth}/user`, { password: 'a new password', current_password: password }),
  ],
  ['a mailed token sets', async (user) => updatePassword(await askForReset(user))],
  ['an administrator sets', (user) => project.service.patch(admin(user), { password: 'a new password' })],
];

it.each(NEW_PASSWORDS)(
  'a new password that %s cancels a pending change of address',
  async (_who, setPassword) => {
    const user = await project.signUp();
    // An attacker with the access token could do this; the notice to the old address asks its owner to change
    // the password.
    const token = await askForChange(user, address());
    expect((await setPassword(user)).status).toBe(200);
    expect((await verifyEmail(token)).status).toBe(401);
    const { body } = await project.service.get(admin(user));
    expect(body.user.email).toBe(user.email);
  },
);

it.each(NEW_PASSWORDS.filter(([who]) => who !== 'a mailed token sets'))(
  'a new password that %s invalidates mailed tokens that set one',
  async (_who, setPassword) => {
    const user = await project.signUp();
    const token = await askForReset(user);
    expect((await setPassword(user)).status).toBe(200);
    expect((await updatePassword(token)).status).toBe(401);
  },
);

it.each<[string, (user: TestUser, email: string) => Promise<HttpAnswer>]>([
  ['confirmed', async (user, email) => verifyEmail(await askForChange(user, email))],
  ['set by an administrator', (user, email) => project.service.patch(admin(user), { email })],
])('a new address that is %s invalidates the tokens in the old mailbox', async (_how, change) => {
  const user = await project.signUp();
  const token = await askForReset(user);
  const email = address();
  expect((await change(user, email)).status).toBe(200);
  expect((await updatePassword(token)).status).toBe(401);
  const login = { email, password: user.password };
  expect((await guest.post(`${project.auth}/login`, login)).status).toBe(200);
});

it('a new address set by an administrator cancels a pending change of address', async () => {
  const user = await project.signUp();
  const token = await askForChange(user, address());
  const email = address();
  await project.service.patch(admin(user), { email });
  expect((await verifyEmail(token)).status).toBe(401);
  expect((await project.service.get(admin(user))).body.user.email).toBe(email);
});

it('a change of name or data leaves mailed tokens valid', async () => {
  const user = await project.signUp();
  const [change, reset] = [await askForChange(user, address()), await askForReset(user)];
  await user.http.patch(`${project.auth}/user`, { name: 'Ada', data: { a: 1 } });
  await project.service.patch(admin(user), { name: 'Countess' });
  expect((await verifyEmail(change)).status).toBe(200);
  expect(reset).toBeTruthy();
  const other = await project.signUp();
  const token = await askForReset(other);
  await project.service.patch(admin(other), { email: other.email.toUpperCase(), name: 'Ada' });
  expect((await updatePassword(token)).status).toBe(200);
});

it('the first proof of an address cancels a change of it that the creator of the account asked for', async () => {
  const user = await project.signUp();
  const token = await askForChange(user, address());
  await guest.post(`${project.auth}/resend-verification`, { email: user.email });
  expect((await verifyEmail(tokenIn(await smtp.mailTo(user.email, 2)))).status).toBe(200);
  expect((await verifyEmail(token)).status).toBe(401);
});
