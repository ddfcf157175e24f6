/**
 * Hashes passwords with bcrypt in worker threads: one fewer than cores, at a lower priority, with a bounded
 * queue that projects share fairly. A flood of sign-ins is refused instead of starving other requests and the
 * sign-ins of other projects.
 */
import { Inject, Injectable, OnApplicationShutdown } from '@nestjs/common';
import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Piscina } from 'piscina';
import { AppError } from '../../common/errors/app-error';
import { PASSWORD_CONFIG, PasswordConfig } from '../../config/app-config';
import { Slots } from '../../admission/slots';
import { parseForeignHash } from './foreign-hashes';

/** Waiting hashes per thread: about five seconds of work at the default cost. */
const WAITING_PER_THREAD = 50;
/** About a third of the CPU of a competing thread: requests come first, and sign-ins still progress. */
const NICE_INCREMENT = 5;
const IDLE_THREAD_MS = 30_000;
/** Random, so that clients that were refused together do not all return at the same time. */
const RETRY_AFTER_SECONDS = { min: 2, max: 6 };

/**
 * bcrypt hashes of PHP ($2y$), OpenBSD ($2b$) and GoTrue ($2a$), with a cost of 4 to 16: the threads serve all projects, and
 * a comparison at cost 31 takes hours.
 */
const BCRYPT_HASH = /^\$2[aby]\$(0[4-9]|1[0-6])\$[./A-Za-z0-9]{53}$/;

@Injectable()
export class PasswordHasher implements OnApplicationShutdown {
  private readonly threads: Piscina<object, unknown>;
  private readonly slots: Slots;
  private decoy: Promise<string> | undefined;

  constructor(@Inject(PASSWORD_CONFIG) private readonly config: PasswordConfig) {
    const size = Math.max(1, availableParallelism() - 1);
    this.threads = new Piscina<object, unknown>({
      filename: join(__dirname, 'password-worker.cjs'),
      minThreads: 0,
      maxThreads: size,
      idleTimeout: IDLE_THREAD_MS,
      // Sleeping in Atomics.wait would keep a thread from noticing that the pool is closed.
      atomics: 'disabled',
      // The histograms are not read, and take 0.7 MiB.
      recordTiming: false,
      ...(process.platform === 'linux' ? { niceIncrement: NICE_INCREMENT } : {}),
    });
    this.slots = new Slots(size, size * WAITING_PER_THREAD);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.threads.destroy();
  }

  /** Passwords waiting to be hashed. */
  get waiting(): number {
    return this.slots.waiting;
  }

  /**
   * Refuses early, before work that a full queue would make useless.
   * @param tenant id of the project, or of the accounts that belong to none
   * @throws AppError 429 when too many passwords wait
   */
  assertRoom(tenant: string): void {
    if (this.slots.isFull(tenant)) throw busy();
  }

  /** @param tenant as in assertRoom() @throws AppError 429 when too many passwords wait */
  async hash(tenant: string, password: string): Promise<string> {
    return this.slots.use(() => this.runHash(password), busy, tenant);
  }

  /**
   * Compares a password with a hash. Without a hash it compares with a decoy and returns false, so that the time does not
   * reveal whether an account exists.
   * @param tenant as in assertRoom()
   * @param before runs in the slot, right before the work; its error ends the attempt
   * @throws AppError 429 when too many passwords wait
   */
  async verify(
    tenant: string,
    password: string,
    hash: string | null,
    before?: () => Promise<void>,
  ): Promise<boolean> {
    const usable = hash !== null && isUsableHash(hash) ? hash : await this.decoyHash();
    const compare = async (): Promise<unknown> => {
      await before?.();
      return this.threads.run(
        { password, hash: usable, foreign: parseForeignHash(usable) },
        { name: 'compare' },
      );
    };
    const matches = await this.slots.use(compare, busy, tenant);
    return matches === true && usable === hash;
  }

  /** True when the hash has a lower cost than is configured, or another system made it. */
  needsRehash(hash: string): boolean {
    return Number(BCRYPT_HASH.exec(hash)?.[1] ?? 0) < this.config.bcryptCost;
  }

  private decoyHash(): Promise<string> {
    this.decoy ??= this.runHash('a password that nobody has').catch((error: unknown) => {
      this.decoy = undefined;
      throw error;
    });
    return this.decoy;
  }

  private async runHash(password: string): Promise<string> {
    return (await this.threads.run({ password, cost: this.config.bcryptCost }, { name: 'hash' })) as string;
  }
}

/** True for a hash that verify() supports. */
export function isUsableHash(hash: string): boolean {
  return BCRYPT_HASH.test(hash) || parseForeignHash(hash) !== null;
}

function busy(): AppError {
  const { min, max } = RETRY_AFTER_SECONDS;
  return new AppError(429, 'rate_limited', 'Too many passwords are being checked; try again in a moment', {
    headers: { 'Retry-After': String(randomInt(min, max + 1)) },
  });
}
