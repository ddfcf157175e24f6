/** Starts Plinth for a test file with its own platform database, a free port and an adjustable clock. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { createApp } from '../../src/bootstrap/create-app';
import type { DrainableServer } from '../../src/bootstrap/drainable-server';
import { Clock } from '../../src/common/time/clock';
import { loadConfig } from '../../src/config/load-config';
import type { Tuning } from '../../src/config/tuning';
import { withConnection } from '../../src/database/pools/one-off-connection';
import { quoteIdentifier } from '../../src/database/sql/identifier';
import { provideDocument } from './documented/exchange-check';
import { HttpClient } from './http-client';
import { TestProject } from './test-project';

const DRAIN_LIMIT_MS = 5_000;
/** Cheap password hashes, and short time limits for a stalled provider. */
export const TEST_TUNING = { bcryptCost: 4, storageTimeoutMs: 4_000 };
export const ADMIN_KEY = 'test-platform-admin-key-0123456789';

/** The system's time plus an offset that the test sets. */
export class MovableClock extends Clock {
  private offset = 0;
  private heldAt: number | null = null;

  now(): number {
    return (this.heldAt ?? Date.now()) + this.offset;
  }

  /** Stops the clock, so that only move() changes it, because requests can take seconds on a busy machine. */
  hold(): void {
    this.heldAt ??= Date.now();
  }

  /** @param seconds to move forward; back if negative */
  move(seconds: number): void {
    this.offset += seconds * 1000;
  }
}

export interface StartOptions {
  /** Environment variables in addition to the test's defaults. */
  readonly env?: Record<string, string>;
  /** Values that are not settings. */
  readonly tuning?: Partial<Tuning>;
  /** A free port, so that PUBLIC_URL can name it; default: any free port. */
  readonly port?: number;
  /** URL of a role or server other than that of the test run. */
  readonly databaseUrl?: string;
  /** Serves the same projects and files as this instance, with a separate clock. Stop this instance last. */
  readonly replicaOf?: TestPlinth;
}

export class TestPlinth {
  private constructor(
    readonly app: NestExpressApplication,
    readonly baseUrl: string,
    readonly clock: MovableClock,
    readonly dataDir: string,
    private readonly platformUrl: string,
    private readonly isReplica: boolean,
  ) {}

  static async start({
    env = {},
    tuning = {},
    port: wanted = 0,
    databaseUrl,
    replicaOf,
  }: StartOptions = {}): Promise<TestPlinth> {
    const adminUrl = databaseUrl ?? process.env.PLINTH_TEST_DATABASE_URL;
    if (!adminUrl)
      throw new Error('PLINTH_TEST_DATABASE_URL is not set: is this run by Jest with its global set-up?');
    const platform = new URL(replicaOf?.platformUrl ?? adminUrl);
    if (!replicaOf) platform.pathname = `/plinth_test_${randomBytes(6).toString('hex')}`;
    if (!replicaOf && !databaseUrl) await copyPlatformTemplate(platform);
    const dataDir = replicaOf?.dataDir ?? mkdtempSync(join(tmpdir(), 'plinth-test-'));
    const environment = {
      PORT: '0',
      HOST: '127.0.0.1',
      PUBLIC_URL: 'http://plinth.test',
      DATA_DIR: dataDir,
      PLATFORM_ADMIN_KEY: ADMIN_KEY,
      MASTER_KEY: 'test-master-key-0123456789-0123456789',
      LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
      DATABASE_MAX_CONNECTIONS: '20',
      ...env,
    };
    const config = loadConfig(environment, { ...TEST_TUNING, ...tuning });
    const clock = new MovableClock();
    const app = await createApp({ config, platformUrl: platform.href, clock });
    await app.listen(wanted, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    const baseUrl = `http://127.0.0.1:${port}`;
    await provideDocument(baseUrl);
    return new TestPlinth(app, baseUrl, clock, dataDir, platform.href, replicaOf !== undefined);
  }

  /** Name of the platform database. */
  get platformDatabase(): string {
    return decodeURIComponent(new URL(this.platformUrl).pathname.slice(1));
  }

  /** A client without credentials. */
  get http(): HttpClient {
    return new HttpClient(this.baseUrl);
  }

  /** A client with the platform's admin key. */
  get admin(): HttpClient {
    return new HttpClient(this.baseUrl, { authorization: `Bearer ${ADMIN_KEY}` });
  }

  /** A fresh project with its own database. */
  async createProject(
    body: { name?: string; plan?: string; settings?: Record<string, unknown> } = {},
  ): Promise<TestProject> {
    return TestProject.create(this, body);
  }

  async stop(): Promise<void> {
    // As in the product, open connections do not delay the shutdown.
    await (this.app.getHttpServer() as DrainableServer).drain(DRAIN_LIMIT_MS);
    await this.app.close();
    if (this.isReplica) return;
    await this.dropPlatformDatabase();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  /** Drops the platform database, even while the application is running. */
  async dropPlatformDatabase(): Promise<void> {
    const admin = new URL(this.platformUrl);
    const name = decodeURIComponent(admin.pathname.slice(1));
    admin.pathname = '/postgres';
    await withConnection({ connectionString: admin.href }, (client) =>
      client.query(`drop database if exists ${quoteIdentifier(name)} with (force)`),
    );
  }
}

/**
 * Copies the template, because migrating a platform database takes longer than the rest of a start. Without a template,
 * Plinth migrates it.
 */
async function copyPlatformTemplate(platform: URL): Promise<void> {
  const template = process.env.PLINTH_TEST_PLATFORM_TEMPLATE;
  if (template === undefined) return;
  const admin = new URL(platform);
  admin.pathname = '/postgres';
  const [name, source] = [platform.pathname.slice(1), template].map(quoteIdentifier);
  await withConnection({ connectionString: admin.href }, async (client) => {
    await client.query(`create database ${name} template ${source} strategy file_copy`);
    // In place of autovacuum: the planner should know that the server has hundreds of databases and roles.
    await client.query('analyze pg_database, pg_authid, pg_auth_members');
  });
}
