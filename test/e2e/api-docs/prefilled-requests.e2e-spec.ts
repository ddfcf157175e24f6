/**
 * Each operation accepts the request that the page /docs fills in, and each example of its parameters. The requests and
 * responses of a project are compared with its own document, which types columns and functions.
 */
import { DocumentChecker } from '../../support/documented/document-checker';
import type { HttpAnswer, HttpClient } from '../../support/http-client';
import { type NamedOperation, type OpenApiDocument, operationsOf, resolve } from '../../support/openapi';
import { TestPlinth } from '../../support/plinth';
import { prefilledRequest } from '../../support/prefilled-request';
import { SAMPLE_SCHEMA } from '../../support/sample-schema';
import type { TestProject, TestUser } from '../../support/test-project';
import { upload } from '../../support/uploads';

/* oxlint-disable typescript/no-explicit-any -- documents of the product under test */

const LIMIT_MS = 300_000;

let plinth: TestPlinth;
beforeAll(async () => {
  plinth = await TestPlinth.start();
});
afterAll(() => plinth.stop());

async function send(
  client: HttpClient,
  document: OpenApiDocument,
  operation: NamedOperation,
  given: Record<string, string> = {},
): Promise<HttpAnswer> {
  const { method, path, headers, body } = prefilledRequest(document, operation, given);
  return client.send(method, path, { headers, ...(body === undefined ? {} : { body }) });
}

describe('the operations of the platform', () => {
  /** Statuses of operations whose example values only a mail, an app, a person, a session or a failure can provide. */
  const REFUSED = {
    refresh: 401,
    rehearseBackup: 404,
    updatePassword: 401,
    verifyEmail: 401,
    verifyFactor: 401,
    acceptInvitation: 403,
    addServer: 400,
    adminRetryMail: 404,
    adminTryProvider: 404,
    adminTryLdap: 404,
    goTrueTrySsoProvider: 404,
    beginPasskey: 403,
    // STAFF_SIGN_IN is not set.
    beginSingleSignOn: 404,
    beginSaml: 404,
    getStaffSamlMetadata: 404,
    signInStaffWithLdap: 404,
    finishSaml: 303,
    beginStaffFactor: 403,
    cancelDatabaseQuery: 404,
    changeStaffPassword: 403,
    confirmStaffSession: 403,
    completeSingleSignOn: 401,
    // The bucket and the file of their bodies do not exist.
    copyObject: 404,
    moveObject: 404,
    // The bucket holds a file.
    deleteStorageBucket: 409,
    downloadSignedObject: 401,
    uploadSigned: 401,
    confirmStaffFactor: 403,
    createFirstOwner: 403,
    createInvitation: 404,
    createPasskey: 403,
    createStaffToken: 403,
    createViewToken: 404,
    deleteInvitation: 404,
    downloadBackup: 404,
    deletePasskey: 403,
    deletePerson: 404,
    deleteProjectScimToken: 404,
    deleteSavedQuery: 404,
    deleteStaffToken: 403,
    endStaffSession: 403,
    findArchivedRows: 404,
    listArchivedTables: 404,
    finishSingleSignOn: 303,
    // The project was not moved, and there is no other server.
    getProjectMove: 404,
    moveProject: 404,
    listPasskeys: 403,
    listStaffSessions: 403,
    listProjectsOfPerson: 404,
    listStaffTokens: 403,
    removePersonOfProject: 404,
    removeServer: 404,
    removeStaffFactor: 403,
    renamePasskey: 403,
    // BACKUP_PASSPHRASE is not set.
    scheduleBackups: 400,
    setPersonOfProject: 404,
    signInStaff: 401,
    signInWithPasskey: 401,
    signOutStaff: 403,
    startBackup: 404,
    terminateDatabaseSession: 404,
    updatePerson: 404,
    updateLiveTable: 404,
    updateSavedQuery: 404,
    updateServer: 404,
    // The table of its body does not exist.
    createWebhook: 400,
    deleteSchedule: 404,
    listScheduleRuns: 404,
    updateSchedule: 404,
    deleteWebhook: 404,
    getWebhookDelivery: 404,
    listWebhookDeliveries: 404,
    retryWebhookDelivery: 404,
    rotateWebhookSecret: 404,
    updateWebhook: 404,
    retryFailedMail: 404,
    beginUpload: 400,
    continueUpload: 415,
    endUpload: 404,
    readUpload: 404,
    // The project has no named key.
    deleteS3Key: 404,
    revokeApiKey: 404,
    // The example file is not an image, and the token is not valid.
    renderAuthenticatedImage: 415,
    renderPublicImage: 415,
    renderSignedImage: 401,
    // The project has no provider.
    adminGetProvider: 404,
    goTrueCallback: 400,
    // No provider, SAML, setting or mail exists.
    goTrueAuthorize: 400,
    goTrueLinkIdentity: 404,
    goTrueMagicLink: 422,
    goTrueOtp: 422,
    goTrueSso: 404,
    goTrueCreateSsoProvider: 400,
    goTrueDeleteSsoProvider: 404,
    goTrueGetSsoProvider: 404,
    goTrueUpdateSsoProvider: 404,
    signInWithLdap: 404,
    goTrueBeginPasskeySignIn: 404,
    goTrueBeginPasskeyEnrolment: 404,
    goTrueEnrolPasskey: 404,
    goTrueRemovePasskey: 404,
    goTrueRemoveUserPasskey: 404,
    goTrueRenamePasskey: 404,
    goTrueSignInWithPasskey: 404,
    goTrueUnlinkIdentity: 404,
    // Leads to the page that asks; nobody was asked, nor granted anything.
    goTrueOAuthAuthorize: 302,
    goTrueGetOAuthAuthorization: 404,
    goTrueAnswerOAuthAuthorization: 404,
    goTrueRevokeOAuthGrant: 404,
    goTrueOAuthToken: 401,
    goTrueVerify: 403,
    goTrueVerifyFactor: 422,
  };
  /** Operations with archives as bodies, and backups of every project or of the embedded PostgreSQL. */
  const LEFT_OUT = ['restoreProject', 'restoreInstall', 'backupInstall', 'backupInstallPhysically'];

  let project: TestProject;
  let administered: TestProject | undefined;
  let document: OpenApiDocument;

  beforeAll(async () => {
    const settings = {
      oauth_server_enabled: true,
      oauth_registration_enabled: true,
      oauth_consent_url: 'https://app.example.com/consent',
    };
    project = await plinth.createProject({ plan: 'enterprise', settings });
    await project.sql(`
      create table todos (id bigint primary key default 7, title text not null, done boolean not null default false);
      create function add(a int default 1, b int default 1) returns int language sql immutable as 'select a + b';
    `);
    document = (await plinth.http.get('/openapi.json')).body;
  });

  /** Values for the parameters of a path, which a reader of the page would copy from an earlier answer. */
  async function valuesFor(
    { path, operation }: NamedOperation,
    user: TestUser,
  ): Promise<Record<string, string>> {
    const values: Record<string, string> = { project_id: project.id, project_slug: project.slug };
    if (path.includes('{id}')) values.id = await projectFor(operation.operationId);
    if (path.includes('{user_id}')) values.user_id = user.id;
    if (path.includes('{session_id}')) {
      values.session_id = (await user.http.get(`${project.auth}/sessions`)).body.sessions[0]!.id;
    }
    if (path.includes('{factor_id}')) {
      values.factor_id = (await user.http.post(`${project.auth}/factors`, { name: 'Phone' })).body.id;
    }
    if (path.includes('{client_id}') || path.endsWith('/oauth/authorize')) {
      const redirect_uris = ['https://calendar.example.com/callback'];
      const clients = `/p/${project.slug}/auth/v1/admin/oauth/clients` as const;
      values.client_id = (await project.service.post(clients, { redirect_uris })).body.client_id;
    }
    if (path.includes('{bucket_name}') || path.includes('{file_id}')) {
      const bucket = `bucket-${operation.operationId.toLowerCase()}`;
      await project.service.post(`${project.storage}/buckets`, { name: bucket, is_public: true });
      const { body } = await upload(project.service, project.storage, bucket, 'abc', { name: 'first' });
      const name = operation.operationId === 'uploadObject' ? 'second' : 'first';
      Object.assign(values, { bucket_name: bucket, file_id: body.data.id, path: name });
      if (path.endsWith('/signed')) Object.assign(values, await signature(values.file_id as string));
    }
    return values;
  }

  /** A separate project for an operation after which later operations could not use the project. */
  async function projectFor(operationId: string): Promise<string> {
    if (/delete|rotate|migrations|pause|resume|move|restore|updateProject$/i.test(operationId)) {
      return (await plinth.createProject({ plan: 'enterprise' })).id;
    }
    administered ??= await plinth.createProject({ plan: 'enterprise' });
    return administered.id;
  }

  async function signature(fileId: string): Promise<Record<string, string>> {
    const signed = await project.service.post(`${project.storage}/files/${fileId}/signed-url`, {
      expiry: '1h',
    });
    return Object.fromEntries(new URL(signed.body.data.url).searchParams);
  }

  /** Operations after which later operations could not use the user. */
  const isAboutUser = ({ path }: NamedOperation): boolean =>
    /\/v1\/auth\/|\/auth\/v1\/|\{user_id\}/.test(path);

  function clientFor({ path, operation }: NamedOperation, user: TestUser): HttpClient {
    const schemes = Object.keys(operation.security[0] ?? {});
    if (schemes.length === 0) return plinth.http;
    if (!schemes.includes('apikey')) return plinth.admin;
    if (!schemes.includes('bearer')) return project.client(project.anonKey, null);
    const isOfUser = /^\/(v1\/auth|p\/[^/]+\/auth\/v1)\//.test(path) && !/\/(admin|invite)(\/|$)/.test(path);
    return isOfUser ? user.http : project.service;
  }

  it(
    'accept the prefilled request with the ids of their paths',
    async () => {
      const refused: [string, number | string][] = [];
      const other = await project.signUp();
      for (const one of operationsOf(document)) {
        const id: string = one.operation.operationId;
        if (LEFT_OUT.includes(id)) continue;
        const user = isAboutUser(one) ? await project.signUp() : other;
        // Both operations create the account of the example.
        if (/^(admin(Create|Invite)User|goTrue(SignUp|CreateUser|Invite))$/.test(id))
          await removeUser('ada@example.com');
        const answer = await send(clientFor(one, user), document, one, await valuesFor(one, user));
        if (answer.status < 300) continue;
        refused.push([id, Object.hasOwn(REFUSED, id) ? answer.status : answer.text]);
      }
      expect(Object.fromEntries(refused)).toEqual(REFUSED);
    },
    LIMIT_MS,
  );

  async function removeUser(email: string): Promise<void> {
    const users = `${project.auth}/admin/users`;
    const { body } = await project.service.get(`${users}?search=${encodeURIComponent(email)}`);
    for (const { id } of body.users) await project.service.delete(`${users}/${id}`);
  }
});

describe('the operations of a project', () => {
  let project: TestProject;
  let document: OpenApiDocument;
  let checker: DocumentChecker;
  let tables: NamedOperation[];

  beforeAll(async () => {
    project = await plinth.createProject({ settings: { exposed_schemas: ['public', 'api'] } });
    await project.sql(SAMPLE_SCHEMA);
    // The rows that the examples refer to.
    await project.sql(`
      insert into customers (email) values ('a@example.com');
      insert into orders (id, customer_id) values (1, 1);
      insert into products (sku, price) values ('text', 1);
      insert into order_items (order_id, line, sku) values (1, 1, 'text');
    `);
    document = (await project.service.get(`/p/${project.slug}/openapi.json`)).body;
    checker = new DocumentChecker(document);
    tables = operationsOf(document).filter(({ path }) => path.includes('/rest/v1/'));
  });

  /**
   * Sends a request and compares it, and its answer, with the project's document. @returns the answer and the
   * differences
   */
  async function checked(
    one: NamedOperation,
    given: Record<string, string> = {},
  ): Promise<HttpAnswer & { faults: string[] }> {
    const { method, path, headers, body } = prefilledRequest(document, one, given);
    const answer = await project.service.send(method, path, {
      headers,
      ...(body === undefined ? {} : { body }),
    });
    const contentType = headers['content-type'];
    const faults = checker.faultsOf({ method, path, contentType, body, answer });
    return {
      ...answer,
      faults: faults.map((fault) => `${method} ${path} ${JSON.stringify(headers)}: ${fault}`),
    };
  }

  it('accept the prefilled request, except for keys that exist and check constraints', async () => {
    const refused: string[] = [];
    for (const one of tables) {
      const { status, text, body, faults } = await checked(one);
      if (!one.path.endsWith('/fail')) refused.push(...faults);
      const isState = status === 409 || body?.code === '23514';
      // The sample function at /fail raises the given status.
      if (status >= 300 && !isState && !one.path.endsWith('/fail'))
        refused.push(`${one.name} ${status} ${text}`);
    }
    expect(refused).toEqual([]);
  });

  it(
    'accept each example of each parameter',
    async () => {
      const refused: string[] = [];
      const tried = new Set<string>();
      for (const one of tables.filter(({ name }) => name.startsWith('GET'))) {
        for (const parameter of one.operation.parameters.map((each: any) => resolve(document, each))) {
          // The examples of a shared schema fit every column that refers to it.
          const { $ref, examples } = parameter.schema;
          if ($ref && !examples && !parameter.required && tried.has($ref)) continue;
          tried.add($ref);
          for (const value of examplesOf(document, parameter)) {
            const { status, text, faults } = await checked(one, { [parameter.name]: value });
            if (status >= 300) refused.push(`${one.name} ${parameter.name}=${value} ${text}`);
            // `select` changes the members of a row, so the row does not fit the schema.
            if (parameter.name !== 'select') refused.push(...faults);
          }
        }
      }
      expect(refused).toEqual([]);
    },
    LIMIT_MS,
  );

  it('have examples of bodies and rows that fit their schemas', () => {
    expect(tables.filter(({ operation }) => operation.requestBody).length).toBeGreaterThan(20);
    for (const { name, operation } of tables) {
      for (const media of Object.values<any>(operation.requestBody?.content ?? {})) {
        expect([name, 'example' in media]).toEqual([name, true]);
      }
    }
  });
});

/** The examples of a parameter, including the examples of its schema. */
function examplesOf(document: OpenApiDocument, { example, examples, schema }: any): string[] {
  const own = [
    ...(example === undefined ? [] : [example]),
    ...Object.values<any>(examples ?? {}).map(({ value }) => value),
  ];
  const { examples: ofSchema = resolve(document, schema).examples ?? [] } = schema;
  return (own.length > 0 ? own : ofSchema).map(String);
}
