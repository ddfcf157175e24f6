/** Sign-in with the password of a directory, with the throttles of passwords. */
import { Injectable, Logger } from '@nestjs/common';
import { AppError } from '../../common/errors/app-error';
import { messageOf } from '../../common/errors/error-facts';
import { claimsOf, type DirectoryUser, parseMapping } from '../directories/attribute-mapping';
import { type Guess, type GuessScope, GuessThrottle } from '../guess-throttle.service';
import { directoryFailed } from '../identity.errors';
import type { RequestOrigin } from '../request-origin';
import { type LdapDirectory, type PasswordAttempt, signInAt } from './ldap-directory';

const USUAL = { email: ['mail', 'userPrincipalName'], name: ['displayName', 'cn'] };

export interface GivenLogin {
  readonly login: string;
  readonly password: string;
}

/** The directory where the users of a scope sign in. */
export interface ScopedDirectory extends LdapDirectory {
  readonly scope: GuessScope;
}

@Injectable()
export class LdapLogins {
  private readonly logger = new Logger(LdapLogins.name);

  constructor(private readonly throttle: GuessThrottle) {}

  /** @returns null for an unknown login and a wrong password @throws AppError 429, 503 */
  async findUser(
    directory: ScopedDirectory,
    given: GivenLogin,
    origin: RequestOrigin,
  ): Promise<DirectoryUser | null> {
    const guessOn = (account: string): Guess => ({
      project: directory.scope,
      account: `ldap:${account.toLowerCase()}`,
      origin,
    });
    // Counts guesses for the entry, too: a directory finds it by many spellings and attributes.
    const attempt: PasswordAttempt = (dn, work) => this.throttle.attemptOn(guessOn(`dn:${dn}`), work);
    return this.throttle.attempt(guessOn(given.login), () => this.ask(directory, given, attempt));
  }

  /** The reason of a failure goes to the log only. */
  private async ask(
    directory: ScopedDirectory,
    given: GivenLogin,
    attempt: PasswordAttempt,
  ): Promise<DirectoryUser | null> {
    const { scope, setting } = directory;
    const { keys } = parseMapping(setting.attribute_mapping ?? { keys: {} }) ?? { keys: {} };
    const mapped = Object.values(keys).flatMap(({ name, names = [] }) => [...(name ? [name] : []), ...names]);
    const wanted = [...new Set([...USUAL.email, ...USUAL.name, ...mapped])];
    const user = await signInAt(directory, wanted, given, attempt).catch((error: unknown) => {
      if (error instanceof AppError) throw error;
      this.logger.warn(`The directory of ${scope.id} failed: ${messageOf(error)}`);
      throw directoryFailed(error);
    });
    if (!user) return null;
    const mapping = user.attributes.has('groups')
      ? { keys: { groups: { name: 'groups', array: true }, ...keys } }
      : { keys };
    return {
      // Another server for the same tree has the same users.
      issuer: setting.base_dn.toLowerCase(),
      subject: user.id,
      ...claimsOf(user.attributes, mapping, USUAL, setting.domains ?? []),
    };
  }
}
