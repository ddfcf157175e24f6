/**
 * Re-encrypts all secrets of MASTER_KEY_OTHER under MASTER_KEY. Each pass is idempotent, and each secret is readable under
 * one of the two keys at any moment, so a pass may be killed, and several processes may work with either key.
 */
import { Inject, Injectable, Logger } from '@nestjs/common';
import { hkdfSync } from 'node:crypto';
import { messageOf } from '../common/errors/error-facts';
import { SECRETS_CONFIG, SecretsConfig } from '../config/app-config';
import { PlatformMails } from '../infra/mail/platform-mail.service';
import { Secrets } from '../install/secrets.service';
import { MasterKeyRepository, Reseal } from './master-key.repository';
import { OwnerDatabase } from './owner-database';
import { ProjectRepository } from './project.repository';
import { formerDataSecret, MasterKeyError, ProjectSecrets } from './project-secrets';

/** Name of the lock: passes of several processes run one after the other. */
const LOCK = 'master-key';
/** Limits the wait for the owner's tables, which an owner can lock. */
const TIME_LIMITS = '-c statement_timeout=10s -c lock_timeout=5s';

export interface RotationState {
  readonly isFinished: boolean;
  /** Secrets in the platform database under MASTER_KEY_OTHER. */
  readonly remaining: number;
  /** Databases of projects that the last pass could not read. */
  readonly failed: readonly string[];
}

@Injectable()
export class MasterKeyRotation {
  private readonly logger = new Logger(MasterKeyRotation.name);
  private readonly key: string;
  private readonly reseal: Reseal;
  private failed: string[] = [];
  /** Each process makes a pass, so that each process knows its failures. */
  private isDone = false;

  constructor(
    private readonly keys: MasterKeyRepository,
    private readonly projects: ProjectRepository,
    private readonly owner: OwnerDatabase,
    private readonly mails: PlatformMails,
    private readonly secrets: Secrets,
    private readonly projectSecrets: ProjectSecrets,
    @Inject(SECRETS_CONFIG) private readonly config: SecretsConfig,
  ) {
    this.key = identify(config.masterKey);
    this.reseal = (sealed, purpose) => secrets.box.reseal(sealed, purpose);
  }

  /**
   * Runs before the first request.
   * @throws MasterKeyError when secrets are encrypted with a key that this process does not have: every request would
   *   fail, and new secrets would be encrypted with another key
   */
  async begin(): Promise<void> {
    const newest = await this.projects.findNewest();
    if (newest) this.projectSecrets.assertOpens('owner-password', newest.id, newest.ownerPassword);
    const { masterKey, otherMasterKey } = this.config;
    const own = [masterKey, otherMasterKey].filter((key) => key !== null);
    const known = own.map(identify);
    if ((await this.keys.listKeys()).some((key) => !known.includes(key)))
      throw new MasterKeyError(
        'Some secrets are still encrypted under another key than MASTER_KEY: set MASTER_KEY_OTHER to that key until plinth doctor says that it is not needed (docs/guides/operations.md).',
      );
    await this.keys.addKeys(known);
    if (otherMasterKey === null) return;
    await this.keys.addDataSecrets((id, ownerPassword) => {
      const isOther = this.reseal(ownerPassword, `owner-password:${id}`) !== null;
      const dataSecret = formerDataSecret(isOther ? otherMasterKey : masterKey, id);
      return this.secrets.seal('data-secret', id, dataSecret);
    });
  }

  /** Re-encrypts the remaining secrets, unless another process is doing so. Its failures are logged. */
  async advance(): Promise<void> {
    if (this.config.otherMasterKey === null) return;
    try {
      if (!this.isDone || (await this.hasOtherKeys()))
        await this.projects.whileLocked(LOCK, () => this.resealAll());
    } catch (error) {
      this.logger.warn(`secrets could not be encrypted under MASTER_KEY: ${messageOf(error)}`);
    }
  }

  /** Null without MASTER_KEY_OTHER. */
  async state(): Promise<RotationState | null> {
    if (this.config.otherMasterKey === null) return null;
    const remaining = await this.keys.resealPlatform(this.reseal, true);
    const isFinished = this.isDone && remaining === 0 && !(await this.hasOtherKeys());
    return { isFinished, remaining, failed: this.failed };
  }

  private async hasOtherKeys(): Promise<boolean> {
    return (await this.keys.listKeys()).some((key) => key !== this.key);
  }

  private async resealAll(): Promise<void> {
    let count = await this.keys.resealPlatform(this.reseal, false);
    await this.mails.reseal();
    this.failed = [];
    for (const id of await this.projects.listActiveIds()) count += await this.resealProject(id);
    const remaining = await this.keys.resealPlatform(this.reseal, true);
    // A project whose owner has locked or dropped a table does not delay the rotation.
    if (remaining === 0) await this.keys.removeOtherKeys(this.key);
    this.isDone = this.failed.length === 0;
    if (count > 0) this.logger.log(`encrypted ${count} secrets under MASTER_KEY, ${remaining} are left`);
  }

  private async resealProject(id: string): Promise<number> {
    const project = await this.owner.find(id);
    if (!project) return 0;
    try {
      return await this.owner.use(
        project,
        'secrets in tables of auth are re-encrypted',
        (client) =>
          this.keys.resealProject(
            id,
            async (text, values) => (await client.query(text, [...values])).rows as unknown[],
            this.reseal,
          ),
        { options: TIME_LIMITS },
      );
    } catch (error) {
      this.failed.push(project.slug);
      this.logger.warn(
        `secrets of project ${project.slug} could not be encrypted under MASTER_KEY: ${messageOf(error)}`,
      );
      return 0;
    }
  }
}

/** Identifies a key without revealing anything about it. */
const identify = (key: string): string =>
  Buffer.from(hkdfSync('sha256', key, '', 'plinth master key id', 8)).toString('hex');
