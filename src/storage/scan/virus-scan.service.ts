/**
 * Scans the bytes of an upload with clamd after they are stored, and before the row that makes them visible. They are
 * read from the store, so that a slow client does not occupy a scanner, and nothing is held in memory.
 */
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Slots } from '../../admission/slots';
import { messageOf } from '../../common/errors/error-facts';
import { STORAGE_CONFIG, StorageConfig } from '../../config/app-config';
import { Metrics } from '../../infra/metrics/metrics';
import { History } from '../../install/history/history.service';
import type { BucketScan } from '../buckets/bucket';
import type { NewFile } from '../files/new-file';
import { ObjectStore } from '../providers/object-store';
import { fileInfected, fileNotScanned, scannerUnavailable } from '../storage.errors';
import { serviceContext, type StorageContext } from '../storage-transaction';
import { scanStream, type Verdict } from './clamd';
import { QuarantineRepository } from './quarantine.repository';

/** Maximum number of concurrent scans; clamd has ten threads by default. */
const CONCURRENCY = 10;
const PER_PROJECT = 4;
const MAX_WAITING = 1_000;
/** The result for a file that was accepted without a scan. */
const UNSCANNED = 'unscanned';
/** Signature names contain no other characters. */
const SIGNATURE = /[^\w.:()-]+/g;
const MAX_SIGNATURE = 100;
const MAX_SUBJECT = 255;

export interface Passed {
  /** The file, with its mark if it has one. */
  readonly file: NewFile;
  /** The context in which the row is inserted. */
  readonly context: StorageContext;
  /** Whether the upload replaces a file of the same name. */
  readonly overwrite: boolean;
  /** The error to report once the row is inserted; null if the file is where the client wanted it. */
  readonly refusal: Error | null;
}

@Injectable()
export class VirusScan {
  private readonly logger = new Logger('VirusScan');
  private readonly slots: Slots;
  private readonly scans: Counter<'result'>;

  constructor(
    private readonly store: ObjectStore,
    private readonly quarantine: QuarantineRepository,
    private readonly history: History,
    @Inject(STORAGE_CONFIG) private readonly config: StorageConfig,
    metrics: Metrics,
  ) {
    const waitTimeoutMs = config.clamd?.timeoutMs ?? Infinity;
    this.slots = new Slots(CONCURRENCY, MAX_WAITING, { perTenant: PER_PROJECT, waitTimeoutMs });
    this.scans = metrics.counter(
      'plinth_storage_scans_total',
      'Files that the virus scanner has read, by result',
      'result',
    );
  }

  /**
   * Decides where a file goes, by its content, its bucket and the settings of the project.
   * @throws AppError 413 for a file that is too large to be scanned, 422 for an infected file, 503 if the
   * scanner does not answer
   */
  async pass(
    context: StorageContext,
    file: NewFile,
    ofBucket: BucketScan | null,
    overwrite: boolean,
  ): Promise<Passed> {
    const passed = { file, context, overwrite, refusal: null };
    if (ofBucket === 'off') return passed;
    const { infected_files: ofProject, unscanned_files: unscanned } = context.project.settings;
    const infected = ofBucket ?? ofProject;
    const verdict = await this.verdictOf(context, file);
    if (verdict === null || verdict.kind === 'clean') return passed;
    if (verdict.kind === 'unscanned' || verdict.kind === 'unavailable') {
      if (unscanned !== 'mark')
        throw verdict.kind === 'unscanned' ? fileNotScanned() : scannerUnavailable(verdict.cause);
      return { ...passed, file: { ...file, scanResult: UNSCANNED } };
    }
    const signature = verdict.signature.replace(SIGNATURE, '_').slice(0, MAX_SIGNATURE);
    const name = `${file.bucket.bucketSlug}/${file.filename}`;
    this.history.note(context.project.id, {
      source: 'storage',
      path: `virus scan: ${file.bucket.bucketSlug}/${file.bytes.address.objectId}`,
      role: context.role,
      error: `${infected ?? 'refuse'}: ${signature}`,
    });
    this.logger.warn(`${signature} in ${name} of project ${context.project.slug}: ${infected}`);
    const marked = { ...file, scanResult: signature };
    if (infected === 'mark') return { ...passed, file: marked };
    if (infected !== 'quarantine') throw fileInfected(signature);
    return this.keepApart(context, marked, signature);
  }

  private async keepApart(context: StorageContext, file: NewFile, signature: string): Promise<Passed> {
    const service = serviceContext(context.project);
    const bucket = await this.quarantine.bucket(service);
    if (!bucket) {
      this.logger.error(`project ${context.project.slug} has no private bucket for infected files`);
      throw fileInfected(signature);
    }
    const { filename, bytes } = file;
    const { sub } = JSON.parse(context.claims) as { sub?: unknown };
    const uploadedBy = typeof sub === 'string' ? sub.slice(0, MAX_SUBJECT) : null;
    const metadata = { bucket: file.bucket.bucketSlug, filename, signature, uploaded_by: uploadedBy };
    return {
      file: { bucket, filename: bytes.address.objectId, metadata, bytes, scanResult: signature },
      context: service,
      overwrite: false,
      refusal: fileInfected(signature),
    };
  }

  private async verdictOf(
    { project }: StorageContext,
    { bytes }: NewFile,
  ): Promise<Verdict | { readonly kind: 'unavailable'; readonly cause: unknown } | null> {
    const { clamd } = this.config;
    if (clamd === null) return null;
    const signal = AbortSignal.timeout(clamd.timeoutMs);
    const scan = (): Promise<Verdict> =>
      scanStream(clamd, this.store.readWhole(bytes.address, bytes.size), signal);
    try {
      const verdict = await this.slots.use(scan, () => new Error('too many scans wait'), project.id);
      this.scans.inc({ result: verdict.kind });
      return verdict;
    } catch (cause) {
      this.logger.error(`a file of project ${project.slug} was not scanned: ${messageOf(cause)}`);
      this.scans.inc({ result: 'unavailable' });
      return { kind: 'unavailable', cause };
    }
  }
}
