/** Directories that send the SCIM 2.0 requests of Entra ID and Okta. */
import { randomUUID } from 'node:crypto';
import type { HttpAnswer, HttpClient } from './http-client';
import type { TestPlinth } from './plinth';

export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const PATCH_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

export const newEmail = (): string => `person-${randomUUID()}@example.com`;

/** A directory with its token. */
export class Directory {
  constructor(
    readonly http: HttpClient,
    readonly base: string,
  ) {}

  static async connect(plinth: TestPlinth, scope: string): Promise<Directory> {
    const { status, body, text } = await plinth.admin.post(`/admin/v1${scope}/scim-token`);
    if (status !== 201) throw new Error(text);
    const http = plinth.http.with({ authorization: `Bearer ${body.token}` });
    return new Directory(http, new URL(body.url).pathname);
  }

  create(email: string, more: object = {}): Promise<HttpAnswer> {
    const name = { formatted: 'Ada L', givenName: 'Ada', familyName: 'Lovelace' };
    const body = { schemas: [USER_SCHEMA], userName: email, name, active: true, groups: [], ...more };
    return this.http.post(`${this.base}/Users`, body, {
      headers: { 'content-type': 'application/scim+json' },
    });
  }

  patch(id: string, ...operations: object[]): Promise<HttpAnswer> {
    return this.http.patch(`${this.base}/Users/${id}`, { schemas: [PATCH_SCHEMA], Operations: operations });
  }

  async find(filter: string): Promise<HttpAnswer['body']> {
    return (await this.http.get(`${this.base}/Users?filter=${encodeURIComponent(filter)}`)).body;
  }

  /** @returns the id */
  async newUser(): Promise<string> {
    const { status, body, text } = await this.create(newEmail());
    if (status !== 201) throw new Error(text);
    return body.id;
  }

  createGroup(displayName: string, members: readonly string[] = []): Promise<HttpAnswer> {
    const body = { schemas: [GROUP_SCHEMA], displayName, members: members.map((value) => ({ value })) };
    return this.http.post(`${this.base}/Groups`, body);
  }

  /** @returns the id */
  async newGroup(displayName: string, members: readonly string[] = []): Promise<string> {
    const { status, body, text } = await this.createGroup(displayName, members);
    if (status !== 201) throw new Error(text);
    return body.id;
  }

  patchGroup(id: string, ...operations: object[]): Promise<HttpAnswer> {
    return this.http.patch(`${this.base}/Groups/${id}`, { schemas: [PATCH_SCHEMA], Operations: operations });
  }

  /** @returns the ids of the members, sorted */
  async members(id: string): Promise<string[]> {
    const { body } = await this.http.get(`${this.base}/Groups/${id}`);
    return body.members.map(({ value }: { value: string }) => value).sort();
  }
}
