/**
 * Cross-origin access of buckets: the operations on its rules, and their effect. A bucket without rules is open to every origin, as all
 * of the API is.
 */
import { Injectable } from '@nestjs/common';
import type { CorsOptions } from '@nestjs/common/interfaces/external/cors-options.interface';
import type { Request, Response } from 'express';
import { LRUCache } from 'lru-cache';
import { decodedOrSame } from '../../../http/syntax/percent-encoding';
import type { Project } from '../../../projects/project';
import { ProjectRegistry } from '../../../projects/project-registry.service';
import { BUCKET_BY_ADDRESS, BucketRepository } from '../../buckets/bucket.repository';
import { StoredRow } from '../../rows/stored-row';
import { bucketNotFound } from '../../storage.errors';
import { serviceContext, StorageTransaction } from '../../storage-transaction';
import { type CorsRule, inLowerCase, parseCors, printCors, ruleFor, storedCors } from './cors-rules';
import { S3Bodies } from './s3-bodies.service';
import type { BucketCall } from './s3-call';
import { sendXml } from './s3-objects.service';
import { s3Error } from './s3.errors';

type Rules = ReadonlyMap<string, readonly CorsRule[]>;

/** Milliseconds until other processes know new rules. */
const VALIDITY_MS = 5_000;
const CACHED_PROJECTS = 1_000;
/** Maximum number of buckets of a project that have rules. */
const MAX_BUCKETS = 1_000;
const MAX_TEXT = 65_536;
/** Maximum bytes of the rules of a project, which are read and kept together. */
const MAX_BYTES = 1024 * 1024;
const PATH = /^\/p\/([a-z0-9-]{1,100})\/storage\/v1\/s3\/([^/?]{1,300})/;
/** A configuration without valid rules allows nothing. */
const CLOSED: readonly CorsRule[] = [];

@Injectable()
export class S3Cors {
  private readonly cache = new LRUCache<string, Promise<Rules>>({ max: CACHED_PROJECTS, ttl: VALIDITY_MS });

  constructor(
    private readonly buckets: BucketRepository,
    private readonly door: StorageTransaction,
    private readonly registry: ProjectRegistry,
    private readonly bodies: S3Bodies,
  ) {}

  async show({ caller, bucket }: BucketCall, response: Response): Promise<void> {
    const { rows } = await this.door.query(caller, {
      name: 'storage:bucket-cors',
      text: `select cors_rules from ${BUCKET_BY_ADDRESS}`,
      values: [bucket],
      maxBytes: 2 * MAX_TEXT,
    });
    if (!rows[0]) throw bucketNotFound();
    const text = new StoredRow('buckets', rows[0]).textOrNull('cors_rules', MAX_TEXT);
    if (text === null) throw s3Error(404, 'NoSuchCORSConfiguration', 'The bucket has no rules of CORS');
    sendXml(response, 'CORSConfiguration', printCors(storedCors(text) ?? CLOSED));
  }

  async set(call: BucketCall, response: Response): Promise<void> {
    const rules = parseCors(await this.bodies.readXml(call, 'CORSConfiguration'));
    const text = JSON.stringify(rules);
    if (Buffer.byteLength(text) > MAX_TEXT)
      throw s3Error(400, 'InvalidRequest', `The rules of a bucket may have at most ${MAX_TEXT} bytes`);
    await this.write(call, text);
    response.status(200).end();
  }

  async remove(call: BucketCall, response: Response): Promise<void> {
    await this.write(call, null);
    response.status(204).end();
  }

  private async write({ caller, bucket }: BucketCall, text: string | null): Promise<void> {
    await this.buckets.updateBucket(caller, bucket, { cors_rules: text });
    this.cache.delete(caller.project.id);
  }

  /**
   * The rights of a page of another origin by the rules of the bucket; null if no rules apply. Runs before the
   * signature is verified, because preflights have none. It takes at most one statement per project in VALIDITY_MS.
   * @throws AppError 403 for a preflight that no rule allows
   */
  async decide({ url, method, headers }: Request): Promise<CorsOptions | null> {
    const { origin } = headers;
    const [, slug = '', name = ''] = PATH.exec(url) ?? [];
    const project = origin === undefined || slug === '' ? null : await this.registry.findBySlug(slug);
    if (!project || origin === undefined || project.database.isPaused) return null;
    const rules = (await this.rulesOf(project)).get(decodedOrSame(name));
    if (!rules) return null;
    const isPreflight = method === 'OPTIONS';
    const wanted = isPreflight ? headers['access-control-request-method'] : method;
    const requested = isPreflight ? namesIn(headers['access-control-request-headers']) : [];
    const rule = ruleFor(rules, origin, wanted ?? '', requested);
    if (!rule && isPreflight)
      throw s3Error(403, 'AccessForbidden', 'CORSResponse: This CORS request is not allowed');
    return rule ? optionsOf(rule, origin, requested) : { origin: false };
  }

  private rulesOf(project: Project): Promise<Rules> {
    const found = this.cache.get(project.id) ?? this.read(project);
    this.cache.set(project.id, found, { noUpdateTTL: true });
    found.catch(() => this.cache.delete(project.id));
    return found;
  }

  private async read(project: Project): Promise<Rules> {
    const { rows } = await this.door.query(serviceContext(project), {
      name: 'storage:all-cors',
      text: `select name, slug, cors_rules from storage.buckets where cors_rules is not null order by id limit ${MAX_BUCKETS}`,
      maxBytes: MAX_BYTES,
    });
    return new Map(
      rows.flatMap((found) => {
        const row = new StoredRow('buckets', found);
        const rules = (storedCors(row.text('cors_rules', MAX_TEXT)) ?? CLOSED).map(inLowerCase);
        return ['name', 'slug'].map((column) => [row.text(column, 1_024), rules] as const);
      }),
    );
  }
}

function optionsOf(rule: CorsRule, origin: string, requested: readonly string[]): CorsOptions {
  return {
    origin: rule.origins.includes('*') ? '*' : [origin],
    methods: [...rule.methods],
    allowedHeaders: [...requested],
    exposedHeaders: [...rule.exposed],
    optionsSuccessStatus: 200,
    maxAge: rule.maxAge ?? undefined,
  };
}

const namesIn = (header: string | undefined): string[] =>
  (header ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
