/** The steps of the scenario. A client implements ProjectApi with its own functions, so the compiler compares their types. */
import assert from 'node:assert/strict';
import { account, ANON_KEY, BASE_URL, done } from './common';

export interface Todo {
  readonly id: number;
  readonly owner: string;
  readonly title: string;
  readonly done: boolean;
  readonly priority: 'low' | 'normal' | 'high';
  readonly tags: readonly string[];
  readonly due: string | null;
}

type ConflictCode = '23503' | '23505' | '23P01' | 'PT409';

export interface ProjectApi {
  signUp(body: { email: string; password: string }): Promise<{ userId: string; token: string | undefined }>;
  insertTodo(body: { title: string }): Promise<readonly Todo[]>;
  insertTodos(body: { title: string; tags: string[] }[]): Promise<readonly Todo[]>;
  findTodos(query: { title: string; done: string; order: string; limit: number }): Promise<readonly Todo[]>;
  pageOfTodos(query: { order: string; limit: number; offset: number }): Promise<readonly Todo[]>;
  finishTodo(id: number): Promise<readonly Todo[]>;
  savePreference(body: { name: string; value: { dark: boolean } }): Promise<readonly { value?: unknown }[]>;
  add(a: number): Promise<number | null>;
  createBucket(name: string): Promise<string>;
  upload(bucket: string, file: File): Promise<{ id: string; size: number }>;
  listFiles(bucket: string): Promise<readonly { filename: string }[]>;
  sign(fileId: string): Promise<string>;
  download(fileId: string): Promise<Blob | string>;
  deleteFile(fileId: string): Promise<unknown>;
  deleteTodo(id: number): Promise<readonly Todo[]>;
  /** A read that answers 401. */
  refusedRead(): Promise<{ status: number; message: string }>;
  /** A read of the table `sealed`. */
  forbiddenRead(): Promise<{ status: number; code: string }>;
  /** An insert of a title that exists; the code and the constraint are known by the type of the error. */
  conflictingInsert(
    title: string,
  ): Promise<{ status: number; code: ConflictCode; constraint: string | null }>;
}

/** @param connect a client that sends the given bearer token */
export async function runSteps(connect: (token: string) => ProjectApi): Promise<void> {
  const { userId, token = '' } = await connect(ANON_KEY).signUp(account);
  assert.notEqual(token, '');
  const api = connect(token);
  done('sign up');

  const [todo] = await api.insertTodo({ title: 'Buy milk' });
  assert.ok(todo);
  assert.deepEqual([todo.owner, todo.done, todo.priority, todo.due], [userId, false, 'normal', null]);
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

  const refused = await connect('garbage').refusedRead();
  assert.equal(refused.status, 401);
  assert.equal(typeof refused.message, 'string');
  done('401');
  assert.deepEqual(await api.forbiddenRead(), { status: 403, code: '42501' });
  done('403');
  const conflict = { status: 409, code: '23505', constraint: 'todos_title_key' };
  assert.deepEqual(await api.conflictingInsert('A'), conflict);
  done('409');
}

async function useFiles(api: ProjectApi): Promise<void> {
  const bucket = await api.createBucket(`Notes ${Date.now()}`);
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

function titlesOf(todos: readonly Todo[]): string[] {
  return todos.map(({ title }) => title);
}
