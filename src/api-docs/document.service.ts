/** The OpenAPI document of auth, storage and administration, made from the controllers of the running application. */
import { INestApplication, Inject, Injectable } from '@nestjs/common';
import { DocumentBuilder, OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { SERVER_CONFIG, ServerConfig } from '../config/app-config';

const DESCRIPTION = `Plinth: authentication, table REST and file storage for many projects.

* **apikey**: the anon or service-role key of a project, in the header \`apikey\`. Names the project.
* **bearer**: the access token of a user, or a key of the project.
* **platform-admin-key**: \`PLATFORM_ADMIN_KEY\`, for the administration.

The tables of a project are in that project's own document, \`GET /p/{project_slug}/openapi.json\`.`;

const TABLE_REST = /^(\/p\/\{project_slug\})?\/rest\/v1(\/|$)/;

@Injectable()
export class DocumentService {
  private app: INestApplication | undefined;
  private document: OpenAPIObject | undefined;

  constructor(@Inject(SERVER_CONFIG) private readonly server: ServerConfig) {}

  /** Set by create-app, because the document is built from the application's routes. */
  bind(app: INestApplication): void {
    this.app = app;
  }

  /** Built by the first call, which takes a while. */
  get(): OpenAPIObject {
    if (!this.app) throw new Error('no application was bound to the document');
    this.document ??= withoutTables(
      SwaggerModule.createDocument(this.app, this.base().build(), { operationIdFactory: operationId }),
    );
    return this.document;
  }

  private base(): DocumentBuilder {
    return new DocumentBuilder()
      .setTitle('Plinth')
      .setDescription(DESCRIPTION)
      .setVersion('1')
      .addServer(this.server.publicUrl)
      .addTag('auth', 'Accounts and sessions of a project')
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
      .addBearerAuth({ type: 'http', description: 'PLATFORM_ADMIN_KEY' }, 'platform-admin-key')
      .addBearerAuth({ type: 'http', description: 'METRICS_TOKEN, for the metrics alone' }, 'metrics-token');
  }
}

/** Table REST is one route for all tables: its operations are described in each project's own document. */
function withoutTables(document: OpenAPIObject): OpenAPIObject {
  const paths = Object.entries(document.paths).filter(([path]) => !TABLE_REST.test(path));
  return { ...document, paths: Object.fromEntries(paths) };
}

/** `BucketsController.create` to `bucketsCreate`, for operations that set no operation id. */
function operationId(controller: string, method: string): string {
  const area = controller.replace(/Controller$/, '');
  return `${area.charAt(0).toLowerCase()}${area.slice(1)}${method.charAt(0).toUpperCase()}${method.slice(1)}`;
}
