/**
 * Rows of small files that one caller uploads into one bucket at the same time: rows that arrive while a
 * statement runs are written together by the next statement. A statement of several rows starts the executor,
 * policies and totals once, and commits once.
 */
import { Injectable } from '@nestjs/common';
import { StorageContext } from '../storage-transaction';
import { FileInsertRepository, optionalColumnsOf, WrittenFile } from './file-insert.repository';
import { NewFile } from './new-file';
import { isDefinite } from './upload-rules';

/** Maximum rows of a statement, whose records are smaller than MAX_RESULT. */
const MAX_ROWS = 32;

interface Waiting {
  readonly caller: StorageContext;
  readonly file: NewFile;
  readonly overwrite: boolean;
  readonly resolve: (written: WrittenFile | null | Promise<WrittenFile | null>) => void;
  readonly reject: (error: unknown) => void;
}

@Injectable()
export class GroupedInserts {
  /** Keyed by group, while a statement of the group runs. */
  private readonly waiting = new Map<string, Waiting[]>();

  constructor(private readonly files: FileInsertRepository) {}

  /** Like FileInsertRepository.insert(). @param key the same for files of the same caller and bucket */
  insert(
    caller: StorageContext,
    file: NewFile,
    overwrite: boolean,
    key: string,
  ): Promise<WrittenFile | null> {
    const columns = optionalColumnsOf(file).map(([column]) => column);
    const group = [overwrite, columns, file.bucket.bucketId, key].join();
    return new Promise((resolve, reject) => {
      const one = { caller, file, overwrite, resolve, reject };
      const waiting = this.waiting.get(group);
      if (waiting) waiting.push(one);
      else void this.runGroup(group, one);
    });
  }

  private async runGroup(group: string, first: Waiting): Promise<void> {
    const waiting = [first];
    this.waiting.set(group, waiting);
    for (;;) {
      const [one, ...more] = takeDistinct(waiting);
      if (!one) break;
      if (more.length === 0) await this.insertAlone(one);
      else await this.insertTogether([one, ...more]);
    }
    this.waiting.delete(group);
  }

  private async insertAlone({ caller, file, overwrite, resolve, reject }: Waiting): Promise<void> {
    await this.files.insert(caller, file, overwrite).then(resolve, reject);
  }

  /** If a row is refused, no row is written. Then each row is tried alone, so that only its own upload fails. */
  private async insertTogether(group: readonly [Waiting, ...Waiting[]]): Promise<void> {
    const [{ caller, overwrite, file }, ...others] = group;
    const files = [file, ...others.map((other) => other.file)] as const;
    try {
      const outcomeOf = await this.files.insertAll(caller, files, overwrite);
      for (const one of group) one.resolve(Promise.resolve(one.file).then(outcomeOf));
    } catch (error) {
      if (isDefinite(error)) await Promise.all(group.map((one) => this.insertAlone(one)));
      else for (const one of group) one.reject(error);
    }
  }
}

/** Takes up to MAX_ROWS rows with different names, sorted by name: in this order two statements cannot block each other. */
function takeDistinct(waiting: Waiting[]): Waiting[] {
  const taken = new Map<string, Waiting>();
  const left = waiting.filter((one) => {
    if (taken.size === MAX_ROWS || taken.has(one.file.filename)) return true;
    taken.set(one.file.filename, one);
    return false;
  });
  waiting.splice(0, waiting.length, ...left);
  return [...taken.values()].sort((a, b) => (a.file.filename < b.file.filename ? -1 : 1));
}
