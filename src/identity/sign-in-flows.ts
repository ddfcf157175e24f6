/**
 * Sign-ins of several steps: single sign-on, and passkeys. A short-lived cookie binds the steps to one browser. Its
 * content is encrypted, so beginning a sign-in stores nothing. Each sign-in can be completed once.
 */
import type { Request, Response } from 'express';
import { randomUUID } from 'node:crypto';
import type { Clock } from '../common/time/clock';
import type { SecretBox } from '../infra/crypto/secret-box';
import type { CookieJar } from './cookie-jar';
import { flowOver } from './identity.errors';

/** Milliseconds within which all steps must be completed. */
const LIFETIME_MS = 10 * 60_000;

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

export interface FlowStore {
  /** @returns false if the flow was used before */
  use(id: string, expiresAt: Date, now: Date): Promise<boolean>;
}

/** @template Kind the content of each kind of flow; the cookie of one kind is refused by the others */
export class SignInFlows<Kind extends string = string> {
  /** @param purpose prefix of the purposes of the box, such as `staff-flow` */
  constructor(
    private readonly purpose: string,
    private readonly box: SecretBox,
    private readonly jar: CookieJar,
    private readonly store: FlowStore,
    private readonly clock: Clock,
  ) {}

  begin(response: Response, kind: Kind, content: object): void {
    const sealed: Sealed = { id: randomUUID(), until: this.clock.now() + LIFETIME_MS, content };
    this.jar.set(response, this.box.sealToken(sealed, this.purposeOf(kind)), LIFETIME_MS / 1000);
  }

  /** @throws AppError 401 if the request belongs to no flow of this kind, or to one that is too old */
  continue<Content>(request: Request, kind: Kind): Flow<Content> {
    // Null for a cookie that another installation sealed, or that is for another kind of flow.
    const sealed = this.box.openToken<Sealed>(this.jar.read(request) ?? '', this.purposeOf(kind));
    if (!sealed || sealed.until <= this.clock.now()) throw flowOver();
    return { id: sealed.id, content: sealed.content as Content, expiresAt: new Date(sealed.until) };
  }

  /** Call it after everything has been verified. @throws AppError 401 if the flow was completed before */
  async complete({ id, expiresAt }: Flow<unknown>, response: Response): Promise<void> {
    this.clear(response);
    if (!(await this.store.use(id, expiresAt, this.clock.date()))) throw flowOver();
  }

  clear(response: Response): void {
    this.jar.set(response, '', 0);
  }

  private purposeOf(kind: Kind): string {
    return `${this.purpose}:${kind}`;
  }
}
