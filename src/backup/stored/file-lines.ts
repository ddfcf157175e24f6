/**
 * Lines about files whose bytes are in the store next to the archives. An archive has them in place of the bytes; a list for
 * each archive has them as well, sealed, so that the server can read it without the archive.
 */
import { createHmac, hkdfSync } from 'node:crypto';
import { Slices } from '../../common/time/slices';
import { ObjectAddress } from '../../storage/providers/object-store';
import { archiveInvalid } from '../backup.errors';

export interface StoredFile {
  readonly objectId: string;
  /** Bytes of the file. */
  readonly size: number;
  readonly sha256: string;
  /** When the storage provider completed it, in milliseconds since the epoch. */
  readonly storedAt: number;
  /** The recipients for which it is encrypted, as 8 hexadecimal digits. */
  readonly tag: string;
  /** Bytes in the store, which are more if it is encrypted. */
  readonly storedSize: number;
}

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const LINE = new RegExp(`^(${UUID}) (\\d{1,15}) ([0-9a-f]{64}) (\\d{1,15}) ([0-9a-f]{8}) (\\d{1,15})$`);
const MAX_LINE = 200;

export function lineOf({ objectId, size, sha256, storedAt, tag, storedSize }: StoredFile): string {
  return `${objectId} ${size} ${sha256} ${Math.round(storedAt)} ${tag} ${storedSize}\n`;
}

/** @throws AppError 400 for a line that Plinth does not write: the maker of an archive may be a stranger */
export async function* filesIn(chunks: AsyncIterable<Buffer>): AsyncGenerator<StoredFile, void, undefined> {
  const slices = new Slices();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE) throw invalid();
    for (const line of lines) {
      yield parse(line);
      if (slices.isOver) await slices.yieldToLoop();
    }
  }
  if (rest !== '') throw invalid();
}

function parse(line: string): StoredFile {
  const [, objectId, size, sha256, storedAt, tag, storedSize] = LINE.exec(line) ?? [];
  if (objectId === undefined || sha256 === undefined || tag === undefined) throw invalid();
  const [bytes, at, stored] = [Number(size), Number(storedAt), Number(storedSize)];
  return { objectId, size: bytes, sha256, storedAt: at, tag, storedSize: stored };
}

const invalid = (): Error => archiveInvalid('its list of stored files cannot be read');

/**
 * Keys of the store, from the data secret of the project, which its archives have sealed. Names in the store cannot be guessed
 * without it, so an archive that somebody forged for another project's id refers to none of that project's files.
 */
export class StoreKeys {
  /** Seals lists. */
  readonly lists: Uint8Array;
  private readonly names: Uint8Array;

  constructor(dataSecret: string) {
    const derive = (purpose: string): Uint8Array =>
      new Uint8Array(hkdfSync('sha256', dataSecret, '', `plinth stored files: ${purpose}`, 32));
    [this.lists, this.names] = [derive('lists'), derive('names')];
  }

  /** The name of the content in the store: the same for the same bytes. */
  nameOf({ sha256, tag }: Pick<StoredFile, 'sha256' | 'tag'>): string {
    const hex = createHmac('sha256', this.names).update(`${tag} ${sha256}`).digest('hex');
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
      '-',
    );
  }
}

export const folderOf = (projectId: string, kind: 'files' | 'lists'): string => `${projectId}/${kind}`;

export const addressOf = (projectId: string, kind: 'files' | 'lists', name: string): ObjectAddress =>
  new ObjectAddress(folderOf(projectId, kind), name);
