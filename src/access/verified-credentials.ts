/**
 * Credentials that were verified before: each process checks a signature once per revision of the project. Times and the
 * secret's validity are checked on every request, and a session in the database.
 */
import { Injectable } from '@nestjs/common';
import { growingCache } from '../common/growing-cache';
import { KeyRole } from '../projects/project-keys';
import { ProjectRegistry } from '../projects/project-registry.service';
import { Caller } from './caller';
import { VerifiedApiKey } from './strategies/api-key.strategy';
import { TokenVerifier } from './token-verifier';

/** Limit in bytes for all projects together, because owners can sign any number of tokens. Room for thousands. */
const KEYS_BYTES = 8 * 1024 * 1024;
const TOKENS_BYTES = 32 * 1024 * 1024;

interface Verified<T extends object> {
  readonly outcome: T;
  /** Milliseconds since the epoch until which the credential's key is valid; null for a current key. */
  readonly key: { readonly expiresAt: number | null };
}

/** The callers that a bearer token stands for, by the role of the apikey that is sent with it. */
interface VerifiedToken {
  /** Revision of the project. */
  readonly revision: string;
  readonly callers: Readonly<Partial<Record<KeyRole, Verified<Caller>>>>;
}

/** Approximate bytes of memory: the token, its claims as text and as an object, and the caller. */
const sizeOf = (token: string): number => 1_000 + 3 * token.length;

@Injectable()
export class VerifiedCredentials {
  private readonly keys = growingCache<Verified<VerifiedApiKey>>(KEYS_BYTES, sizeOf);
  private readonly tokens = growingCache<VerifiedToken>(TOKENS_BYTES, sizeOf);

  constructor(
    private readonly verifier: TokenVerifier,
    private readonly registry: ProjectRegistry,
  ) {}

  /** The outcome for that apikey, if the project is in the registry's cache and has not changed since. */
  findKey(token: string): VerifiedApiKey | null {
    const known = this.knownKey(token);
    if (!known) return null;
    const { id, revision } = known.project;
    return this.registry.peek(id)?.revision === revision ? known : null;
  }

  /** Like findKey(), but reads a project that is no longer in the cache. */
  async findKeyAgain(token: string): Promise<VerifiedApiKey | null> {
    const known = this.knownKey(token);
    if (!known) return null;
    const project = await this.registry.findById(known.project.id);
    return project?.revision === known.project.revision ? known : null;
  }

  rememberKey(token: string, key: VerifiedApiKey): void {
    const secret = validityOf(key) ?? this.verifier.secretFor(key.project, token);
    if (secret) this.keys.set(token, { outcome: key, key: secret });
  }

  /** The outcome for that bearer token under that key, if the project has not changed since. */
  findCaller({ project, role }: VerifiedApiKey, token: string): Caller | null {
    const known = this.tokens.get(token);
    const found = known?.revision === project.revision ? known.callers[role] : undefined;
    if (!found || !this.verifier.isSecretValid(found.key)) return null;
    return this.verifier.isCallerTimely(found.outcome) ? found.outcome : null;
  }

  rememberCaller({ project, role }: VerifiedApiKey, token: string, caller: Caller): void {
    const key =
      validityOf(caller) ??
      (caller.issuer === undefined
        ? (this.verifier.keyPairFor(project, token) ?? this.verifier.secretFor(project, token))
        : this.verifier.issuerKey());
    if (!key) return;
    const known = this.tokens.get(token);
    const { revision } = project;
    const others = known?.revision === revision ? known.callers : {};
    this.tokens.set(token, { revision, callers: { ...others, [role]: { outcome: caller, key } } });
  }

  private knownKey(token: string): VerifiedApiKey | null {
    const found = this.keys.get(token);
    if (!found || !this.verifier.isSecretValid(found.key)) return null;
    return this.verifier.isTimely(found.outcome.claims) ? found.outcome : null;
  }
}

/** How long the credential is valid if it is a named key, else null. */
const validityOf = ({ named }: VerifiedApiKey | Caller): { readonly expiresAt: number | null } | null =>
  named ? { expiresAt: named.expires_at } : null;
