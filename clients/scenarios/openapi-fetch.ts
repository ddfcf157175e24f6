/** openapi-typescript and openapi-fetch. */
import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import { account, ANON_KEY, BASE_URL, done, given, headersOf } from './common';
import type { components, paths } from './schema';

type Todo = components['schemas']['Todos'];

const visitor = createClient<paths>({ baseUrl: BASE_URL, headers: headersOf(ANON_KEY) });

const signedUp = await visitor.POST('/v1/auth/$PROJECT_ID/signup', { body: account });
const { user, session } = given(signedUp.data, signedUp.error);
const api = createClient<paths>({ baseUrl: BASE_URL, headers: headersOf(given(session).access_token) });
done('sign up');

const inserted = await api.POST('/p/rich/rest/v1/todos', { body: { title: 'Buy milk' } });
const [todo] = given(inserted.data, inserted.error);
assert.equal(given(todo).owner, user.id);
assert.equal(given(todo).done, false);
const priority: 'low' | 'normal' | 'high' = given(todo).priority;
assert.equal(priority, 'normal');
const several = await api.POST('/p/rich/rest/v1/todos', {
  body: [
    { title: 'A', tags: ['x'] },
    { title: 'B', tags: [] },
  ],
});
assert.equal(given(several.data, several.error).length, 2);
// @ts-expect-error a title is required
void (() => api.POST('/p/rich/rest/v1/todos', { body: { done: true } }));
// @ts-expect-error there is no such label
void (() => api.POST('/p/rich/rest/v1/todos', { body: { title: 'C', priority: 'urgent' } }));
done('insert');

const found = await api.GET('/p/rich/rest/v1/todos', {
  params: { query: { title: 'eq.Buy milk', done: 'is.false', order: 'id.desc', limit: 10 } },
});
const rows: Todo[] = given(found.data, found.error);
assert.deepEqual(
  rows.map(({ title }) => title),
  ['Buy milk'],
);
done('filter');

const page = await api.GET('/p/rich/rest/v1/todos', {
  params: { query: { order: 'title.asc', limit: 2, offset: 1 }, header: { Prefer: 'count=exact' } },
});
assert.deepEqual(
  given(page.data, page.error).map(({ title }) => title),
  ['B', 'Buy milk'],
);
assert.equal(page.response.headers.get('content-range'), '1-2/3');
done('page');

const id = given(todo).id;
const updated = await api.PATCH('/p/rich/rest/v1/todos', {
  params: { query: { id: `eq.${id}` } },
  body: { done: true },
});
assert.deepEqual(
  given(updated.data, updated.error).map((one) => [one.done, one.title]),
  [[true, 'Buy milk']],
);
done('update');

for (const value of [{ dark: true }, { dark: false }]) {
  const upserted = await api.POST('/p/rich/rest/v1/preferences', {
    params: { header: { Prefer: 'resolution=merge-duplicates' } },
    body: { name: 'theme', value },
  });
  assert.deepEqual(
    given(upserted.data, upserted.error).map((one) => one.value),
    [value],
  );
}
done('upsert');

const sum = await api.POST('/p/rich/rest/v1/rpc/add', { body: { a: 40 } });
assert.equal(given(sum.data, sum.error), 42);
const overloaded = await api.POST('/p/rich/rest/v1/rpc/label', { body: { value: 'a', quoted: true } });
assert.equal(given(overloaded.data, overloaded.error), "'a'");
const matching = await api.GET('/p/rich/rest/v1/rpc/find_todos', { params: { query: { words: 'milk' } } });
assert.equal(given(matching.data, matching.error)[0]?.id, id);
done('call');

const bucket = await api.POST('/p/rich/storage/buckets', { body: { name: 'Notes' } });
const bucketName = given(bucket.data, bucket.error).data.slug;
const form = new FormData();
form.append('file', new Blob(['Hello from Plinth'], { type: 'text/plain' }), 'hello.txt');
const uploaded = await api.POST('/p/rich/storage/buckets/{bucket_name}/upload', {
  params: { path: { bucket_name: bucketName } },
  body: { file: '' },
  bodySerializer: () => form,
});
const file = given(uploaded.data, uploaded.error).data;
assert.equal(file.size, 17);
done('upload');

const listed = await api.GET('/p/rich/storage/buckets/{bucket_name}/files', {
  params: { path: { bucket_name: bucketName }, query: { limit: 5 } },
});
assert.deepEqual(
  given(listed.data, listed.error).data.map(({ filename }) => filename),
  ['hello.txt'],
);
done('list');

const signed = await api.POST('/p/rich/storage/files/{file_id}/signed-url', {
  params: { path: { file_id: file.id } },
  body: { expiry: '1h' },
});
const url = new URL(given(signed.data, signed.error).data.url);
assert.equal(await (await fetch(BASE_URL + url.pathname + url.search)).text(), 'Hello from Plinth');
done('sign');

const downloaded = await api.GET('/p/rich/storage/files/{file_id}/download', {
  params: { path: { file_id: file.id } },
  parseAs: 'text',
});
assert.equal(given(downloaded.data, downloaded.error), 'Hello from Plinth');
done('download');

const removed = await api.DELETE('/p/rich/storage/files/{file_id}', {
  params: { path: { file_id: file.id } },
});
assert.equal(removed.response.ok, true);
const deleted = await api.DELETE('/p/rich/rest/v1/todos', { params: { query: { id: `eq.${id}` } } });
assert.deepEqual(
  given(deleted.data, deleted.error).map((one) => one.id),
  [id],
);
done('delete');

const stranger = createClient<paths>({ baseUrl: BASE_URL, headers: headersOf('garbage') });
const unauthorized = await stranger.GET('/p/rich/rest/v1/todos');
assert.equal(unauthorized.response.status, 401);
assert.equal(typeof given(unauthorized.error).message, 'string');
done('401');

const forbidden = await api.GET('/p/rich/rest/v1/sealed');
assert.equal(forbidden.response.status, 403);
assert.equal(given(forbidden.error).code, '42501');
done('403');

const conflict = await api.POST('/p/rich/rest/v1/todos', { body: { title: 'A' } });
const error = given(conflict.error);
assert.equal(conflict.response.status, 409);
assert.ok(isConflict(error));
const code: '23505' | '23503' | '23P01' | 'PT409' = error.code;
assert.deepEqual([code, error.detail.constraint], ['23505', 'todos_title_key']);
done('409');

/** Each status has its own codes, by which the type of the error is known. */
function isConflict(one: { code: string }): one is components['schemas']['RestConflictError'] {
  return one.code === '23505';
}
