/** Finds a hash in a list such as the one that Have I Been Pwned offers for download: lines of `SHA-1:number`, sorted. */
import { type FileHandle, open } from 'node:fs/promises';

/** Hexadecimal digits of a hash. */
const HASH = 40;
/** Bytes that certainly contain a whole line: of hash, number and end of line. */
const MAX_LINE = 128;
/** Bytes that are searched line by line. */
const BLOCK = 4_096;

/**
 * The list has tens of gigabytes: about 25 reads find a hash in it.
 * @param hash in upper case
 * @throws Error for a file that is missing or is not such a list
 */
export async function isInList(path: string, hash: string): Promise<boolean> {
  const file = await open(path);
  try {
    // The line of the hash begins at `low` or later, and before `high`.
    let low = 0;
    let high = (await file.stat()).size;
    while (high - low > BLOCK) {
      const middle = Math.floor((low + high) / 2);
      const begin = await lineAfter(file, middle);
      if (begin >= high) high = middle + 1;
      else if ((await hashAt(file, begin)) <= hash) low = begin;
      else high = begin;
    }
    const lines = (await read(file, low, high - low + MAX_LINE)).split('\n');
    const line = lines.find((one) => one.startsWith(hash));
    // Padding entries have the number 0.
    return line !== undefined && !/^:0+\s*$/.test(line.slice(HASH));
  } finally {
    await file.close();
  }
}

async function lineAfter(file: FileHandle, position: number): Promise<number> {
  const end = (await read(file, position, MAX_LINE)).indexOf('\n');
  if (end < 0) throw new Error('it has a line that is not a hash');
  return position + end + 1;
}

async function hashAt(file: FileHandle, begin: number): Promise<string> {
  const hash = await read(file, begin, HASH);
  if (!/^[\dA-F]{40}$/.test(hash)) throw new Error('it has a line that is not a hash');
  return hash;
}

async function read(file: FileHandle, position: number, length: number): Promise<string> {
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), position });
  return buffer.toString('latin1', 0, bytesRead).toUpperCase();
}
