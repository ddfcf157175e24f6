/** Buckets: create, list, show, change, delete (SPEC.md 2.5, 3.3, 4.1). */
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

let plinth: TestPlinth;
let project: TestProject;
let buckets: string;
beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ plan: 'enterprise' });
  buckets = `${project.storage}/buckets`;
});
afterAll(() => plinth.stop());

const RECORD_KEYS = [
  'id',
  'name',
  'slug',
  'description',
  'is_public',
  'owner_id',
  'file_size_limit',
  'allowed_mime_types',
  'quota_bytes',
  'quota_files',
  'cache_control',
  'delete_after_days',
  'scan',
  'created_at',
  'updated_at',
];

describe('POST /buckets', () => {
  it('creates a bucket and answers its record in the envelope', async () => {
    const user = project.asSubject();
    const answer = await user.post(buckets, {
      name: 'Team Photos',
      description: 'Of the team',
      is_public: true,
    });
    expect(answer.status).toBe(201);
    expect(Object.keys(answer.body)).toEqual(['data', 'error']);
    expect(answer.body.error).toBeNull();
    expect(Object.keys(answer.body.data)).toEqual(RECORD_KEYS);
    expect(answer.body.data).toMatchObject({
      name: 'Team Photos',
      description: 'Of the team',
      is_public: true,
      owner_id: user.userId,
      file_size_limit: null,
      allowed_mime_types: null,
      quota_bytes: null,
      quota_files: null,
      cache_control: null,
      delete_after_days: null,
      scan: null,
    });
  });

  it('generates the slug from the name', async () => {
    const { body } = await project.asSubject().post(buckets, { name: 'Crème Brûlée & Co. 2026' });
    expect(body.data.slug).toBe('creme-brulee-co-2026');
  });

  it('creates a private bucket without description by default', async () => {
    const { body } = await project.asSubject().post(buckets, { name: 'defaults' });
    expect(body.data).toMatchObject({ is_public: false, description: null });
  });

  it('answers 409 bucket_already_exists when the name is taken', async () => {
    await project.asSubject().post(buckets, { name: 'taken' });
    const answer = await project.asSubject().post(buckets, { name: 'taken' });
    expect(answer.status).toBe(409);
    expect(answer.body).toEqual({
      data: null,
      error: { message: expect.any(String), code: 'bucket_already_exists', status: 409 },
    });
  });

  it('answers 409 when the slug is taken by a bucket of another name', async () => {
    await project.asSubject().post(buckets, { name: 'same slug' });
    expect(await project.asSubject().post(buckets, { name: 'Same   Slug!' })).toMatchObject({
      status: 409,
      body: { error: { code: 'bucket_already_exists' } },
    });
  });

  it('answers 201 once and 409 otherwise when many create the same bucket concurrently', async () => {
    const user = project.asSubject();
    const answers = await Promise.all(Array.from({ length: 10 }, () => user.post(buckets, { name: 'race' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(9).fill(409)]);
  });

  it('creates a bucket without an owner with the service-role key', async () => {
    const { body } = await project.service.post(buckets, { name: 'project bucket' });
    expect(body.data.owner_id).toBeNull();
  });

  it('takes the owner from the bearer when the service-role key is the apikey, and never from the body', async () => {
    const user = project.asSubject();
    const bearer = user.headers.authorization?.slice('Bearer '.length) as string;
    const client = project.client(project.serviceKey, bearer);
    const claimed = { name: 'for a user', owner_id: '00000000-0000-4000-8000-000000000001' };
    const refused = await client.post(buckets, claimed);
    expect([refused.status, refused.body.error.message]).toEqual([400, 'owner_id is unknown']);
    const { body } = await client.post(buckets, { name: 'for a user' });
    expect(body.data.owner_id).toBe(user.userId);
  });

  it.each([
    ['no name', {}],
    ['an empty name', { name: '' }],
    ['a blank name', { name: '  ' }],
    ['a name that is not a string', { name: 5 }],
    ['a name with a control character', { name: 'a\u0000b' }],
    ['a name with half a surrogate pair', '{"name":"a\\ud800b"}'],
    ['the name ..', { name: '..' }],
    ['a name of 256 bytes', { name: 'ü'.repeat(128) }],
    ['is_public that is not a boolean', { name: 'x', is_public: 'yes' }],
    ['a description that is not a string', { name: 'x', description: 5 }],
    ['a size limit of 0', { name: 'x', file_size_limit: 0 }],
    ['a size limit that is not an integer', { name: 'x', file_size_limit: 1.5 }],
    ['invalid types', { name: 'x', allowed_mime_types: ['images'] }],
    ['a wildcard for all types', { name: 'x', allowed_mime_types: ['*/png'] }],
    ['types that are not a list', { name: 'x', allowed_mime_types: 'image/png' }],
    ['a list', '[{"name":"x"}]'],
    ['null', 'null'],
    ['malformed JSON', '{"name":'],
  ])('answers 400 invalid_parameters for %s', async (_case, body) => {
    const answer = await project.asSubject().post(buckets, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      data: null,
      error: { message: expect.any(String), code: 'invalid_parameters', status: 400 },
    });
  });

  it.each([
    [{ name: 'x', file_size_limit: '5' }, 'file_size_limit must be an integer number'],
    [{ name: 'x', file_size_limit: 0 }, 'file_size_limit must not be less than 1'],
    [{ name: 'x', description: 5 }, 'description must be a string'],
    [{ name: 'x', delete_after_days: 0 }, 'delete_after_days must not be less than 1'],
    [{ name: 'x', delete_after_days: 3_651 }, 'delete_after_days must not be greater than 3650'],
    [{ name: 'x', cache_control: 5 }, 'cache_control must be a string'],
    [{ name: 'x', allowed_mime_types: 'image/png' }, 'allowed_mime_types must be an array'],
    [{ name: 'x', allowed_mime_types: [5] }, 'each value in allowed_mime_types must be a string'],
  ])('reports the fault of %j: %s', async (body, message) => {
    expect((await project.asSubject().post(buckets, body)).body.error.message).toBe(message);
  });

  it('answers 403 forbidden to the anon key', async () => {
    expect(await project.anon.post(buckets, { name: 'anonymous' })).toMatchObject({
      status: 403,
      body: { data: null, error: { code: 'forbidden', status: 403 } },
    });
  });

  it('answers 403 to a token whose subject is not a user id', async () => {
    expect((await project.asSubject('somebody').post(buckets, { name: 'no uuid' })).status).toBe(403);
  });
});

describe('GET /buckets', () => {
  it('lists the buckets visible to the caller: own, public and project buckets', async () => {
    const own = await plinth.createProject({ plan: 'enterprise' });
    const [ada, bob] = [own.asSubject(), own.asSubject()];
    const path = `${own.storage}/buckets`;
    await ada.post(path, { name: 'a private' });
    await bob.post(path, { name: 'b private' });
    await bob.post(path, { name: 'b public', is_public: true });
    await own.service.post(path, { name: 'project' });
    const names = async (client: typeof own.anon): Promise<string[]> =>
      (await client.get(path)).body.data.map((bucket: { name: string }) => bucket.name);
    expect(await names(ada)).toEqual(['a private', 'b public', 'project']);
    expect(await names(bob)).toEqual(['b private', 'b public', 'project']);
    expect(await names(own.anon)).toEqual(['b public']);
    expect(await names(own.service)).toEqual(['a private', 'b private', 'b public', 'project']);
  });
});

describe('GET /buckets/<bucket_name>', () => {
  it('answers the record by slug and by name', async () => {
    const user = project.asSubject();
    const { body } = await user.post(buckets, { name: 'Räume / Zürich' });
    expect((await user.get(`${buckets}/raume-zurich`)).body.data).toEqual(body.data);
    expect((await user.get(`${buckets}/${encodeURIComponent('Räume / Zürich')}`)).body.data).toEqual(
      body.data,
    );
  });

  it('answers 404 bucket_not_found for an unknown bucket', async () => {
    expect(await project.asSubject().get(`${buckets}/nowhere`)).toMatchObject({
      status: 404,
      body: { data: null, error: { message: expect.any(String), code: 'bucket_not_found', status: 404 } },
    });
  });

  it("answers 404 for another user's private bucket", async () => {
    await project.asSubject().post(buckets, { name: 'secret plans' });
    expect((await project.asSubject().get(`${buckets}/secret-plans`)).body.error.code).toBe(
      'bucket_not_found',
    );
    expect((await project.anon.get(`${buckets}/secret-plans`)).status).toBe(404);
  });

  it.each(["' or true --", '%', '_', '"', '..;', '\u202e'])('finds nothing by %j', async (name) => {
    expect((await project.service.get(`${buckets}/${encodeURIComponent(name)}`)).status).toBe(404);
  });
});

describe('PATCH /buckets/<bucket_name>', () => {
  it('changes the given fields, and the slug with the name', async () => {
    const user = project.asSubject();
    await user.post(buckets, { name: 'old name', description: 'kept' });
    const { status, body } = await user.patch(`${buckets}/old-name`, {
      name: 'New Name',
      is_public: true,
      file_size_limit: 10,
      allowed_mime_types: ['image/*'],
    });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      name: 'New Name',
      slug: 'new-name',
      description: 'kept',
      is_public: true,
      file_size_limit: 10,
      allowed_mime_types: ['image/*'],
    });
    expect((await user.get(`${buckets}/old-name`)).status).toBe(404);
    expect(
      (await user.patch(`${buckets}/new-name`, { file_size_limit: null })).body.data.file_size_limit,
    ).toBeNull();
  });

  it("answers 409 for a taken name, 404 for an unknown bucket and 403 for another user's visible one", async () => {
    const user = project.asSubject();
    await user.post(buckets, { name: 'first', is_public: true });
    await user.post(buckets, { name: 'second' });
    expect((await user.patch(`${buckets}/second`, { name: 'First' })).status).toBe(409);
    expect((await user.patch(`${buckets}/third`, { name: 'x' })).status).toBe(404);
    expect((await project.asSubject().patch(`${buckets}/first`, { name: 'x' })).status).toBe(403);
    for (const bad of [{ is_public: 'yes' }, { name: null }, { name: '' }, { name: 'a\nb' }]) {
      expect((await user.patch(`${buckets}/second`, bad)).status).toBe(400);
    }
  });
});

describe('DELETE /buckets/<bucket_name>', () => {
  it('deletes the bucket and answers in the envelope', async () => {
    const user = project.asSubject();
    await user.post(buckets, { name: 'short lived' });
    const answer = await user.delete(`${buckets}/short-lived`);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ data: { name: 'short lived' }, error: null });
    expect((await user.delete(`${buckets}/short-lived`)).body.error.code).toBe('bucket_not_found');
  });

  it('answers 403 for a public bucket of another user, 404 for a private one', async () => {
    const user = project.asSubject();
    await user.post(buckets, { name: 'open house', is_public: true });
    await user.post(buckets, { name: 'closed house' });
    expect((await project.asSubject().delete(`${buckets}/open-house`)).status).toBe(403);
    expect((await project.anon.delete(`${buckets}/open-house`)).status).toBe(403);
    expect((await project.asSubject().delete(`${buckets}/closed-house`)).status).toBe(404);
    expect((await user.get(`${buckets}/open-house`)).status).toBe(200);
  });

  it('does not delete the files in it; they become private, reachable for their owner and the service-role key', async () => {
    const [owner, uploader] = [project.asSubject(), project.asSubject()];
    await project.service.post(buckets, { name: 'doomed', is_public: true });
    const { body } = await upload(uploader, project.storage, 'doomed', 'still here', { name: 'note.txt' });
    const file = `${project.storage}/files/${body.data.id}`;
    const link = (await uploader.post(`${file}/signed-url`, { expiry: '1h' })).body.data.url as string;
    expect((await plinth.http.get(`${file}/preview`)).status).toBe(200);

    expect((await project.service.delete(`${buckets}/doomed`)).status).toBe(200);

    expect((await uploader.get(`${file}/download`)).text).toBe('still here');
    expect((await project.service.get(`${file}/download`)).text).toBe('still here');
    expect((await uploader.get(file)).body.data).toMatchObject({ id: body.data.id, bucket_slug: null });
    expect((await plinth.http.get(link.replace('http://plinth.test', ''))).text).toBe('still here');
    expect((await owner.get(`${file}/download`)).status).toBe(404);
    expect((await project.anon.get(`${file}/download`)).status).toBe(404);
    expect((await plinth.http.get(`${file}/preview`)).status).toBe(404);
    expect((await uploader.patch(file, { filename: 'renamed.txt' })).body.data.filename).toBe('renamed.txt');
    expect((await uploader.delete(file)).status).toBe(200);
  });

  it('does not pass the files to a later bucket of the same name', async () => {
    const user = project.asSubject();
    await user.post(buckets, { name: 'phoenix' });
    await upload(user, project.storage, 'phoenix', 'old', { name: 'a.txt' });
    await user.delete(`${buckets}/phoenix`);
    await user.post(buckets, { name: 'phoenix' });
    expect((await user.get(`${buckets}/phoenix/files`)).body.data).toEqual([]);
    expect((await upload(user, project.storage, 'phoenix', 'new', { name: 'a.txt' })).status).toBe(201);
  });
});
