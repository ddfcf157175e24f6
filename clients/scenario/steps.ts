/** The steps of the scenario. A client implements ProjectApi with its own functions, so the compiler compares their types. */
import assert from 'node:assert/strict';
import { ANON_KEY, BASE_URL } from './common';

export interface Todo {
  readonly id: number;
  readonly owner: string;
  readonly title: string;
  readonly done: boolean;
  readonly priority: 'low' | 'normal' | 'high';
  readonly tags: readonly string[];
  readonly due: string | null;
}

export interface Failure<Body> {
  readonly status: number;
  readonly error: Body;
}

/** Each status has its own codes, by which the type of the error is known. */
export interface Conflict {
  readonly code: '23503' | '23505' | '23P01' | 'PT409';
  readonly detail: { readonly constraint: string | null };
}

export interface ProjectApi {
  signUp(body: {
    email: string;
    password: string;
  }): Promise<{ user: { id: string }; session?: { access_token: string } | null }>;
  insertTodo(body: { title: string }): Promise<readonly Todo[]>;
  insertTodos(body: { title: string; tags: string[] }[]): Promise<readonly Todo[]>;
  findTodos(query: { title: string; done: string; order: string; limit: number }): Promise<readonly Todo[]>;
  pageOfTodos(query: { order: string; limit: number; offset: number }): Promise<readonly Todo[]>;
  finishTodo(id: number): Promise<readonly Todo[]>;
  savePreference(body: { name: string; value: { dark: boolean } }): Promise<readonly { value?: unknown }[]>;
  add(a: number): Promise<number | null>;
  /** A public one. @returns its slug */
  createBucket(name: string): Promise<string>;
  /** A change that names the description alone. */
  describeBucket(bucket: string, description: string): Promise<{ is_public: boolean }>;
  upload(bucket: string, file: File): Promise<{ id: string; size: number }>;
  listFiles(bucket: string): Promise<readonly { filename: string }[]>;
  sign(fileId: string): Promise<string>;
  download(fileId: string): Promise<Blob | string>;
  deleteFile(fileId: string): Promise<unknown>;
  deleteTodo(id: number): Promise<readonly Todo[]>;
  /** A read that answers 401. */
  refusedRead(): Promise<Failure<{ message: string }>>;
  /** A read of the table `sealed`. */
  forbiddenRead(): Promise<Failure<{ code: string }>>;
  /** An insert of a title that exists. */
  conflictingInsert(title: string): Promise<Failure<Conflict>>;
}

const account = { email: `ada-${Date.now()}@example.com`, password: 'correct horse' };

/** A test reads the steps from standard output. */
function done(step: string): void {
  console.log(step);
}

/** @param connect a client that sends the given bearer token */
export async function runSteps(connect: (token: string) => ProjectApi): Promise<void> {
  const { user, session } = await connect(ANON_KEY).signUp(account);
  assert.ok(session);
  const api = connect(session.access_token);
  done('sign up');

  const [todo] = await api.insertTodo({ title: 'Buy milk' });
  assert.ok(todo);
  assert.deepEqual([todo.owner, todo.done, todo.priority, todo.due], [user.id, false, 'normal', null]);
  const others = await api.insertTodos([
    { title: 'A', tags: ['x'] },
    { title: 'B', tags: [] },
  ]);
  assert.deepEqual(
    others.map(({ title, tags }) => [title, tags]),
    [
      ['A', ['x']],
      ['B', []],
    ],
  );
  done('insert');

  const found = await api.findTodos({ title: 'eq.Buy milk', done: 'is.false', order: 'id.desc', limit: 10 });
  assert.deepEqual(titlesOf(found), ['Buy milk']);
  done('filter');

  const page = await api.pageOfTodos({ order: 'title.asc', limit: 2, offset: 1 });
  assert.deepEqual(titlesOf(page), ['B', 'Buy milk']);
  done('page');

  const updated = await api.finishTodo(todo.id);
  assert.deepEqual(
    updated.map((one) => [one.title, one.done]),
    [['Buy milk', true]],
  );
  done('update');

  for (const value of [{ dark: true }, { dark: false }]) {
    const saved = await api.savePreference({ name: 'theme', value });
    assert.deepEqual(
      saved.map((one) => one.value),
      [value],
    );
  }
  done('upsert');

  assert.equal(await api.add(40), 42);
  done('call');

  await useFiles(api);

  assert.deepEqual(titlesOf(await api.deleteTodo(todo.id)), ['Buy milk']);
  done('delete');

  await fail(api, connect('garbage'));
}

async function useFiles(api: ProjectApi): Promise<void> {
  const bucket = await api.createBucket(`Notes ${Date.now()}`);
  const described = await api.describeBucket(bucket, 'Of the scenario');
  assert.equal(described.is_public, true);
  done('describe');

  const text = 'Hello from Plinth';
  const file = await api.upload(bucket, new File([text], 'hello.txt', { type: 'text/plain' }));
  assert.equal(file.size, text.length);
  done('upload');

  assert.deepEqual(
    (await api.listFiles(bucket)).map(({ filename }) => filename),
    ['hello.txt'],
  );
  done('list');

  const { pathname, search } = new URL(await api.sign(file.id));
  assert.equal(await (await fetch(BASE_URL + pathname + search)).text(), text);
  done('sign');

  const bytes = await api.download(file.id);
  assert.equal(typeof bytes === 'string' ? bytes : await bytes.text(), text);
  done('download');
  await api.deleteFile(file.id);
}

async function fail(api: ProjectApi, stranger: ProjectApi): Promise<void> {
  const refused = await stranger.refusedRead();
  assert.equal(refused.status, 401);
  assert.equal(typeof refused.error.message, 'string');
  done('401');

  const forbidden = await api.forbiddenRead();
  assert.deepEqual([forbidden.status, forbidden.error.code], [403, '42501']);
  done('403');

  const { status, error } = await api.conflictingInsert('A');
  assert.deepEqual([status, error.code, error.detail.constraint], [409, '23505', 'todos_title_key']);
  done('409');
}

function titlesOf(todos: readonly Todo[]): string[] {
  return todos.map(({ title }) => title);
}
