/** The OpenAPI document of the platform: from the controllers of the running application, and the calls of table REST. */
import { INestApplication, Inject, Injectable } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { RouteRules, type RouteRule } from '../access/route-rules.service';
import { SERVER_CONFIG, ServerConfig } from '../config/app-config';
import { STAFF_COOKIE } from '../http/staff-cookie';
import { inSlices, Slices } from '../common/time/slices';
import { DocumentWriter } from './openapi/document-writer';
import { mapPart } from './openapi/map-schemas';
import type { DocumentHead, OpenApiDocument, PathItem, SecurityScheme } from './openapi/model';
import { plainType, type Schema } from '../visible-schema/json-schema';
import type { ServedDocument } from './openapi/served-document';
import { shareRepeated } from './openapi/share-repeated';
import { type DocumentFormat, toSchema31 } from './openapi/versions';
import { ADMIN_KEY, STAFF_SESSION, STAFF_TOKEN, withAccess } from './staff-access';
import { addTableRest } from './table-rest/components';
import { GENERIC_PATHS } from './table-rest/generic-paths';

const DESCRIPTION = `Plinth: authentication, table REST and file storage for many projects.

* **apikey**: the anon or service-role key of a project, in the header \`apikey\`. Names the project.
* **bearer**: the access token of a user, or a key of the project.
* **${ADMIN_KEY}**: \`PLATFORM_ADMIN_KEY\`, for the administration. It has the rights of an owner of the installation.
* **${STAFF_TOKEN}**: a token (\`plt_...\`) of a staff member, with the rights of their role that are within its scopes.
* **${STAFF_SESSION}**: the cookie of a staff member who signed in to the administration. Changes also need \`X-CSRF-Token\`.

Any response may have \`X-Request-Id\`, and \`X-Quota-Warning\` once the project has used 80 % of a quota. JSON of auth, storage and
the administration has \`Cache-Control: no-store\`.

The tables and functions of a project are described with their types in that project's own document, \`GET /p/{project_slug}/openapi.json\`.`;

const COOKIE_TEXT =
  'Session of a staff member. With https, its name has the prefix `__Host-`. Methods besides GET and HEAD need the csrf_token of the session in the header X-CSRF-Token, and each answer may replace the cookie.';

const TAGS = [
  { name: 'admin', description: 'Projects, for the administrator of the installation' },
  { name: 'auth', description: 'Accounts and sessions of a project' },
  { name: 'health', description: 'Probes and metrics' },
  { name: 'realtime', description: 'Messages to the channels of a project' },
  { name: 'rest', description: 'Tables and functions of a project, of any name' },
  { name: 'storage', description: 'Buckets and files of a project' },
  { name: 'storage-js', description: "Buckets and files, by the paths of Supabase's clients" },
];

const bearer = (description: string): SecurityScheme => ({
  scheme: 'bearer',
  bearerFormat: 'JWT',
  type: 'http',
  description,
});

const SECURITY_SCHEMES: Readonly<Record<string, SecurityScheme>> = {
  apikey: { type: 'apiKey', in: 'header', name: 'apikey', description: 'A key of the project' },
  bearer: bearer("A user's access token, or a key"),
  [ADMIN_KEY]: bearer('PLATFORM_ADMIN_KEY, which has the rights of an owner'),
  [STAFF_TOKEN]: bearer(
    'Personal access token (plt_...). The description of each operation names the scope it needs',
  ),
  [STAFF_SESSION]: {
    type: 'apiKey',
    in: 'cookie',
    name: STAFF_COOKIE,
    description: COOKIE_TEXT,
  },
  'metrics-token': bearer('METRICS_TOKEN, for the metrics alone'),
};

const TABLE_REST = /^(\/p\/\{project_slug\})?\/rest\/v1(\/|$)/;

@Injectable()
export class DocumentService {
  private app: INestApplication | undefined;
  private document: Promise<OpenApiDocument> | undefined;
  private readonly served = new Map<string, Promise<ServedDocument>>();

  constructor(
    @Inject(SERVER_CONFIG) private readonly server: ServerConfig,
    private readonly rules: RouteRules,
  ) {}

  /** Set by create-app, because the document is built from the application's routes. */
  bind(app: INestApplication): void {
    this.app = app;
  }

  /** In the form of OpenAPI 3.1. The first call builds it, which takes a while. */
  model(): Promise<OpenApiDocument> {
    this.document ??= this.build();
    return this.document;
  }

  /** The same for each caller, and for as long as the process runs. */
  written(format: DocumentFormat): Promise<ServedDocument> {
    const key = `${format.version} ${format.syntax}`;
    const known = this.served.get(key);
    if (known) return known;
    const made = this.write(format);
    this.served.set(key, made);
    made.catch(() => this.served.delete(key));
    return made;
  }

  private async write(format: DocumentFormat): Promise<ServedDocument> {
    const { paths, components, tags, ...head } = await this.model();
    const writer = new DocumentWriter(format, (name) => plainType(components.schemas?.[name]));
    await writer.addAll('paths', Object.entries(paths));
    await writer.addComponents(components);
    addTableRest(writer);
    return writer.finish(head, tags);
  }

  /** Builds one module at a time: building all of them together would block the event loop for too long. */
  private async build(): Promise<OpenApiDocument> {
    if (!this.app) throw new Error('no application was bound to the document');
    const source: NestDocument = { paths: {}, schemas: {} };
    const slices = new Slices();
    for (const { metatype, controllers } of this.app.get(ModulesContainer).values()) {
      if (controllers.size === 0) continue;
      const { paths, components } = SwaggerModule.createDocument(this.app, NO_HEAD, {
        include: [metatype],
        operationIdFactory: (_controller, method) => method,
      }) as unknown as Pick<OpenApiDocument, 'paths' | 'components'>;
      Object.assign(source.paths, paths);
      Object.assign(source.schemas, components.schemas);
      await slices.yieldToLoop();
    }
    const url = this.server.publicUrl;
    const info = {
      title: 'Plinth',
      description: DESCRIPTION,
      version: '1',
      contact: { name: 'The operator of this installation', url },
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    };
    return inSlices(toModel({ info, servers: [{ url }] }, source, this.rules.all()));
  }
}

/** Paths as Nest writes them, in the form of OpenAPI 3.0. */
interface NestDocument {
  readonly paths: Record<string, PathItem>;
  readonly schemas: Record<string, Schema>;
}

/** Only paths and schemas are taken from Nest. */
const NO_HEAD = {} as Omit<OpenAPIObject, 'paths'>;

/** The routes of table REST accept all methods and do not declare their requests, so its calls are described by hand. */
function* toModel(
  head: DocumentHead,
  source: NestDocument,
  rules: readonly RouteRule[],
): Generator<void, OpenApiDocument> {
  const paths: Record<string, PathItem> = {};
  for (const [path, item] of Object.entries(source.paths)) {
    yield;
    if (TABLE_REST.test(path)) continue;
    paths[path] = mapPart('paths', withAccess(path, item, rules), toSchema31);
  }
  const schemas: Record<string, Schema> = {};
  for (const [name, schema] of Object.entries(source.schemas)) {
    yield;
    schemas[name] = mapPart('schemas', schema, toSchema31);
  }
  const components = { schemas, securitySchemes: SECURITY_SCHEMES };
  return yield* shareRepeated({
    ...head,
    tags: TAGS,
    paths: { ...paths, ...GENERIC_PATHS },
    components,
  });
}
