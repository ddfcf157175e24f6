/** Archives encrypted in age's format, read by the library's own decryption as well. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { decrypted, encrypted } from './age';

const PIECE = 64 * 1024;

const library = import('age-encryption');
let directory: string;
let identityFile: string;
let identities: string[];
let recipients: string[];
beforeAll(async () => {
  const { generateX25519Identity: newIdentity, identityToRecipient } = await library;
  directory = mkdtempSync(join(tmpdir(), 'plinth-age-'));
  identityFile = join(directory, 'identity.txt');
  identities = await Promise.all([newIdentity(), newIdentity(), newIdentity()]);
  recipients = await Promise.all(identities.slice(0, 2).map(identityToRecipient));
  writeFileSync(identityFile, `# created: today\n\n${identities[1]}\n`);
});
afterAll(() => rmSync(directory, { recursive: true }));

/** The content in chunks that do not align with pieces. */
async function* chunksOf(content: Uint8Array, size = 10_007): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += size) yield Buffer.from(content.subarray(at, at + size));
}

async function whole(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const held: Buffer[] = [];
  for await (const chunk of chunks) held.push(chunk);
  return Buffer.concat(held);
}

it.each([0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 1_000_003])(
  'decrypts %i bytes itself and with the library',
  async (size) => {
    const age = await library;
    const content = randomBytes(size);
    const archive = await whole(encrypted(chunksOf(content), recipients));
    expect(content.equals(await whole(decrypted(chunksOf(archive), identityFile)))).toBe(true);
    for (const identity of identities.slice(0, 2)) {
      const decrypter = new age.Decrypter();
      decrypter.addIdentity(identity);
      expect(content.equals(await decrypter.decrypt(archive))).toBe(true);
    }
    const encrypter = new age.Encrypter();
    for (const recipient of recipients) encrypter.addRecipient(recipient);
    const theirs = Buffer.from(await encrypter.encrypt(content));
    const chunks = chunksOf(theirs, size < 2 ? 1 : undefined);
    expect(content.equals(await whole(decrypted(chunks, identityFile)))).toBe(true);
  },
);

it('passes on content that is not encrypted', async () => {
  for (const content of [randomBytes(100_000), Buffer.from('age'), Buffer.alloc(0)])
    expect(content.equals(await whole(decrypted(chunksOf(content), null)))).toBe(true);
});

it('refuses other identities, a cut or altered archive, and recipients that are not keys', async () => {
  const archive = await whole(encrypted(chunksOf(randomBytes(3 * PIECE)), recipients));
  const other = join(directory, 'other.txt');
  writeFileSync(other, `${identities[2]}\n`);
  const open = (bytes: Buffer, file: string | null = identityFile): Promise<Buffer> =>
    whole(decrypted(chunksOf(bytes), file));
  await expect(open(archive, other)).rejects.toThrow('no identity matched');
  await expect(open(archive, join(directory, 'none.txt'))).rejects.toThrow('ENOENT');
  await expect(open(archive, null)).rejects.toThrow('--identity-file');
  const start = archive.length - 3 * (PIECE + 16);
  for (const end of [30, 100, start, start + 1, start + PIECE + 16, archive.length - 1])
    await expect(open(archive.subarray(0, end))).rejects.toThrow('not an intact backup');
  const altered = Buffer.from(archive);
  altered.writeUInt8(altered.readUInt8(start + PIECE + 20) ^ 1, start + PIECE + 20);
  await expect(open(altered)).rejects.toThrow('was altered');
  await expect(whole(encrypted(chunksOf(archive), ['age1notakey']))).rejects.toThrow(
    'not a public key of age',
  );
});
