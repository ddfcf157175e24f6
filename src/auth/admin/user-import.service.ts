/**
 * Imports users of another system from a stream of JSON Lines. Lines are a stranger's input: a bad line stops nothing else.
 */
import { Injectable } from '@nestjs/common';
import { DatabaseError } from 'pg';
import { Clock } from '../../common/time/clock';
import { Slices } from '../../common/time/slices';
import type { Project } from '../../projects/project';
import { ProviderRepository } from '../providers/provider.repository';
import { isReserved, issuerOf, NO_SETTINGS } from '../providers/provider';
import { ImportedUser, IssuerOf, LineFault, toImportedUser } from './imported-user';
import { StoredUsers, UserImportRepository } from './user-import.repository';

const MAX_BATCH = 500;
/** Bytes of lines that are stored together, unless one line is longer. */
const MAX_BATCH_BYTES = 512 * 1024;
/** Bytes. Metadata may have a MiB. */
const MAX_LINE = 1_280 * 1024;
const MAX_ERRORS = 100;
const QUERY_CANCELED = '57014';
const [NEWLINE, SPACE] = [0x0a, 0x20];

/** Providers whose issuer is the same for everybody, if the project has not set them up yet. */
const COMMON_ISSUERS = new Map(
  (['google', 'apple', 'github', 'gitlab'] as const).map((preset) => [
    preset as string,
    issuerOf({ preset, settings: NO_SETTINGS }),
  ]),
);

export interface ImportReport extends StoredUsers {
  readonly users: number;
  readonly skipped: number;
  readonly failed: number;
  /** Providers whose identities were left out. */
  readonly unknown_providers: readonly string[];
  /** The first faults. */
  readonly errors: readonly { readonly line: number; readonly message: string }[];
}

interface Line {
  readonly number: number;
  readonly user: ImportedUser;
}

@Injectable()
export class UserImport {
  constructor(
    private readonly users: UserImportRepository,
    private readonly providers: ProviderRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * What was stored before an error of the stream or of the connection stays stored; a repeated import continues.
   * @param updates true: existing users get the given values; false: they stay as they are
   */
  async importUsers(project: Project, body: AsyncIterable<Buffer>, updates: boolean): Promise<ImportReport> {
    const run = new Run(await this.issuers(project), (batch) =>
      this.users.store(
        project,
        batch.map(({ user }) => user),
        updates,
        this.clock.date(),
      ),
    );
    for await (const line of linesOf(body)) await run.add(line);
    return run.end();
  }

  private async issuers(project: Project): Promise<ReadonlyMap<string, string>> {
    const configured = (await this.providers.list(project)).map((one): [string, string] => [
      one.name,
      issuerOf(one),
    ]);
    return new Map(configured);
  }
}

class Run {
  private batch: Line[] = [];
  private bytes = 0;
  private readonly unknown = new Set<string>();
  private readonly errors: { line: number; message: string }[] = [];
  private readonly counts = { users: 0, created: 0, updated: 0, identities: 0, failed: 0 };
  private readonly slices = new Slices();
  private lines = 0;

  constructor(
    private readonly issuers: ReadonlyMap<string, string>,
    private readonly store: (batch: readonly Line[]) => Promise<StoredUsers>,
  ) {}

  /** @param line null: it is too long */
  async add(line: Buffer | null): Promise<void> {
    this.lines += 1;
    if (this.slices.isOver) await this.slices.yieldToLoop();
    if (line?.every((byte) => byte <= SPACE)) return;
    this.counts.users += 1;
    if (line === null) return this.fail(this.lines, `The line is longer than ${MAX_LINE} bytes`);
    try {
      this.batch.push({ number: this.lines, user: toImportedUser(line, this.issuerOf) });
    } catch (error) {
      if (!(error instanceof LineFault)) throw error;
      return this.fail(this.lines, error.message);
    }
    this.bytes += line.length;
    if (this.batch.length >= MAX_BATCH || this.bytes >= MAX_BATCH_BYTES) await this.flush();
  }

  async end(): Promise<ImportReport> {
    await this.flush();
    const { users, created, updated, failed } = this.counts;
    return {
      ...this.counts,
      skipped: users - created - updated - failed,
      unknown_providers: [...this.unknown].sort(),
      errors: this.errors.sort((a, b) => a.line - b.line),
    };
  }

  private async flush(): Promise<void> {
    const batch = this.batch;
    this.batch = [];
    this.bytes = 0;
    if (batch.length > 0) await this.storeOrSplit(batch);
  }

  /** Finds by bisection the rows that the database, or a trigger of the project's owner, refuses. */
  private async storeOrSplit(batch: readonly Line[]): Promise<void> {
    try {
      const stored = await this.store(batch);
      this.counts.created += stored.created;
      this.counts.updated += stored.updated;
      this.counts.identities += stored.identities;
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      // A lock, or a trigger that waits, would delay each further row for as long.
      if (batch.length === 1 && error.code === QUERY_CANCELED) throw error;
      const middle = Math.ceil(batch.length / 2);
      const [first] = batch;
      if (batch.length === 1 && first) this.fail(first.number, error.message.slice(0, 300));
      else {
        await this.storeOrSplit(batch.slice(0, middle));
        await this.storeOrSplit(batch.slice(middle));
      }
    }
  }

  private fail(line: number, message: string): void {
    this.counts.failed += 1;
    if (this.errors.length < MAX_ERRORS) this.errors.push({ line, message });
  }

  /** The issuer with which the provider signs in here, so that the identity is found. */
  private readonly issuerOf: IssuerOf = (provider, given) => {
    const issuer = isReserved(provider)
      ? null
      : (this.issuers.get(provider) ?? COMMON_ISSUERS.get(provider) ?? given);
    if (issuer === null && this.unknown.size < MAX_ERRORS) this.unknown.add(provider);
    return issuer;
  };
}

/**
 * Yields the lines without their line breaks, and null for each line that is too long. The rest of such a line is not kept in
 * memory.
 */
async function* linesOf(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer | null, void, undefined> {
  let parts: Buffer[] = [];
  let length = 0;
  const take = (): Buffer | null => {
    const line = length > MAX_LINE ? null : Buffer.concat(parts);
    parts = [];
    length = 0;
    return line;
  };
  const add = (part: Buffer): void => {
    length += part.length;
    if (length <= MAX_LINE) parts.push(part);
    else parts = [];
  };
  for await (const chunk of body) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      add(chunk.subarray(start, end));
      start = end + 1;
      yield take();
    }
    add(chunk.subarray(start));
  }
  if (length > 0) yield take();
}
