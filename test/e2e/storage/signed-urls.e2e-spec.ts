/** Signed URLs (SPEC.md 4.1 and 8, DECISIONS.md 6). */
import { HttpAnswer, HttpClient } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

let plinth: TestPlinth;
let project: TestProject;
let user: ReturnType<TestProject['asSubject']>;
let file: string;
beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ plan: 'enterprise' });
  user = project.asSubject();
  await user.post(`${project.storage}/buckets`, { name: 'private' });
});
beforeEach(async () => {
  const { body } = await upload(user, project.storage, 'private', 'secret', {
    name: `file-${Math.random()}`,
  });
  file = `${project.storage}/files/${body.data.id}`;
});
afterAll(() => plinth.stop());

const local = (url: string): string => url.replace('http://plinth.test', '');
const sign = async (expiry = '5m'): Promise<string> =>
  local((await user.post(`${file}/signed-url`, { expiry })).body.data.url);
const refused = (status: number, code: string): object => ({
  status,
  body: { data: null, error: { message: expect.any(String), code, status } },
});

describe('POST /files/<file_id>/signed-url', () => {
  it.each([
    ['5m', 300],
    ['15m', 900],
    ['1h', 3_600],
    ['24h', 86_400],
    ['7d', 604_800],
  ])('accepts the expiry %s', async (expiry, seconds) => {
    const before = Math.floor(plinth.clock.now() / 1000);
    const { status, body } = await user.post(`${file}/signed-url`, { expiry });
    expect([status, body.error]).toEqual([200, null]);
    expect(body.data.url).toMatch(/^http:\/\/plinth\.test\/p\//);
    expect(body.data.expires_at).toBeGreaterThanOrEqual(before + seconds);
    // The time comes from the PostgreSQL server, in whole seconds.
    expect(body.data.expires_at).toBeLessThanOrEqual(Math.ceil(plinth.clock.now() / 1000) + seconds + 1);
  });

  it.each([
    {},
    { expiry: '10m' },
    { expiry: 300 },
    { expiry: '' },
    { expiry: null },
    { expiry: ['1h'] },
    { expiry: 'toString' },
    [],
  ])('answers 400 invalid_parameters for %j', async (body) =>
    expect(await user.post(`${file}/signed-url`, body)).toMatchObject(refused(400, 'invalid_parameters')),
  );

  it('answers 404 to a caller that may not read the file', async () => {
    expect(await project.asSubject().post(`${file}/signed-url`, { expiry: '1h' })).toMatchObject(
      refused(404, 'file_not_found'),
    );
    expect(await project.anon.post(`${file}/signed-url`, { expiry: '1h' })).toMatchObject(
      refused(404, 'file_not_found'),
    );
  });
});

describe('POST /files/bulk-signed-urls', () => {
  const bulk = (body: unknown, client: HttpClient = user): Promise<HttpAnswer> =>
    client.post(`${project.storage}/files/bulk-signed-urls`, body);

  it('answers a URL or an error for each file, in the order of the ids', async () => {
    const id = file.split('/').at(-1) as string;
    const missing = '00000000-0000-4000-8000-000000000000';
    const { status, body } = await bulk({
      file_ids: [missing, id, 'no id', id.toUpperCase(), id],
      expiry: '15m',
    });
    expect([status, body.error]).toEqual([200, null]);
    const error = { message: expect.any(String), code: 'file_not_found', status: 404 };
    const none = { url: null, expires_at: null, error };
    const link = { url: expect.any(String), expires_at: expect.any(Number), error: null };
    expect(body.data).toEqual([
      { file_id: missing, ...none },
      { file_id: id, ...link },
      { file_id: 'no id', ...none },
      { file_id: id.toUpperCase(), ...link },
      { file_id: id, ...link },
    ]);
    for (const { url } of [body.data[1], body.data[3]])
      expect((await plinth.http.get(local(url))).text).toBe('secret');
    expect(body.data[1].expires_at).toBeGreaterThan(Date.now() / 1000 + 800);
  });

  it('does not sign files that the caller may not read', async () => {
    const ids = { file_ids: [file.split('/').at(-1)], expiry: '5m' };
    for (const client of [project.asSubject(), project.anon])
      expect((await bulk(ids, client)).body.data).toMatchObject([{ url: null, error: { status: 404 } }]);
  });

  it('accepts up to 1,000 ids', async () => {
    const rows = await project.sql(`
      insert into storage.files (bucket_id, filename, content_type, size, sha256, owner_id, object_id)
      select id, 'one of many/' || n, 'text/plain', 1, repeat('0', 64), owner_id, gen_random_uuid()
      from storage.buckets, generate_series(1, 1000) n where slug = 'private' returning id`);
    const ids = rows.map(({ id }: { id: string }) => id);
    const { body } = await bulk({ file_ids: ids, expiry: '7d' });
    const signed = body.data.map(({ file_id: id, url }: { file_id: string; url: string }) => [id, url]);
    expect(signed).toEqual(ids.map((id: string) => [id, expect.stringContaining(`/files/${id}/signed?`)]));
    expect((await bulk({ file_ids: [], expiry: '5m' })).body.data).toEqual([]);
  });

  it.each([
    {},
    { file_ids: ['x'] },
    { expiry: '5m' },
    { file_ids: 'x', expiry: '5m' },
    { file_ids: [1], expiry: '5m' },
    { file_ids: [], expiry: '6m' },
    { file_ids: Array<string>(1_001).fill('x'), expiry: '5m' },
  ])('answers 400 for an invalid body (%#)', async (body) =>
    expect(await bulk(body)).toMatchObject(refused(400, 'invalid_parameters')),
  );
});

describe('a signed URL', () => {
  it('needs no headers, and begins with PUBLIC_URL rather than the Host header', async () => {
    const { body } = await user.post(
      `${file}/signed-url`,
      { expiry: '1h' },
      { headers: { 'x-forwarded-host': 'evil.test' } },
    );
    expect(new URL(body.data.url).origin).toBe('http://plinth.test');
    expect((await plinth.http.get(local(body.data.url))).text).toBe('secret');
  });

  it.each([
    ['5m', 300],
    ['7d', 604_800],
  ])('of %s is valid until it expires, then answers 401 signed_url_expired', async (expiry, seconds) => {
    // test/integration/storage-signed-urls.int-spec.ts checks the second: a replica's own clock may be ahead.
    const url = await sign(expiry);
    plinth.clock.move(seconds - 5);
    expect((await plinth.http.get(url)).status).toBe(200);
    plinth.clock.move(66);
    expect(await plinth.http.get(url)).toMatchObject(refused(401, 'signed_url_expired'));
    plinth.clock.move(-seconds - 61);
  });

  it('answers 401 for any changed byte, and for missing, repeated or reordered parameters', async () => {
    const [path, query] = (await sign()).split('?') as [string, string];
    const attempts: string[] = [];
    for (let index = 0; index < query.length; index += 1) {
      const other = query[index] === 'A' ? 'B' : 'A';
      attempts.push(`${query.slice(0, index)}${other}${query.slice(index + 1)}`);
      attempts.push(`${query.slice(0, index)}${query.slice(index + 1)}`);
      attempts.push(`${query.slice(0, index)}%00${query.slice(index)}`);
    }
    for (const pair of query.split('&')) {
      const [name] = pair.split('=');
      attempts.push(`${query}&${pair}`, `${pair}&${query}`, `${query}&${name}=`, `${query}&${name}[]=x`);
      attempts.push(
        query.replace(pair, `${name}[]=${pair.split('=')[1]}`),
        query.replace(pair, name as string),
      );
    }
    attempts.push('', query.toUpperCase(), query.replace(/=/g, '%3D'), query.split('&').slice(1).join('&'));
    for (let first = 0; first < attempts.length; first += 20) {
      const answers = await Promise.all(
        attempts.slice(first, first + 20).map(async (attempt) => ({
          attempt,
          answer: await plinth.http.unchecked().get(`${path}?${attempt}`),
        })),
      );
      for (const { attempt, answer } of answers) {
        // An unknown parameter is not part of the signature.
        if (attempt.startsWith(query) && attempt.includes('[]=x')) expect(answer.status).toBe(200);
        else
          expect([attempt, answer.status, answer.body.error?.code]).toEqual([
            attempt,
            401,
            'invalid_signature',
          ]);
      }
    }
    expect((await plinth.http.get(`${path}?${query.split('&').reverse().join('&')}`)).status).toBe(200);
  });

  it('does not authorize preview, record, revocation, copy or upload', async () => {
    const [path, query] = (await sign()).split('?') as [string, string];
    const base = path.replace(/\/signed$/, '');
    for (const [method, address] of [
      ['GET', `${base}/download`],
      ['GET', base],
      ['PATCH', base],
      ['DELETE', base],
      ['DELETE', `${base}/signed-urls`],
      ['POST', `${base}/signed-url`],
      ['POST', `${base}/copy`],
      ['PUT', path],
      ['POST', path],
      ['DELETE', path],
    ] as const)
      expect([method, address, (await plinth.http.send(method, `${address}?${query}`)).status]).toEqual([
        method,
        address,
        401,
      ]);
    expect((await plinth.http.get(`${base}/preview?${query}`)).status).toBe(404);
  });

  it('works for files of deleted buckets', async () => {
    await user.post(`${project.storage}/buckets`, { name: 'short-lived' });
    const { body } = await upload(user, project.storage, 'short-lived', 'still here');
    const path = `${project.storage}/files/${body.data.id}`;
    const early = local((await user.post(`${path}/signed-url`, { expiry: '1h' })).body.data.url);
    await user.delete(`${project.storage}/buckets/short-lived`);
    expect((await plinth.http.get(early)).text).toBe('still here');
    const late = local((await user.post(`${path}/signed-url`, { expiry: '1h' })).body.data.url);
    expect((await plinth.http.get(late)).text).toBe('still here');
  });

  it('answers 401 invalid_signature when any part is altered', async () => {
    const url = new URL(`http://x${await sign()}`);
    const altered = (change: (copy: URL) => void): string => {
      const copy = new URL(url);
      change(copy);
      return copy.pathname + copy.search;
    };
    const other = (
      await upload(user, project.storage, 'private', 'other', { name: `other-${Math.random()}` })
    ).body.data.id;
    const expires = Number(url.searchParams.get('expires'));
    const attempts = [
      altered((copy) => copy.searchParams.set('expires', String(expires + 1))),
      altered((copy) => copy.searchParams.set('expires', '99999999999')),
      altered((copy) => copy.searchParams.set('expires', 'never')),
      altered((copy) => copy.searchParams.delete('expires')),
      altered((copy) => copy.searchParams.set('revision', '1')),
      altered((copy) => copy.searchParams.delete('signature')),
      altered((copy) => copy.searchParams.set('signature', '')),
      altered((copy) => copy.searchParams.append('signature', copy.searchParams.get('signature') as string)),
      altered((copy) => (copy.pathname = copy.pathname.replace(/files\/[^/]+/, `files/${other}`))),
      ...[0, 20, 42].map((index) =>
        altered((copy) => {
          const signature = [...(copy.searchParams.get('signature') as string)];
          signature[index] = signature[index] === 'A' ? 'B' : 'A';
          copy.searchParams.set('signature', signature.join(''));
        }),
      ),
    ];
    for (const attempt of attempts) {
      const { status, body } = await plinth.http.get(attempt);
      expect([attempt, [400, 401].includes(status)]).toEqual([attempt, true]);
      expect(['invalid_signature', 'invalid_parameters']).toContain(body.error.code);
    }
    expect(await plinth.http.get(attempts[0] as string)).toMatchObject(refused(401, 'invalid_signature'));
    expect((await plinth.http.get(url.pathname + url.search)).status).toBe(200);
  });

  it('is valid for its project only', async () => {
    const other = await plinth.createProject();
    const url = (await sign()).replace(`/p/${project.slug}/`, `/p/${other.slug}/`);
    expect(await plinth.http.get(url)).toMatchObject(refused(401, 'invalid_signature'));
    expect(await plinth.http.get(url.replace(`/p/${other.slug}/`, '/p/no-such-project/'))).toMatchObject(
      refused(404, 'project_not_found'),
    );
  });

  it('authorizes the download, not the record', async () => {
    const url = await sign();
    expect((await plinth.http.get(url.replace('/signed?', '?'))).status).toBe(401);
    expect((await plinth.http.get(url.replace('/signed?', '/download?'))).status).toBe(401);
    expect((await plinth.http.delete(url)).status).toBe(401);
  });

  it('answers 404 when the file was deleted', async () => {
    const url = await sign();
    await user.delete(file);
    expect(await plinth.http.get(url)).toMatchObject(refused(404, 'file_not_found'));
  });

  it('stays valid after the file is renamed or overwritten', async () => {
    const url = await sign();
    const name = (await user.get(file)).body.data.filename;
    await upload(user, project.storage, 'private', 'newer', { name, query: { upsert: 'true' } });
    expect((await plinth.http.get(url)).text).toBe('newer');
    await user.patch(file, { filename: 'renamed' });
    expect((await plinth.http.get(url)).headers.get('content-disposition')).toContain('renamed');
  });
});

describe('DELETE /files/<file_id>/signed-urls', () => {
  it('revokes all existing links of a file, but not later ones', async () => {
    const [first, second] = [await sign('1h'), await sign('7d')];
    expect(await user.delete(`${file}/signed-urls`)).toMatchObject({
      status: 200,
      body: { data: null, error: null },
    });
    for (const url of [first, second])
      expect(await plinth.http.get(url)).toMatchObject(refused(401, 'invalid_signature'));
    expect((await plinth.http.get(await sign())).status).toBe(200);
  });

  it('answers 404 to a caller that may not see the file, 403 to one that may only read it', async () => {
    expect((await project.asSubject().delete(`${file}/signed-urls`)).status).toBe(404);
    await user.post(`${project.storage}/buckets`, { name: 'window', is_public: true });
    const shown = (await upload(user, project.storage, 'window', 'x', { name: `${Math.random()}` })).body.data
      .id;
    expect((await project.asSubject().delete(`${project.storage}/files/${shown}/signed-urls`)).status).toBe(
      403,
    );
  });
});
