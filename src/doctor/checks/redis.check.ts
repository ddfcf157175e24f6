/** Checks whether Redis, where it is configured, can be used as Plinth uses it. */
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { messageOf } from '../../common/errors/error-facts';
import { RedisClient } from '../../infra/coordination/redis-client';
import { DoctorCheck, Finding } from '../finding';

const REDIS_KEY_SECONDS = 60;

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
