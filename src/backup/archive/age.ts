/**
 * Encryption of a whole archive in age's format (https://age-encryption.org/v1), so that `age -d` opens it. The library makes and
 * opens the header, which holds the file's key for each recipient. The content is encrypted here with OpenSSL, because the
 * library's own cipher encrypts 40 MB/s and holds the event loop.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { messageOf } from '../../common/errors/error-facts';
import { notSupported } from '../../copies/copies.errors';
import { archiveInvalid } from '../backup.errors';
import { continued, readHead } from './stream-head';

const CIPHER = 'chacha20-poly1305';
/** Bytes of one encrypted piece, of its authentication tag, and of the numbers of the format. */
const [PIECE, TAG, NONCE, FILE_KEY] = [64 * 1024, 16, 16, 16];
const MAX_HEADER = 64 * 1024;
/** The beginning of an encrypted file. */
export const AGE_MAGIC = Buffer.from('age-encryption.org/v1\n');
/** The last line of the header. */
const HEADER_END = /\n--- [^\n]*\n/;

export const AGE_ENDING = '.age';

type Source = AsyncIterable<Buffer>;

/** @throws AppError 400 for text that is not a key */
export async function* encrypted(source: Source, recipients: readonly string[]): AsyncGenerator<Buffer> {
  const [fileKey, header] = await newHeader(recipients);
  yield header;
  yield* sealed(source, fileKey);
}

/** The payload: a nonce, and pieces whose tags cover their order. @param secret encrypts any number of streams */
export async function* sealed(source: Source, secret: Uint8Array): AsyncGenerator<Buffer> {
  const nonce = randomBytes(NONCE);
  yield nonce;
  const key = contentKey(secret, nonce);
  for await (const { piece, iv } of inPieces(source, PIECE)) {
    const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG });
    yield Buffer.concat([cipher.update(piece), cipher.final(), cipher.getAuthTag()]);
  }
}

/** Bytes of sealed() for `size` bytes. */
export const sealedSize = (size: number): number => NONCE + size + TAG * Math.max(1, Math.ceil(size / PIECE));

/** The content of sealed(). @throws AppError 400 when it was altered or cut off */
export async function* unsealed(source: Source, secret: Uint8Array): AsyncGenerator<Buffer> {
  const chunks = source[Symbol.asyncIterator]();
  const head = await readHead(chunks, NONCE);
  if (head.length < NONCE) throw altered();
  const key = contentKey(secret, head.subarray(0, NONCE));
  let isFirst = true;
  for await (const { piece, iv } of inPieces(continued(head.subarray(NONCE), chunks), PIECE + TAG)) {
    const content = decrypt(key, iv, piece);
    if (content.length === 0 && !isFirst) throw altered();
    isFirst = false;
    yield content;
  }
}

/**
 * The content of a stream that may be encrypted.
 * @param identityFile null: there is none
 * @throws AppError 400 when no key in the file opens it, or it was altered
 */
export async function* decrypted(source: Source, identityFile: string | null): AsyncGenerator<Buffer> {
  const chunks = source[Symbol.asyncIterator]();
  const head = await readHead(chunks, AGE_MAGIC.length);
  const rest = continued(head, chunks);
  if (!head.subarray(0, AGE_MAGIC.length).equals(AGE_MAGIC)) {
    yield* rest;
    return;
  }
  if (identityFile === null) throw isEncrypted();
  try {
    yield* opened(rest, identityFile);
  } finally {
    await rest.return(undefined);
  }
}

export const isEncrypted = (): Error =>
  notSupported('The backup is encrypted with age: open it with an identity file (--identity-file)');

async function* opened(source: AsyncGenerator<Buffer>, identityFile: string): AsyncGenerator<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  const begin = (): number => {
    // Latin 1 has one character for each byte.
    const end = HEADER_END.exec(head.toString('latin1'));
    return end ? end.index + end[0].length : Infinity;
  };
  while (head.length < begin()) {
    const next = head.length > MAX_HEADER ? null : await source.next();
    if (!next || next.done) throw archiveInvalid('the header of its encryption is cut off');
    head = Buffer.concat([head, next.value]);
  }
  const start = begin();
  const fileKey = await openHeader(head.subarray(0, start), identityFile);
  yield* unsealed(continued(head.subarray(start), source), fileKey);
}

function decrypt(key: Buffer, iv: Buffer, piece: Buffer): Buffer {
  try {
    const end = piece.length - TAG;
    const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG });
    decipher.setAuthTag(piece.subarray(end));
    return Buffer.concat([decipher.update(piece.subarray(0, end)), decipher.final()]);
  } catch (error) {
    throw altered(error);
  }
}

const altered = (cause?: unknown): Error => archiveInvalid('it is cut off, or was altered', cause);

/** @returns a new key, and the header that holds it @throws AppError 400 */
async function newHeader(recipients: readonly string[]): Promise<[Uint8Array, Buffer]> {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  let fileKey: Uint8Array = new Uint8Array();
  // Reads the key, and adds nothing to the header.
  const reader = { wrapFileKey: (key: Uint8Array) => ((fileKey = Uint8Array.from(key)), []) };
  try {
    for (const recipient of recipients) encrypter.addRecipient(recipient);
    encrypter.addRecipient(reader);
    const empty = Buffer.from(await encrypter.encrypt(new Uint8Array()));
    return [fileKey, empty.subarray(0, empty.length - NONCE - TAG)];
  } catch (error) {
    throw notSupported(`A recipient of backups is not a public key of age: ${messageOf(error)}`);
  }
}

/** @throws AppError 400 for another key */
async function openHeader(header: Buffer, identityFile: string): Promise<Uint8Array> {
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  try {
    for (const identity of linesOf(readFileSync(identityFile, 'utf8'))) decrypter.addIdentity(identity);
    const fileKey = await decrypter.decryptHeader(header);
    if (fileKey.length !== FILE_KEY) throw new Error('its key has another length');
    return fileKey;
  } catch (error) {
    throw notSupported(`The identities in ${identityFile} do not open the backup: ${messageOf(error)}`);
  }
}

/** Keys in a file of age, without comments. */
const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));

const contentKey = (fileKey: Uint8Array, nonce: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', fileKey, nonce, 'payload', 32));

/** Pieces of `size` bytes and a last one of at least one byte, unless there is none; each with its number and a mark of the end. */
async function* inPieces(source: Source, size: number): AsyncGenerator<{ piece: Buffer; iv: Buffer }> {
  let held: Buffer[] = [];
  let [bytes, count] = [0, 0];
  const numbered = (piece: Buffer, last: 0 | 1): { piece: Buffer; iv: Buffer } => {
    const iv = Buffer.alloc(12);
    iv.writeUIntBE(count, 5, 6);
    iv[11] = last;
    count += 1;
    return { piece, iv };
  };
  for await (const chunk of source) {
    held.push(chunk);
    bytes += chunk.length;
    if (bytes <= size) continue;
    let all = Buffer.concat(held);
    for (; all.length > size; all = all.subarray(size)) yield numbered(all.subarray(0, size), 0);
    [held, bytes] = [[all], all.length];
  }
  yield numbered(Buffer.concat(held), 1);
}
