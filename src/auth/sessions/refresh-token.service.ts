/**
 * Refresh tokens: the session's id, a number, and a MAC of both under a key of the project, derived from its data secret. The session's
 * row stores only the number of the valid token. Tokens therefore cannot be read from the database, a token with a lower number
 * is recognized as an older one, and the successor of a spent token can be computed again.
 */
import { Inject, Injectable } from '@nestjs/common';
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { SECRETS_CONFIG, SecretsConfig } from '../../config/app-config';
import { Project } from '../../projects/project';

const SESSION_BYTES = 16;
const NUMBER_BYTES = 4;
const CODE_BYTES = 32;
const TOKEN = new RegExp(
  `^[A-Za-z0-9_-]{${Math.ceil(((SESSION_BYTES + NUMBER_BYTES + CODE_BYTES) * 4) / 3)}}$`,
);

export interface RefreshTokenContent {
  readonly sessionId: string;
  /** The number of rotations before this token was issued. */
  readonly number: number;
}

type RefreshingProject = Pick<Project, 'id' | 'dataSecret'>;

@Injectable()
export class RefreshTokenService {
  /** True for tokens that earlier versions issued. */
  private readonly formerKeys: readonly Buffer[];
  private readonly keys = new WeakMap<RefreshingProject, Buffer>();

  constructor(@Inject(SECRETS_CONFIG) { masterKey, otherMasterKey }: SecretsConfig) {
    this.formerKeys = [masterKey, otherMasterKey]
      .filter((key) => key !== null)
      .map((key) => Buffer.from(hkdfSync('sha256', key, '', 'plinth refresh token v1', 32)));
  }

  issue(project: RefreshingProject, { sessionId, number }: RefreshTokenContent): string {
    const content = Buffer.alloc(SESSION_BYTES + NUMBER_BYTES);
    content.write(sessionId.replaceAll('-', ''), 'hex');
    content.writeUInt32BE(number, SESSION_BYTES);
    return Buffer.concat([content, codeOf(this.keyOf(project), project, content)]).toString('base64url');
  }

  /** @returns null for a token that this project did not issue */
  open(project: RefreshingProject, token: string): RefreshTokenContent | null {
    if (!TOKEN.test(token)) return null;
    const bytes = Buffer.from(token, 'base64url');
    // The last character of base64 has unused bits: only the issued spelling is valid.
    if (bytes.toString('base64url') !== token) return null;
    const content = bytes.subarray(0, SESSION_BYTES + NUMBER_BYTES);
    const code = bytes.subarray(content.length);
    const keys = [this.keyOf(project), ...this.formerKeys];
    if (!keys.some((key) => timingSafeEqual(code, codeOf(key, project, content)))) return null;
    return { sessionId: toUuid(content), number: content.readUInt32BE(SESSION_BYTES) };
  }

  private keyOf(project: RefreshingProject): Buffer {
    let key = this.keys.get(project);
    if (!key) {
      key = Buffer.from(hkdfSync('sha256', project.dataSecret, '', 'plinth refresh token v2', 32));
      this.keys.set(project, key);
    }
    return key;
  }
}

function codeOf(key: Buffer, { id }: RefreshingProject, content: Buffer): Buffer {
  return createHmac('sha256', key).update(`${id}:`).update(content).digest();
}

function toUuid(bytes: Buffer): string {
  const hex = bytes.toString('hex', 0, SESSION_BYTES);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
