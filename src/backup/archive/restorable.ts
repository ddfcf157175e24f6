/** Header and secrets of a project's archive as text, which a restore reads with limits: a backup that it would refuse is not made. */
import { messageOf } from '../../common/errors/error-facts';
import { Slices } from '../../common/time/slices';
import { notSupported } from '../../copies/copies.errors';
import { assertProjectHeader, assertProjectSecrets } from './archive-checks';
import { ArchivedSecrets, ArchiveHeader, SECRETS } from './archive-format';
import { MANIFEST_LIMITS, parseMember, SECRETS_LIMITS } from './archived-json';
import { parseHeader } from './open-archive';

/** The manifest has a member for each table, and the rest for checksums. */
const TOKENS_PER_TABLE = 4;
const MAX_TABLES = MANIFEST_LIMITS.tokens / 2 / TOKENS_PER_TABLE;

/** More than the encryption adds. */
const SEAL_BYTES = 1024;

export interface Restorable {
  readonly headerBytes: Buffer;
  readonly secretsBytes: Buffer;
}

/** @throws AppError 400 for content that no restore would accept */
export async function restorable(header: ArchiveHeader, secrets: ArchivedSecrets): Promise<Restorable> {
  if (header.tables.length > MAX_TABLES) throw notSupported(`The project has more than ${MAX_TABLES} tables`);
  const { tables, sequences, ...facts } = header;
  const { database_settings: settings = [], ...others } = secrets;
  const headerBytes = await jsonOf(facts, { tables, sequences });
  const secretsBytes = await jsonOf(others, { database_settings: settings });
  try {
    await parseHeader(headerBytes);
    await assertProjectHeader(header);
    await parseMember(SECRETS, secretsBytes, { ...SECRETS_LIMITS, bytes: SECRETS_LIMITS.bytes - SEAL_BYTES });
    await assertProjectSecrets(secrets);
  } catch (error) {
    throw notSupported(`No restore would accept a backup of the project. ${messageOf(error)}`);
  }
  return { headerBytes, secretsBytes };
}

/** Writes one item of a list at a time: the owner determines the number of items. */
async function jsonOf(facts: object, lists: Readonly<Record<string, readonly unknown[]>>): Promise<Buffer> {
  const slices = new Slices();
  const pieces = [JSON.stringify(facts, null, 2).replace(/\n\}$/, '')].map((text) => Buffer.from(text));
  for (const [name, list] of Object.entries(lists)) {
    pieces.push(Buffer.from(`,\n  "${name}": [`));
    for (const [index, item] of list.entries()) {
      pieces.push(Buffer.from(`${index === 0 ? '' : ','}\n    ${JSON.stringify(item)}`));
      if (slices.isOver) await slices.yieldToLoop();
    }
    pieces.push(Buffer.from(']'));
  }
  return Buffer.concat([...pieces, Buffer.from('\n}\n')]);
}
