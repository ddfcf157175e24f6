/** Archives as files and streams of the command line, and their passphrase. */
import { createReadStream, createWriteStream, rmSync } from 'node:fs';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { constants } from 'node:os';
import { PassThrough, Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { decrypted } from '../backup/archive/age';
import { VerifiedArchive, verifyArchive } from '../backup/archive/open-archive';
import { CliError, EXIT } from './cli-error';
import { CommandContext } from './command-context';
import { withProgress } from './progress';

export const PASSPHRASE_FILE = [
  '--passphrase-file <path>',
  'read the passphrase from a file; default: BACKUP_PASSPHRASE or BACKUP_PASSPHRASE_FILE',
] as const;

export const IDENTITY_FILE = [
  '--identity-file <path>',
  'file with the age identities that open an encrypted backup; default: BACKUP_IDENTITY_FILE',
] as const;

export interface PassphraseOption {
  readonly passphraseFile?: string;
}

export interface IdentityOption {
  readonly identityFile?: string;
}

/** Opens an archive, decrypts it where it is encrypted, and shows how much of it was read. */
export async function pipedThrough<T>(
  context: CommandContext,
  verb: string,
  path: string,
  { identityFile = context.environment.ageKeys().identityFile ?? undefined }: IdentityOption,
  use: (input: Readable) => Promise<T>,
): Promise<T> {
  const isStdin = path === '-';
  const total = isStdin ? null : await sizeOnDisk(path);
  const source = isStdin ? context.environment.stdin : createReadStream(path);
  const progress = progressOf(context, `${verb} ${isStdin ? 'standard input' : path}`, total);
  // The error reaches the reader of `progress`.
  const piped = pipeline(source, progress).catch(() => undefined);
  const opened = Readable.from(decrypted(progress, identityFile ?? null), { objectMode: false });
  try {
    return await use(opened);
  } finally {
    opened.destroy();
    progress.destroy();
    await piped;
  }
}

async function sizeOnDisk(path: string): Promise<number> {
  const facts = await stat(path).catch((error: Error) => {
    throw new CliError(`${path} cannot be read: ${error.message}`, EXIT.failed);
  });
  return facts.size;
}

/** Writes to a draft next to the file, which replaces it when it is complete and durable. @returns its bytes */
export async function writeWhole(path: string, write: (file: Writable) => Promise<void>): Promise<number> {
  const draft = `${path}.part`;
  const abandon = (signal: NodeJS.Signals): void => {
    rmSync(draft, { force: true });
    process.exit(128 + constants.signals[signal]);
  };
  process.once('SIGINT', abandon).once('SIGTERM', abandon);
  try {
    await write(createWriteStream(draft, { mode: 0o600 }));
    const file = await open(draft, 'r+');
    await file.sync();
    const { size } = await file.stat();
    await file.close();
    await rename(draft, path);
    return size;
  } catch (error) {
    await rm(draft, { force: true });
    throw new CliError(`The backup was not written: ${(error as Error).message}`, EXIT.failed);
  } finally {
    process.off('SIGINT', abandon).off('SIGTERM', abandon);
  }
}

/** Verifies an archive while it passes through. `verified` rejects when it is damaged; the bytes are passed on in any case. */
export function verifying(passphrase: string): { passing: Transform; verified: Promise<VerifiedArchive> } {
  const copy = new PassThrough();
  copy.on('error', () => undefined);
  const verified = verifyArchive(copy, passphrase).finally(() => copy.destroy());
  verified.catch(() => undefined);
  const passing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (copy.destroyed || copy.write(chunk)) return done(null, chunk);
      const proceed = (): void => {
        copy.off('drain', proceed).off('close', proceed);
        done(null, chunk);
      };
      copy.once('drain', proceed).once('close', proceed);
    },
    flush(done) {
      copy.end();
      done();
    },
    destroy(error, done) {
      // A pipeline that leaves its last stream open destroys the others with an error at its regular end.
      if (error && !copy.writableEnded) copy.destroy(error);
      done(error);
    },
  });
  return { passing, verified };
}

export function progressOf(
  context: CommandContext,
  label: string,
  total: number | null,
): ReturnType<typeof withProgress> {
  const { isTerminal, err } = context.environment;
  return withProgress({ label, total, isTerminal, write: context.isJson ? () => undefined : err });
}

/** HTTP headers hold only ASCII. */
export function headersFor(passphrase: string): Record<string, string> {
  return { 'backup-passphrase': encodeURIComponent(passphrase) };
}

/** @throws CliError when there is none */
export async function requiredPassphrase(
  context: CommandContext,
  options: PassphraseOption,
): Promise<string> {
  const passphrase = await passphraseOf(context, options);
  if (passphrase !== null) return passphrase;
  throw new CliError(
    'A backup needs a passphrase: set BACKUP_PASSPHRASE or use --passphrase-file',
    EXIT.usage,
  );
}

export async function passphraseOf(
  context: CommandContext,
  { passphraseFile }: PassphraseOption,
): Promise<string | null> {
  if (passphraseFile === undefined) return context.environment.passphrase();
  const content = await readFile(passphraseFile, 'utf8');
  return content.replace(/\r?\n$/, '');
}
