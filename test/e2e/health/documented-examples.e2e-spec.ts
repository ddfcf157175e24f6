/** The examples of request bodies in the OpenAPI document, which the docs page fills in, are accepted as they are. */
import type { HttpAnswer, HttpClient } from '../../support/http-client';
import { type OpenApiDocument, operationsOf, resolve } from '../../support/openapi';
import { TestPlinth } from '../../support/plinth';
import type { TestProject, TestUser } from '../../support/test-project';
import { upload } from '../../support/uploads';

let plinth: TestPlinth;
let project: TestProject;
let user: TestUser;
let document: OpenApiDocument;
let fileId: string;
beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ plan: 'enterprise' });
  user = await project.signUp();
  document = (await plinth.http.get('/openapi.json')).body;
  await project.service.post(`${project.storage}/buckets`, { name: 'box' });
  fileId = (await upload(project.service, project.storage, 'box', 'abc', { name: 'first' })).body.data.id;
});
afterAll(() => plinth.stop());

/** Sends the example of an operation, with the parameters of its path filled in. */
async function sendExample(
  client: HttpClient,
  operationId: string,
  parameters: Record<string, string> = {},
): Promise<HttpAnswer> {
  const found = operationsOf(document).find(({ operation }) => operation.operationId === operationId);
  if (!found) throw new Error(`no operation ${operationId}`);
  const [method = '', template = ''] = found.name.split(' ');
  const known: Record<string, string> = {
    id: project.id,
    project_id: project.id,
    project_slug: project.slug,
    bucket_name: 'box',
    file_id: fileId,
    ...parameters,
  };
  const path = template.replace(/\{(\w+)\}/g, (_all, name: string) => known[name] ?? '');
  const content = resolve(document, found.operation.requestBody).content;
  const [[type, media]] = Object.entries<{
    example?: unknown;
    examples?: Record<string, { value: unknown }>;
  }>(content) as [[string, { example?: unknown; examples?: Record<string, { value: unknown }> }]];
  const value = (media.example ?? Object.values(media.examples ?? {})[0]?.value) as Record<string, string>;
  return client.send(method, path, { body: type === 'multipart/form-data' ? formOf(value) : value });
}

function formOf({ file = '', ...fields }: Record<string, string>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('file', new Blob([file]), 'file');
  return form;
}

it('accepts those of the administration', async () => {
  for (const operation of ['createProject', 'updateProject', 'runProjectSql', 'rotateProjectKeys']) {
    const answer = await sendExample(plinth.admin, operation);
    expect([operation, answer.status, answer.text]).toEqual([
      operation,
      operation === 'createProject' ? 201 : 200,
      expect.any(String),
    ]);
  }
});

it('accepts those of storage', async () => {
  const expected: [string, number, string?][] = [
    ['createBucket', 201],
    ['updateBucket', 200],
    ['uploadFile', 201],
    ['uploadFile', 200],
    ['updateFile', 200],
    ['copyFile', 201],
    ['createSignedUrl', 200],
    ['bulkCreateSignedUrls', 200],
    ['bulkDeleteFiles', 200],
  ];
  for (const [operation, status] of expected) {
    const answer = await sendExample(project.service, operation);
    expect([operation, answer.status, answer.text]).toEqual([operation, status, expect.any(String)]);
  }
});

it('accepts those of auth that need no mailed token or code', async () => {
  const guest = project.client(project.anonKey, null);
  const expected: [string, HttpClient, number][] = [
    ['signUp', guest, 201],
    ['signIn', guest, 200],
    ['resetPassword', guest, 200],
    ['resendVerification', guest, 200],
    ['updateUser', user.http, 200],
    ['enrolFactor', user.http, 200],
    ['signOut', user.http, 200],
    ['adminPreviewMail', project.service, 200],
  ];
  for (const [operation, client, status] of expected) {
    const answer = await sendExample(client, operation);
    expect([operation, answer.status, answer.text]).toEqual([operation, status, expect.any(String)]);
  }
});

it('accepts those of the administration of users', async () => {
  const other = await plinth.createProject();
  const parameters = { project_id: other.id };
  const created = await sendExample(other.service, 'adminCreateUser', parameters);
  expect([created.status, created.text]).toEqual([200, expect.any(String)]);
  const updated = await sendExample(other.service, 'adminUpdateUser', {
    ...parameters,
    user_id: created.body.user.id,
  });
  expect(updated.status).toBe(200);
  const third = await plinth.createProject();
  const invited = await sendExample(third.service, 'adminInviteUser', { project_id: third.id });
  expect([invited.status, invited.text]).toEqual([200, expect.any(String)]);
});
