/** The page: a list of todos, each with the files that belong to it. */
import { api, dataOf, enter, isSignedIn, signOut, type StoredFile, type Todo } from './api';

const TODOS = '/p/demo/rest/v1/todos';
const bucket = { bucket_name: 'files' };

const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const credentials = element<HTMLFormElement>('credentials');
const add = element<HTMLFormElement>('add');

/** Runs an action, shows its error, and shows the list again. */
async function run(action: () => Promise<unknown>): Promise<void> {
  element('problem').textContent = '';
  try {
    await action();
    if (isSignedIn()) await showTodos();
  } catch (error) {
    element('problem').textContent = error instanceof Error ? error.message : String(error);
  }
  credentials.hidden = isSignedIn();
  element('app').hidden = !isSignedIn();
}

async function showTodos(): Promise<void> {
  const [todos, files] = await Promise.all([
    api.GET(TODOS, { params: { query: { order: 'id.asc' } } }).then(dataOf),
    api
      .GET('/p/demo/storage/buckets/{bucket_name}/files', {
        params: { path: bucket, query: { prefix: 'todos/', limit: 1000 } },
      })
      .then((answer) => dataOf(answer).data),
  ]);
  const links = await linksOf(files);
  element('todos').replaceChildren(
    ...todos.map((todo) =>
      rowOf(
        todo,
        files.filter((file) => file.filename.startsWith(folderOf(todo))),
        links,
      ),
    ),
  );
}

const folderOf = ({ id }: Todo): string => `todos/${id}/`;

/** Addresses for an hour, by the id of the file. */
async function linksOf(files: StoredFile[]): Promise<Map<string, string>> {
  const body = { file_ids: files.map(({ id }) => id), expiry: '1h' } as const;
  const signed = dataOf(await api.POST('/p/demo/storage/files/bulk-signed-urls', { body })).data;
  return new Map(signed.map(({ file_id, url }) => [file_id, url ?? '']));
}

function rowOf(todo: Todo, files: StoredFile[], links: Map<string, string>): HTMLLIElement {
  const row = document.createElement('li');
  const done = Object.assign(document.createElement('input'), { type: 'checkbox', checked: todo.done });
  done.onchange = () => run(() => change(todo, { done: done.checked }));
  const title = Object.assign(document.createElement('span'), { textContent: todo.title });
  const attach = Object.assign(document.createElement('input'), { type: 'file', ariaLabel: 'Attach a file' });
  attach.onchange = () => run(() => upload(todo, attach.files![0]!));
  const remove = Object.assign(document.createElement('button'), { textContent: 'Delete' });
  remove.onclick = () => run(() => removeTodo(todo, files));
  const anchors = files.map(({ id, filename }) =>
    Object.assign(document.createElement('a'), {
      href: links.get(id),
      textContent: filename.slice(folderOf(todo).length),
    }),
  );
  row.append(done, title, ...anchors, attach, remove);
  return row;
}

async function change(todo: Todo, body: { done: boolean }): Promise<void> {
  dataOf(await api.PATCH(TODOS, { params: { query: { id: `eq.${todo.id}` } }, body }));
}

async function upload(todo: Todo, file: File): Promise<void> {
  const form = new FormData();
  form.append('filename', folderOf(todo) + file.name);
  form.append('file', file);
  const answer = await api.POST('/p/demo/storage/buckets/{bucket_name}/upload', {
    params: { path: bucket, query: { upsert: 'true' } },
    // The types of the document have a file as text; the form is what is sent.
    body: { file: '' },
    bodySerializer: () => form,
  });
  dataOf(answer);
}

async function removeTodo(todo: Todo, files: StoredFile[]): Promise<void> {
  const body = { file_ids: files.map(({ id }) => id) };
  if (files.length > 0) dataOf(await api.POST('/p/demo/storage/files/bulk-delete', { body }));
  dataOf(await api.DELETE(TODOS, { params: { query: { id: `eq.${todo.id}` } } }));
}

credentials.onsubmit = (event) => {
  event.preventDefault();
  const { email, password } = Object.fromEntries(new FormData(credentials)) as Record<string, string>;
  const how = (event.submitter as HTMLButtonElement).value as 'login' | 'signup';
  void run(() => enter(how, email!, password!));
};
add.onsubmit = (event) => {
  event.preventDefault();
  const title = new FormData(add).get('title') as string;
  void run(async () => {
    dataOf(await api.POST(TODOS, { body: { title } }));
    add.reset();
  });
};
element('sign-out').onclick = () => run(signOut);
void run(async () => undefined);
