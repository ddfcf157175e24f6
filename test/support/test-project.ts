/** A project of a test, with a client per role. */
import { randomUUID } from 'node:crypto';
import { sign } from 'jsonwebtoken';
import { HttpClient } from './http-client';
import type { TestPlinth } from './plinth';

export interface TestUser {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  readonly accessToken: string;
  /** The session in the response to sign-up. */
  readonly session: { access_token: string; expires_at: number; refresh_token: string };
  /** A client with the anon key and the user's access token. */
  readonly http: HttpClient;
}

export class TestProject {
  private constructor(
    private readonly plinth: TestPlinth,
    readonly id: string,
    readonly slug: string,
    readonly anonKey: string,
    readonly serviceKey: string,
    readonly jwtSecret: string,
  ) {}

  static async create(plinth: TestPlinth, body: object): Promise<TestProject> {
    const created = await plinth.admin.post('/admin/v1/projects', { name: 'Test', slug: null, ...body });
    if (created.status !== 201)
      throw new Error(`creating a project answered ${created.status}: ${created.text}`);
    const { id, slug, anon_key, service_role_key } = created.body;
    const keys = await plinth.admin.get(`/admin/v1/projects/${id}/keys`);
    return new TestProject(plinth, id, slug, anon_key, service_role_key, keys.body.jwt_secret);
  }

  /** A client whose apikey and bearer token are the anon key. */
  get anon(): HttpClient {
    return this.client(this.anonKey, this.anonKey);
  }

  /** A client whose apikey and bearer token are the service-role key. */
  get service(): HttpClient {
    return this.client(this.serviceKey, this.serviceKey);
  }

  /** A client with any pair of credentials; null omits the header. */
  client(apikey: string | null, bearer: string | null): HttpClient {
    return new HttpClient(this.plinth.baseUrl, {
      ...(apikey === null ? {} : { apikey }),
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
    });
  }

  /** Base path of the project's auth endpoints. */
  get auth(): `/v1/auth/${string}` {
    return `/v1/auth/${this.id}`;
  }

  /** Base path of the project's storage endpoints. */
  get storage(): `/p/${string}/storage` {
    return `/p/${this.slug}/storage`;
  }

  /** Runs SQL as the project's owner. */
  // oxlint-disable-next-line typescript/no-explicit-any -- rows of the product under test
  async sql(query: string): Promise<any> {
    const answer = await this.plinth.admin.post(`/admin/v1/projects/${this.id}/sql`, { query });
    if (answer.status !== 200) throw new Error(`sql answered ${answer.status}: ${answer.text}`);
    return answer.body.rows;
  }

  /** A token with the same signature as tokens of the project's own backend. */
  token(claims: Record<string, unknown>): string {
    return sign(claims, this.jwtSecret, { algorithm: 'HS256' });
  }

  /** A client whose bearer token was signed by the project's own backend: it is signed in without an account. */
  asSubject(
    sub: string = randomUUID(),
    claims: Record<string, unknown> = {},
  ): HttpClient & { userId: string } {
    const token = this.token({ sub, role: 'authenticated', ...claims });
    return Object.assign(this.client(this.anonKey, token), { userId: sub });
  }

  /** Signs a user up over HTTP. */
  async signUp(email = `user-${randomUUID()}@example.com`, password = 'correct horse'): Promise<TestUser> {
    const answer = await this.client(this.anonKey, null).post(`${this.auth}/signup`, { email, password });
    if (answer.status !== 201) throw new Error(`sign-up answered ${answer.status}: ${answer.text}`);
    const { user, session } = answer.body;
    const accessToken = session.access_token;
    return {
      id: user.id,
      email,
      password,
      accessToken,
      session,
      http: this.client(this.anonKey, accessToken),
    };
  }
}
