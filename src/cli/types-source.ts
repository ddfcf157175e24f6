/** The types of one project, with credentials of a role that the admin API's keys give. */
import { sign } from 'jsonwebtoken';
import { type AdminClient, dataOf, type ProjectText, type Schema } from './admin-client';
import { CliError, EXIT } from './cli-error';

/** Seconds that a token for another role is valid. */
const TOKEN_SECONDS = 60;

export interface TypesOptions {
  readonly lang: string;
  readonly role: string;
}

export class TypesSource {
  private keys: Schema<'ProjectKeysWithSecret'> | undefined;
  private etag: string | null = null;

  private constructor(
    private readonly server: AdminClient,
    private readonly project: { readonly id: string; readonly slug: string },
    private readonly options: TypesOptions,
  ) {}

  /** @param name id or slug. @throws CliError when there is no such project */
  static async open(server: AdminClient, name: string, options: TypesOptions): Promise<TypesSource> {
    return new TypesSource(server, await server.findProject(name), options);
  }

  /** @throws CliError */
  async read(): Promise<ProjectText> {
    this.etag = null;
    const document = await this.readChange();
    if (!document) throw new CliError('The response of the server contains no types', EXIT.failed);
    return document;
  }

  /** The types if they have changed since the last call, else null. @throws CliError */
  async readChange(): Promise<ProjectText | null> {
    const { lang } = this.options;
    const path = `/p/${encodeURIComponent(this.project.slug)}/types.ts?lang=${encodeURIComponent(lang)}`;
    try {
      const document = await this.server.findDocument(path, {
        ...(await this.credentials()),
        etag: this.etag,
      });
      if (document) this.etag = document.etag;
      return document;
    } catch (error) {
      // The keys may have been rotated.
      this.keys = undefined;
      throw error;
    }
  }

  private async credentials(): Promise<{ apikey: string; bearer: string }> {
    const { role } = this.options;
    const params = { path: { id: this.project.id } };
    this.keys ??= await dataOf(this.server.api.GET('/admin/v1/projects/{id}/keys', { params }));
    const { anon_key: anon, service_role_key: service, jwt_secret: secret } = this.keys;
    if (role === 'service_role') return { apikey: service, bearer: service };
    if (role === 'anon') return { apikey: anon, bearer: anon };
    return {
      apikey: anon,
      bearer: sign({ role }, secret, { algorithm: 'HS256', expiresIn: TOKEN_SECONDS }),
    };
  }
}
