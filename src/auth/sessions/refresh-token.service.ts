/**
 * Refresh tokens: the session's id, a number, and a MAC of both under a key that is derived from MASTER_KEY. The session's
 * row has the number of the valid token only, so no token can be read from the database, every older token of the session
 * is recognized, and the successor of a spent one can be issued again.
 */
import { Inject, Injectable } from '@nestjs/common';
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { SECRETS_CONFIG, SecretsConfig } from '../../config/app-config';

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

@Injectable()
export class RefreshTokenService {
  private readonly key: Buffer;

  constructor(@Inject(SECRETS_CONFIG) { masterKey }: SecretsConfig) {
    this.key = Buffer.from(hkdfSync('sha256', masterKey, '', 'plinth refresh token v1', 32));
  }

  issue(projectId: string, { sessionId, number }: RefreshTokenContent): string {
    const content = Buffer.alloc(SESSION_BYTES + NUMBER_BYTES);
    content.write(sessionId.replaceAll('-', ''), 'hex');
    content.writeUInt32BE(number, SESSION_BYTES);
    return Buffer.concat([content, this.codeOf(projectId, content)]).toString('base64url');
  }

  /** @returns null for a token that this project did not issue */
  open(projectId: string, token: string): RefreshTokenContent | null {
    if (!TOKEN.test(token)) return null;
    const bytes = Buffer.from(token, 'base64url');
    // The last character of base64 has unused bits: only the issued spelling is valid.
    if (bytes.toString('base64url') !== token) return null;
    const content = bytes.subarray(0, SESSION_BYTES + NUMBER_BYTES);
    const code = bytes.subarray(content.length);
    if (!timingSafeEqual(code, this.codeOf(projectId, content))) return null;
    return { sessionId: toUuid(content), number: content.readUInt32BE(SESSION_BYTES) };
  }

  private codeOf(projectId: string, content: Buffer): Buffer {
    return createHmac('sha256', this.key).update(`${projectId}:`).update(content).digest();
  }
}

function toUuid(bytes: Buffer): string {
  const hex = bytes.toString('hex', 0, SESSION_BYTES);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
