/**
 * Creates archives as an attacker could: with arbitrary changes, but with the correct passphrase, checksums
 * and authentication codes.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  scryptSync,
} from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { extract, pack } from 'tar-stream';
import { PASSPHRASE } from './backups';

type Json = Record<string, unknown>;

/** The parts of an archive that a test changes. */
export interface ForgedParts {
  header: Json;
  secrets: Json;
  manifest: Json;
  /** Further members, by name. */
  readonly members: Map<string, Buffer>;
}

interface Derivation {
  readonly n: number;
  readonly r: number;
  readonly p: number;
  readonly salt: string;
}

/** The same archive after a change by someone who knows its passphrase. */
export async function forged(archive: Buffer, change: (parts: ForgedParts) => void): Promise<Buffer> {
  const members = await membersOf(archive);
  const take = (name: string): Buffer => {
    const content = members.get(name) ?? Buffer.alloc(0);
    members.delete(name);
    return content;
  };
  const headerBytes = take('header.json');
  const header = JSON.parse(headerBytes.toString()) as Json;
  const key = keyOf(header.key as Derivation);
  const secrets = JSON.parse(opened(take('secrets.sealed'), key, headerBytes)) as Json;
  const manifest = JSON.parse(take('manifest.json').toString()) as Json;
  take('manifest.hmac');
  for (const name of [...members.keys()].filter((one) => one.startsWith('sums/'))) members.delete(name);
  const parts: ForgedParts = { header, secrets, manifest, members };
  change(parts);
  return packed(parts, key);
}

const keys = new Map<string, Buffer>();

/** The key, derived once for each archive, because it takes a few hundred milliseconds. */
function keyOf({ n, r, p, salt }: Derivation): Buffer {
  const passphrase = PASSPHRASE.normalize('NFC');
  const options = { N: n, r, p, maxmem: 2 ** 28 };
  const key = keys.get(salt) ?? scryptSync(passphrase, Buffer.from(salt, 'base64'), 64, options);
  keys.set(salt, key);
  return key;
}

async function membersOf(archive: Buffer): Promise<Map<string, Buffer>> {
  const members = new Map<string, Buffer>();
  const tar = extract();
  tar.end(gunzipSync(archive));
  for await (const entry of tar) members.set(entry.header.name, await buffer(entry));
  return members;
}

async function packed({ header, secrets, manifest, members }: ForgedParts, key: Buffer): Promise<Buffer> {
  const headerBytes = Buffer.from(JSON.stringify(header));
  const content: [string, Buffer][] = [
    ['header.json', headerBytes],
    ['secrets.sealed', sealed(JSON.stringify(secrets), key, headerBytes)],
    ...members,
  ];
  const sums = Buffer.from(content.map(([name, bytes]) => `${sha256(bytes)}  ${name}\n`).join(''));
  const end = { ...manifest, members: content.length, sums: [sha256(sums)] };
  const manifestBytes = Buffer.from(JSON.stringify(end));
  const mac = createHmac('sha256', key.subarray(32)).update(manifestBytes).digest('hex');
  const tar = pack();
  const whole = buffer(tar);
  const all: [string, Buffer][] = [
    ...content,
    ['sums/000001', sums],
    ['manifest.json', manifestBytes],
    ['manifest.hmac', Buffer.from(mac)],
  ];
  for (const [name, bytes] of all) tar.entry({ name }, bytes);
  tar.finalize();
  return gzipSync(await whole, { level: 1 });
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const context = (header: Buffer): Buffer => createHash('sha256').update(header).digest();

function opened(bytes: Buffer, key: Buffer, header: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', key.subarray(0, 32), bytes.subarray(0, 12));
  decipher.setAAD(context(header)).setAuthTag(bytes.subarray(12, 28));
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString();
}

function sealed(text: string, key: Buffer, header: Buffer): Buffer {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key.subarray(0, 32), iv).setAAD(context(header));
  const bytes = Buffer.concat([cipher.update(text), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), bytes]);
}
