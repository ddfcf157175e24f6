/**
 * Credentials that were verified before: a signature is checked once a process, for as long as the project stays as it
 * is. Times and the secret's validity are looked at on every request, and a session is checked in the database.
 */
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { growingCache } from '../common/growing-cache';
import { ProjectSecret } from '../projects/project';
import { ProjectRegistry } from '../projects/project-registry.service';
import { Caller } from './caller';
import { VerifiedApiKey } from './strategies/api-key.strategy';
import { TokenVerifier } from './token-verifier';

const CACHED_KEYS = 4_000;
const CACHED_TOKENS_PER_KEY = 2_000;

interface Verified<T extends object> {
  readonly outcome: T;
  readonly secret: ProjectSecret;
}

@Injectable()
export class VerifiedCredentials {
  private readonly keys = new LRUCache<string, Verified<VerifiedApiKey>>({ max: CACHED_KEYS });
  /** By key object: when the project changes, its key is verified anew, and these go with the old one. */
  private readonly callers = new WeakMap<VerifiedApiKey, LRUCache<string, Verified<Caller>>>();

  constructor(
    private readonly tokens: TokenVerifier,
    private readonly registry: ProjectRegistry,
  ) {}

  /** The outcome for that apikey, if the project has not changed since. */
  findKey(token: string): VerifiedApiKey | null {
    const found = this.keys.get(token);
    if (!found || !this.tokens.isSecretValid(found.secret) || !this.tokens.isTimely(found.outcome.claims))
      return null;
    const { project } = found.outcome;
    return this.registry.peek(project.id) === project ? found.outcome : null;
  }

  rememberKey(token: string, key: VerifiedApiKey): void {
    const secret = this.tokens.secretFor(key.project, token);
    if (secret) this.keys.set(token, { outcome: key, secret });
  }

  /** The outcome for that bearer token under that key. */
  findCaller(key: VerifiedApiKey, token: string): Caller | null {
    const found = this.callers.get(key)?.get(token);
    if (!found || !this.tokens.isSecretValid(found.secret)) return null;
    return this.tokens.isTimely(found.outcome.tokenClaims) ? found.outcome : null;
  }

  rememberCaller(key: VerifiedApiKey, token: string, caller: Caller): void {
    const secret = this.tokens.secretFor(key.project, token);
    if (!secret) return;
    const callers = this.callers.get(key) ?? growingCache<Verified<Caller>>(CACHED_TOKENS_PER_KEY);
    this.callers.set(key, callers);
    callers.set(token, { outcome: caller, secret });
  }
}
