/** The OpenAPI document of the platform: from the controllers of the running application, and the calls of table REST. */
import { INestApplication, Inject, Injectable } from '@nestjs/common';
import { DocumentBuilder, OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { RouteRules, type RouteRule } from '../access/route-rules.service';
import { SERVER_CONFIG, ServerConfig } from '../config/app-config';
import { STAFF_COOKIE } from '../http/staff-cookie';
import { type DocumentFormat, DocumentWriter } from './openapi/document-writer';
import { mapComponents, mapPathItem, mapValues } from './openapi/map-schemas';
import { METHODS, type OpenApiDocument, type PathItem, plainType } from './openapi/model';
import { type ServedDocument, toServed } from './openapi/served-document';
import { shareRepeated } from './openapi/share-repeated';
import { toSchema31 } from './openapi/versions';
import { ADMIN_KEY, STAFF_SESSION, STAFF_TOKEN, withStaffAccess } from './staff-access';
import { addTableRest } from './table-rest/components';
import { GENERIC_PATHS } from './table-rest/generic-paths';

const DESCRIPTION = `Plinth: authentication, table REST and file storage for many projects.

* **apikey**: the anon or service-role key of a project, in the header \`apikey\`. Names the project.
* **bearer**: the access token of a user, or a key of the project.
* **${ADMIN_KEY}**: \`PLATFORM_ADMIN_KEY\`, for the administration. It has the rights of an owner of the installation.
* **${STAFF_TOKEN}**: a token (\`plt_...\`) of a staff member, with the rights of their role that are within its scopes.
* **${STAFF_SESSION}**: the cookie of a staff member who signed in to the administration. Changes also need \`X-CSRF-Token\`.

Any response may have \`X-Request-Id\`, and \`X-Quota-Warning\` once the project has used 80 % of a quota.

The tables and functions of a project are described with their types in that project's own document, \`GET /p/{project_slug}/openapi.json\`.`;

const TABLE_REST = /^(\/p\/\{project_slug\})?\/rest\/v1(\/|$)/;

@Injectable()
export class DocumentService {
  private app: INestApplication | undefined;
  private document: OpenApiDocument | undefined;
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
  model(): OpenApiDocument {
    if (!this.app) throw new Error('no application was bound to the document');
    this.document ??= toModel(
      SwaggerModule.createDocument(this.app, this.base().build(), {
        operationIdFactory: (_controller, method) => method,
      }),
      this.rules.all(),
    );
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
    const { paths, components, ...head } = this.model();
    const writer = new DocumentWriter(format, (name) => plainType(components.schemas?.[name]));
    writer.addAll('paths', Object.entries(paths));
    writer.addAll('schemas', Object.entries(components.schemas ?? {}));
    writer.addAll('parameters', Object.entries(components.parameters ?? {}));
    writer.addAll('responses', Object.entries(components.responses ?? {}));
    writer.addAll('headers', Object.entries(components.headers ?? {}));
    writer.addAll('securitySchemes', Object.entries(components.securitySchemes ?? {}));
    addTableRest(writer);
    return toServed(await writer.finish(head));
  }

  private base(): DocumentBuilder {
    return new DocumentBuilder()
      .setTitle('Plinth')
      .setDescription(DESCRIPTION)
      .setVersion('1')
      .setContact('The operator of this installation', this.server.publicUrl, '')
      .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
      .addServer(this.server.publicUrl)
      .addTag('auth', 'Accounts and sessions of a project')
      .addTag('rest', 'Tables and functions of a project, of any name')
      .addTag('storage', 'Buckets and files of a project')
      .addTag('admin', 'Projects, for the administrator of the installation')
      .addTag('health', 'Probes and metrics')
      .addApiKey(
        { type: 'apiKey', in: 'header', name: 'apikey', description: 'A key of the project' },
        'apikey',
      )
      .addBearerAuth(
        { type: 'http', bearerFormat: 'JWT', description: "A user's access token, or a key" },
        'bearer',
      )
      .addBearerAuth(
        { type: 'http', description: 'PLATFORM_ADMIN_KEY, which has the rights of an owner' },
        ADMIN_KEY,
      )
      .addBearerAuth(
        {
          type: 'http',
          description:
            'Personal access token (plt_...). The description of each operation names the scope it needs',
        },
        STAFF_TOKEN,
      )
      .addCookieAuth(
        STAFF_COOKIE,
        {
          type: 'apiKey',
          in: 'cookie',
          description:
            'Session of a person. With https, its name has the prefix `__Host-`. Methods besides GET and HEAD need the csrf_token of the session in the header X-CSRF-Token, and each answer may replace the cookie.',
        },
        STAFF_SESSION,
      )
      .addBearerAuth({ type: 'http', description: 'METRICS_TOKEN, for the metrics alone' }, 'metrics-token');
  }
}

/**
 * Nest writes the form of 3.0. The routes of table REST take all methods and say nothing of their requests, so that its
 * calls are described by hand.
 */
function toModel(
  { info, servers, tags, paths, components = {} }: OpenAPIObject,
  rules: readonly RouteRule[],
): OpenApiDocument {
  // The types of @nestjs/swagger allow more than it writes here.
  const source = { paths, components } as unknown as Pick<OpenApiDocument, 'paths' | 'components'>;
  const own = Object.entries(source.paths)
    .filter(([path]) => !TABLE_REST.test(path))
    .map(([path, item]) => [path, withStaffAccess(path, item, rules)] as const);
  return shareRepeated({
    info: toInfo(info),
    servers: servers?.map(({ url }) => ({ url })),
    tags: tags?.map(({ name, description }) => ({ name, description })),
    paths: {
      ...mapValues(Object.fromEntries(own), (item) => withSecurity(mapPathItem(item, toSchema31))),
      ...GENERIC_PATHS,
    },
    components: mapComponents(source.components, toSchema31),
  });
}

/** Public operations say so: without `security`, linters take it for forgotten. */
function withSecurity(item: PathItem): PathItem {
  return Object.fromEntries(
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation ? [[method, { ...operation, security: operation.security ?? [] }]] : [];
    }),
  );
}

function toInfo({
  title,
  description,
  version,
  contact,
  license,
}: OpenAPIObject['info']): OpenApiDocument['info'] {
  return {
    title,
    description,
    version,
    contact: { name: contact?.name, url: contact?.url },
    license: { name: license?.name ?? '', url: license?.url },
  };
}
