/** Writes the directory of a cluster from the tar file of its backup. */
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, type Header } from 'tar-stream';
import { AppError } from '../../common/errors/app-error';
import { isSystemError, messageOf } from '../../common/errors/error-facts';
import { archiveInvalid } from '../backup.errors';

interface Entry extends AsyncIterable<Buffer> {
  readonly header: Header;
}

/** PostgreSQL refuses a directory that others may enter. */
const PRIVATE = { file: 0o600, directory: 0o700 };

/**
 * @param directory is created
 * @throws AppError 400 for an entry that is neither a file nor a directory in it
 */
export async function unpackCluster(chunks: AsyncIterable<Buffer>, directory: string): Promise<void> {
  await mkdir(directory, { mode: PRIVATE.directory });
  const tar = extract();
  const read = pipeline(Readable.from(chunks, { objectMode: false }), tar as unknown as Writable);
  let failure: unknown;
  read.catch((error: unknown) => {
    failure = error;
    tar.destroy(error as Error);
  });
  try {
    // The iterator exists before the first entry arrives; later it would miss it.
    for await (const entry of tar as unknown as AsyncIterable<Entry>) await unpack(entry, directory);
    await read;
  } catch (error) {
    // The entry's own error says only that it was closed.
    throw toArchiveError(failure ?? error);
  }
}

/** Attributes every error that is not of the disk to the archive. */
function toArchiveError(error: unknown): unknown {
  return error instanceof AppError || isSystemError(error) ? error : archiveInvalid(messageOf(error), error);
}

async function unpack(entry: Entry, directory: string): Promise<void> {
  const { name, type } = entry.header;
  const target = path.join(directory, name);
  // Names are untrusted: the archive is authentic only once its end was read.
  if (path.isAbsolute(name) || !`${path.resolve(target)}/`.startsWith(`${path.resolve(directory)}/`))
    throw archiveInvalid(`${name} is not in the directory of the cluster`);
  if (type === 'directory') {
    await mkdir(target, { recursive: true, mode: PRIVATE.directory });
    for await (const _nothing of entry) continue;
    return;
  }
  if (type !== 'file') throw archiveInvalid(`${name} is neither a file nor a directory`);
  await mkdir(path.dirname(target), { recursive: true, mode: PRIVATE.directory });
  await pipeline(bytesOf(entry), createWriteStream(target, { flags: 'wx', mode: PRIVATE.file }));
}

/** A pipeline would wait without end for an entry that was destroyed before it began; its iterator does not. */
async function* bytesOf(entry: Entry): AsyncGenerator<Buffer, void, undefined> {
  yield* entry;
}
