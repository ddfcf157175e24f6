/**
 * Sign-ins of several steps: single sign-on, and passkeys. A short-lived cookie binds the steps to one browser. Its content is
 * sealed, so beginning a sign-in stores nothing; each is completed once.
 */
import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { randomUUID } from 'node:crypto';
import { parseJson } from '../../common/text/json';
import { Clock } from '../../common/time/clock';
import { SECRETS_CONFIG, SecretsConfig, SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { STAFF_COOKIE } from '../../http/staff-cookie';
import { SecretBox } from '../../infra/crypto/secret-box';
import { flowOver } from '../staff.errors';
import { CookieJar } from './cookie-jar';
import { UsedFlowRepository } from './used-flow.repository';

/** Milliseconds for all steps together. */
const LIFETIME_MS = 10 * 60_000;

/** Each kind has content of its own; the cookie of one kind is of no use for another. */
export type FlowKind = 'oidc' | 'oidc-factor' | 'passkey' | 'passkey-enrolment';

/** A flow that a request continues. */
export interface Flow<Content> {
  readonly id: string;
  readonly content: Content;
  readonly expiresAt: Date;
}

interface Sealed {
  readonly id: string;
  readonly until: number;
  readonly content: unknown;
}

@Injectable()
export class SignInFlows {
  private readonly box: SecretBox;
  /** Lax: the issuer sends the browser back from another site. */
  private readonly jar: CookieJar;

  constructor(
    private readonly used: UsedFlowRepository,
    private readonly clock: Clock,
    @Inject(SECRETS_CONFIG) { masterKey }: SecretsConfig,
    @Inject(SERVER_CONFIG) { publicUrl }: ServerConfig,
  ) {
    this.box = new SecretBox(masterKey);
    this.jar = new CookieJar(`${STAFF_COOKIE}_flow`, 'Lax', publicUrl);
  }

  begin(response: Response, kind: FlowKind, content: object): void {
    const sealed: Sealed = { id: randomUUID(), until: this.clock.now() + LIFETIME_MS, content };
    const value = this.box.seal(JSON.stringify(sealed), purposeOf(kind)).toString('base64url');
    this.jar.set(response, value, LIFETIME_MS / 1000);
  }

  /** @throws AppError 401 if the request belongs to no flow of this kind, or to one that is too old */
  continue<Content>(request: Request, kind: FlowKind): Flow<Content> {
    const sealed = this.open(this.jar.read(request), kind);
    if (!sealed || sealed.until <= this.clock.now()) throw flowOver();
    return { id: sealed.id, content: sealed.content as Content, expiresAt: new Date(sealed.until) };
  }

  /** Called once everything was verified. @throws AppError 401 if the flow was completed before */
  async complete({ id, expiresAt }: Flow<unknown>, response: Response): Promise<void> {
    this.clear(response);
    if (!(await this.used.use(id, expiresAt, new Date(this.clock.now())))) throw flowOver();
  }

  clear(response: Response): void {
    this.jar.set(response, '', 0);
  }

  private open(value: string | null, kind: FlowKind): Sealed | null {
    if (value === null) return null;
    try {
      return parseJson(this.box.open(Buffer.from(value, 'base64url'), purposeOf(kind))) as Sealed;
    } catch {
      // Not sealed by this installation, or for another kind.
      return null;
    }
  }
}

const purposeOf = (kind: FlowKind): string => `staff-flow:${kind}`;
