// `npm run console:screenshots`: pictures of each screen of the console in both schemes, in a temporary folder. Needs Chromium.
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { ROOT, setUp } from './lib/set-up.mjs';

const { values: options } = parseArgs({
  options: {
    /** A running Plinth, whose key is PLATFORM_ADMIN_KEY. By default one is started on new data. */
    url: { type: 'string' },
    out: { type: 'string' },
    only: { type: 'string' },
  },
});
const KEY = process.env.PLATFORM_ADMIN_KEY ?? 'screenshots-admin-key-0123456789';
const SCHEMES = ['light', 'dark'];
const WIDE = { width: 1360, height: 850 };
const PHONE = { width: 390, height: 800 };

const TABLES = `
create table customers (
  id bigint generated always as identity primary key, name text not null, email text unique, country text not null default 'DE',
  plan text not null default 'free' check (plan in ('free', 'team', 'company')), joined date not null default current_date,
  profile jsonb not null default '{}');
create type order_state as enum ('open', 'paid', 'sent', 'returned');
create table orders (
  id bigint generated always as identity primary key, customer_id bigint not null references customers,
  state order_state not null default 'open', total numeric(10, 2) not null, tags text[] not null default '{}', paid boolean not null default false,
  placed_at timestamptz not null default now(), note text);
create index orders_customer on orders (customer_id);
insert into customers (name, email, country, plan, joined, profile)
select n || ' ' || s, lower(n || '.' || s) || '@example.com', (array['DE','FR','GB','US','JP'])[1 + i::int % 5],
  (array['free','team','company'])[1 + i::int % 3], current_date - i::int * 3, jsonb_build_object('newsletter', i % 2 = 0, 'seats', i)
from unnest(array['Ada','Grace','Alan','Edsger','Barbara','Donald','Margaret','Ken']) with ordinality a(n, i),
  unnest(array['Martin','Silva','Okafor','Tanaka','Novak']) s;
insert into orders (customer_id, state, total, tags, paid, placed_at, note)
select 1 + i % 40, (array['open','paid','sent','returned'])[1 + i % 4]::order_state, (i * 37 % 900) + 9.9, array['web','gift'], i % 4 > 0,
  now() - i * interval '3 hours', case when i % 5 = 0 then 'Leave at the door' end
from generate_series(1, 2500) i;
create table products (
  id bigint generated always as identity primary key, name text not null, price numeric(10, 2) not null, stock int not null default 0,
  image uuid);
create table order_items (
  order_id bigint references orders on delete cascade, product_id bigint references products, quantity int not null default 1,
  primary key (order_id, product_id));
create index order_items_product on order_items (product_id);
create table reviews (
  id bigint generated always as identity primary key, product_id bigint not null references products,
  customer_id bigint not null references customers, rating int not null check (rating between 1 and 5), body text,
  written_at timestamptz not null default now());
create index reviews_product on reviews (product_id);
create table suppliers (id bigint generated always as identity primary key, name text not null, country text not null);
alter table products add supplier_id bigint references suppliers;
create policy "customers write own reviews" on reviews to authenticated
  using (customer_id = (select (auth.jwt() ->> 'customer')::bigint)) with check (rating > 0);
create policy "staff see all customers" on customers for select to authenticated using ((select auth.jwt()) ->> 'team' = 'staff');
create policy "everyone can read orders" on orders for select to anon, authenticated using (true);
analyze customers; analyze orders;`;

/** Views of the screen that looks inside, and what to wait for. */
const INSIDE = {
  charts: '#main figure, #main h2',
  queries: 'article, #main h2, .mantine-Alert-root',
  sessions: 'article, #main h2',
  limits: 'text=auth-mail',
};

const server = options.url ? null : await startServer();
const base = options.url ?? server.url;
const out = options.out ?? (await mkdtemp(path.join(os.tmpdir(), 'plinth-screenshots-')));
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
try {
  const slug = await seed();
  const person = await firstOwner();
  for (const scheme of SCHEMES) await takeAll(scheme, WIDE, slug, person);
  await takeAll('light', PHONE, slug, person);
  process.stdout.write(`${out}\n`);
} finally {
  await browser.close();
  await server?.stop();
}

async function takeAll(scheme, viewport, slug, person) {
  const context = await browser.newContext({ viewport, colorScheme: scheme, locale: 'en-GB' });
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error') process.stderr.write(`${message.text()}\n`);
  });
  page.on('pageerror', (error) => process.stderr.write(`${error.message}\n`));
  const suffix = `${viewport === PHONE ? 'phone-' : ''}${scheme}`;
  const take = async (name, work = async () => undefined) => {
    if (options.only && !new RegExp(options.only).test(name)) return;
    await work();
    // No button is drawn as under the mouse.
    await page.mouse.move(0, 0);
    // Not the idle network: the stream of live requests and the frame of a mail keep it busy.
    await page.locator('[role=status][aria-label=Loading]').first().waitFor({ state: 'detached' });
    await writeFile(
      path.join(out, `${name}-${suffix}.png`),
      smaller(await page.screenshot({ animations: 'disabled' })),
    );
  };
  await page.goto(`${base}/console`);
  await page.waitForSelector('input');
  await take('sign-in');
  if (person) {
    await page.getByLabel('E-mail').fill(person.email);
    await page.getByLabel('Password', { exact: true }).fill(person.password);
  } else {
    await page.getByRole('button', { name: 'Use the platform admin key' }).click();
    await page.getByLabel('Platform admin key', { exact: true }).fill(KEY);
  }
  await page.keyboard.press('Enter');
  await page.waitForSelector('#main li a');
  await take('home', () => page.waitForSelector('#main li a >> text=Users'));
  await go(page, slug, '');
  await take('overview', async () => {
    await page.waitForSelector('text=Pause and delete');
    await page.waitForSelector('text=/^Findings of the advisor/');
  });
  await take('connect', async () => {
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByRole('tab', { name: 'supabase-js' }).waitFor();
    await page.getByLabel('anon', { exact: true }).waitFor();
  });
  await page.keyboard.press('Escape');
  await go(page, 'field-notes', '');
  await take('first-steps', () => page.waitForSelector('text=First steps'));
  await go(page, slug, '/keys');
  await take('keys', () => page.waitForSelector('text=Show keys'));
  await go(page, slug, '/backups');
  await take('backups', () => page.waitForSelector('text=Back up now'));
  await go(page, slug, '/advisor');
  await take('advisor', () => page.waitForSelector('article'));
  await go(page, slug, '/inside?view=requests');
  await take('requests', async () => {
    await page.waitForSelector('text=Connected');
    await traffic();
    await page.locator('#main tbody tr').nth(11).waitFor();
  });
  for (const [view, content] of Object.entries(INSIDE)) {
    await go(page, slug, `/inside?view=${view}`);
    await take(view, () => page.waitForSelector(content));
  }
  await go(page, slug, '/mails');
  await take('mails', () => page.waitForSelector('#main iframe'));
  await go(page, slug, '/tables?schema=public&table=orders&sort=-placed_at');
  await take('tables', () => page.waitForSelector('[aria-rowindex="2"]'));
  await take('row', async () => {
    await page.getByRole('button', { name: 'Open row' }).nth(2).click();
    await page.waitForSelector('[role=dialog]');
  });
  await page.keyboard.press('Escape');
  await take('create-table', async () => {
    if (viewport === PHONE) return;
    await page.locator('[aria-label="New table"]').first().click();
    await page.getByLabel('Name of the table').fill('invoices');
  });
  await page.keyboard.press('Escape');
  await go(
    page,
    slug,
    '/sql?query=' +
      encodeURIComponent(
        'select c.name, count(*) as orders, sum(o.total) as total\nfrom customers c join orders o on o.customer_id = c.id\nwhere o.paid\ngroup by c.name\norder by total desc;',
      ),
  );
  await take('sql', async () => {
    await page.getByRole('button', { name: 'Run SQL' }).click();
    await page.waitForSelector('[aria-rowindex="2"]');
  });
  await take('plan', async () => {
    await page.getByRole('button', { name: 'Explain', exact: true }).click();
    await page.locator('#main').getByRole('list', { name: 'Plan' }).waitFor();
  });
  await go(page, slug, '/policies');
  await take('policies', async () => {
    await page.getByRole('button', { name: 'reviews', exact: true }).click();
    await page.waitForSelector('#main [data-policy]');
  });
  await go(page, slug, '/users');
  await take('users', () => page.waitForSelector('#main tbody button'));
  await take('user', async () => {
    await page.locator('#main tbody button').first().click();
    await page.waitForSelector('[role=dialog]');
  });
  await go(page, slug, '/storage');
  await take('storage', () => page.waitForSelector('#main tbody button'));
  await go(page, slug, '/settings');
  await take('settings', () => page.waitForSelector('text=auto_rls'));
  await go(page, slug, '/api');
  await take('api', () => page.locator('#main').getByText('customers').first().waitFor());
  await go(page, slug, '/schema');
  await take('schema', () => page.locator('#main svg title').first().waitFor({ state: 'attached' }));
  await go(page, slug, '/schema?view=indexes');
  await take('schema-objects', () => page.waitForSelector('#main tbody button'));
  await go(page, slug, '/people');
  await take('project-people', () => page.waitForSelector('h1'));
  for (const screen of person ? ['people', 'audit-log', 'account'] : ['people', 'audit-log']) {
    await goTo(page, `/console/${screen}`);
    await take(screen, () => page.waitForSelector('table'));
  }
  if (person) {
    const notes = `/admin/v1/projects/${await idOf('field-notes')}`;
    await call('POST', `${notes}/pause`);
    // The session is a cookie, so the page may be loaded again.
    await page.goto(`${base}/console`);
    await take('home-paused', () => page.waitForSelector('text=/^Paused/'));
    await go(page, 'field-notes', '/tables');
    await take('paused', () => page.waitForSelector('text=Resume'));
    await call('POST', `${notes}/resume`);
  }
  await go(page, slug, '/tables');
  await take('palette', async () => {
    await page.keyboard.press('Control+k');
    await page.waitForSelector('.mantine-Spotlight-search');
  });
  await context.close();
}

/** The same picture: browsers compress quickly, and not well. */
function smaller(png) {
  const chunks = [];
  for (let at = 8; at < png.length;) {
    const end = at + 12 + png.readUInt32BE(at);
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), bytes: png.subarray(at, end) });
    at = end;
  }
  const isData = ({ type }) => type === 'IDAT';
  const data = Buffer.concat(chunks.filter(isData).map(({ bytes }) => bytes.subarray(8, -4)));
  const body = Buffer.concat([
    Buffer.from('IDAT'),
    deflateSync(inflateSync(data), { level: 9, memLevel: 9 }),
  ]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(body.length - 4, 0);
  frame.writeUInt32BE(crc32(body), 4);
  const whole = Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
  const first = chunks.findIndex(isData);
  const others = chunks.filter((one, index) => !isData(one) || index === first);
  return Buffer.concat([png.subarray(0, 8), ...others.map((one) => (isData(one) ? whole : one.bytes))]);
}

/** Within the page, because a reload would forget the key. */
async function go(page, slug, place) {
  await goTo(page, `/console/projects/${slug}${place}`);
}

async function goTo(page, address) {
  await page.evaluate((url) => {
    // The mark of the focus, which a closed dialog gave back, is no part of the picture.
    document.activeElement?.blur();
    history.pushState({}, '', url);
    dispatchEvent(new PopStateEvent('popstate', { state: {} }));
  }, address);
}

/** Null on a server that has people already. */
async function firstOwner() {
  const { needed } = await call('GET', '/admin/v1/setup');
  if (!needed) return null;
  const { link } = await call('POST', '/admin/v1/setup/link');
  const person = { name: 'Ada Martin', email: 'ada@example.com', password: 'correct horse battery' };
  await call('POST', '/admin/v1/setup', { token: link.split('#')[1], ...person });
  for (const [email, role] of [
    ['grace@example.com', 'operator'],
    ['alan@example.com', 'auditor'],
  ])
    await call('POST', '/admin/v1/invitations', { email, role });
  return person;
}

async function idOf(slug) {
  const [{ id }] = await call('GET', `/admin/v1/projects?slug=${slug}`);
  return id;
}

/** A project with tables, users and files. */
async function seed() {
  const [known] = await call('GET', '/admin/v1/projects?slug=shop');
  if (known) return known.slug;
  const project = await call('POST', '/admin/v1/projects', { name: 'Shop', slug: 'shop', plan: 'pro' });
  await call('POST', '/admin/v1/projects', { name: 'Field notes', slug: 'field-notes' });
  await call('POST', `/admin/v1/projects/${project.id}/sql`, { query: TABLES });
  const headers = { apikey: project.service_role_key, Authorization: `Bearer ${project.service_role_key}` };
  for (const [index, name] of ['Ada Martin', 'Grace Silva', 'Alan Okafor', 'Edsger Tanaka'].entries()) {
    const email = `${name.toLowerCase().replace(' ', '.')}@example.com`;
    const banned = index === 3 ? { banned_until: '2099-01-01T00:00:00Z' } : {};
    const body = { email, name, password: 'correct horse', email_verified: index < 2, ...banned };
    await call('POST', `/v1/auth/${project.id}/admin/users`, body, headers);
  }
  for (const name of ['Product photos', 'Invoices'])
    await call('POST', '/p/shop/storage/buckets', { name, is_public: name.startsWith('P') }, headers);
  for (const name of ['2026/november/invoice-1041.txt', 'readme.txt', 'terms.md', 'prices.csv']) {
    const form = new FormData();
    form.set('file', new Blob([`Contents of ${name}\n`]), name);
    const url = `${base}/p/shop/storage/buckets/invoices/upload?filename=${encodeURIComponent(name)}`;
    await fetch(url, { method: 'POST', headers, body: form });
  }
  await traffic();
  return project.slug;
}

/** Requests of each kind, for the live requests and the charts. */
async function traffic() {
  const id = await idOf('shop');
  const { anon_key: anon, service_role_key: service } = await call('GET', `/admin/v1/projects/${id}/keys`);
  const requests = [
    ['GET', '/p/shop/rest/v1/orders?select=id,total&limit=20', anon],
    ['GET', '/p/shop/rest/v1/customers?select=name&country=eq.DE', service],
    ['GET', '/p/shop/rest/v1/invoices', anon],
    ['GET', '/p/shop/storage/buckets', service],
    ['PATCH', '/p/shop/rest/v1/orders?id=eq.7', service],
  ];
  for (let round = 0; round < 4; round++)
    for (const [method, url, key] of requests) {
      const headers = { apikey: key, Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
      await fetch(base + url, { method, headers, body: method === 'PATCH' ? '{"paid": true}' : undefined });
    }
}

async function call(method, url, body, headers = { Authorization: `Bearer ${KEY}` }) {
  const response = await fetch(base + url, {
    method,
    headers: { ...headers, ...(body ? { 'Content-Type': 'application/json' } : {}) },
    body: body && JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`);
  return response.json();
}

async function startServer() {
  await setUp({ development: true, console: true });
  const data = await mkdtemp(path.join(os.tmpdir(), 'plinth-screenshots-data-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, [path.join(ROOT, 'dist/src/main.js')], {
    env: { ...process.env, PORT: String(port), DATA_DIR: data, PLATFORM_ADMIN_KEY: KEY, PUBLIC_URL: url },
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const isReady = () =>
    fetch(`${url}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error('Plinth did not start');
    await sleep(250);
  }
  const stop = async () => {
    child.kill();
    await ended;
    await rm(data, { recursive: true, force: true });
  };
  return { url, stop };
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
