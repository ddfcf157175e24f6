/** Services besides PostgreSQL: Redis, the storage provider and the mail server. */
import { Inject, Injectable } from '@nestjs/common';
import { randomBytes, randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { Redis } from 'ioredis';
import { messageOf } from '../../common/errors/error-facts';
import { Clock } from '../../common/time/clock';
import { APP_CONFIG, AppConfig } from '../../config/app-config';
import { RedisClient } from '../../infra/coordination/redis-client';
import { randomId } from '../../infra/crypto/random';
import { MailTransport } from '../../infra/mail/mail-transport';
import { ObjectStore } from '../../storage/providers/object-store';
import { DoctorCheck, DoctorOptions, Finding } from './finding';

const REDIS_KEY_SECONDS = 60;
/** Bytes of the test object. */
const OBJECT_BYTES = 1024;

@Injectable()
export class RedisCheck extends DoctorCheck {
  readonly name = 'redis';

  constructor(private readonly redis: RedisClient) {
    super();
  }

  async find(): Promise<Finding[]> {
    const { connection } = this.redis;
    if (!connection) return [this.skipped('REDIS_URL is not set: single-node mode, without Redis')];
    try {
      return await this.findOn(connection);
    } catch (error) {
      return [
        this.failed(
          `Redis cannot be used: ${messageOf(error)}`,
          'Start Redis, and check REDIS_URL, its password and the firewall. Until then sign-in and storage answer 503.',
        ),
      ];
    }
  }

  private async findOn(connection: Redis): Promise<Finding[]> {
    const key = `plinth:doctor:${randomUUID()}`;
    await connection.set(key, 'written', 'EX', REDIS_KEY_SECONDS);
    const value = await connection.get(key);
    await connection.del(key);
    if (value !== 'written') {
      return [
        this.failed('a value written to Redis could not be read', 'Use the primary server, not a replica.'),
      ];
    }
    const facts = await connection.info();
    const fact = (name: string): string =>
      new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(facts)?.[1] ?? 'unknown';
    const found = [this.ok(`Redis ${fact('redis_version')} writes, reads and deletes`)];
    const policy = fact('maxmemory_policy');
    if (!['noeviction', 'unknown'].includes(policy)) {
      found.push(
        this.warning(
          `Redis may delete jobs and rate limits when its memory is full (maxmemory-policy ${policy})`,
          'Set maxmemory-policy noeviction.',
        ),
      );
    }
    return found;
  }
}

@Injectable()
export class StorageCheck extends DoctorCheck {
  readonly name = 'storage';

  constructor(
    private readonly store: ObjectStore,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
  ) {
    super();
  }

  /** Under the id of a project that does not exist, so that the sweep removes what an interrupted check leaves. */
  async find(): Promise<Finding[]> {
    const { provider } = this.config.storage;
    const address = this.store.newAddress(randomId());
    const bytes = randomBytes(OBJECT_BYTES);
    let step = 'written';
    try {
      await this.store.put(address, one(bytes));
      step = 'read';
      const content = await this.store.read(address, { start: 0, end: OBJECT_BYTES - 1 });
      const isEqual = bytes.equals(Buffer.isBuffer(content) ? content : await buffer(content));
      step = 'deleted';
      await this.store.remove([address]);
      if (await this.store.has(address, OBJECT_BYTES)) throw new Error('it is still there');
      if (!isEqual)
        return [this.failed(`the provider "${provider}" returned other bytes than it got`, REMEDY)];
      return [this.ok(`the provider "${provider}" writes, reads and deletes`)];
    } catch (error) {
      const reason = error instanceof Error && error.cause ? messageOf(error.cause) : messageOf(error);
      return [this.failed(`an object cannot be ${step} by the provider "${provider}": ${reason}`, REMEDY)];
    } finally {
      await this.store.removeProject(address.projectId).catch(() => undefined);
    }
  }
}

const REMEDY =
  'Check the STORAGE_ settings, the bucket or directory, and the rights of the credentials or of the user that runs Plinth.';

async function* one(chunk: Buffer): AsyncGenerator<Buffer> {
  yield chunk;
}

@Injectable()
export class MailCheck extends DoctorCheck {
  readonly name = 'mail';

  constructor(
    private readonly transport: MailTransport,
    private readonly clock: Clock,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
  ) {
    super();
  }

  async find({ mailTo }: DoctorOptions): Promise<Finding[]> {
    const { smtpUrl, outboxDir, from } = this.config.mail;
    if (smtpUrl === null) {
      return [
        this.warning(`SMTP_URL is not set: mails are files in ${outboxDir}`, 'Set SMTP_URL and MAIL_FROM.'),
      ];
    }
    const server = new URL(smtpUrl).host;
    try {
      if (mailTo === null) {
        await this.transport.verify();
        return [this.ok(`the mail server ${server} accepts the login; --mail-to sends a test mail`)];
      }
      await this.transport.send(this.testMail(mailTo));
      return [this.ok(`the mail server ${server} accepted a mail from ${from} to ${mailTo}`)];
    } catch (error) {
      return [
        this.failed(
          `the mail server ${server} does not accept mail: ${messageOf(error)}`,
          'Check host, port, user and password in SMTP_URL, and that the server accepts MAIL_FROM as a sender.',
        ),
      ];
    }
  }

  private testMail(to: string): Parameters<MailTransport['send']>[0] {
    const text = 'This is a test mail of plinth doctor. Mails of your projects take the same path.';
    return {
      messageId: `<${randomUUID()}@plinth>`,
      to,
      subject: 'Test mail of Plinth',
      text,
      html: `<p>${text}</p>`,
      link: null,
      date: new Date(this.clock.now()),
    };
  }
}
