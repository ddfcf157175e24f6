/** Parses JSON members of an archive. A header of 30 MB, parsed and checked in one piece, would block the event loop for seconds. */
import { createHash } from 'node:crypto';
import { Tokenizer, TokenParser } from '@streamparser/json';
import { parseJson } from '../../common/text/json';
import { Slices } from '../../common/time/slices';
import { archiveInvalid } from '../backup.errors';

/** Bytes that are parsed in one piece. */
const SMALL = 256 * 1024;
/** Bytes between two checks of the clock. */
const PIECE = 16 * 1024;
const STRING_BUFFER = 64 * 1024;

export interface MemberLimits {
  readonly bytes: number;
  /** Tokens of JSON. */
  readonly tokens: number;
}

const MIB = 1024 * 1024;

/** Tables and columns of 20,000 tables are some 2,000,000 tokens. */
export const HEADER_LIMITS: MemberLimits = { bytes: 32 * MIB, tokens: 4_000_000 };
/** Settings, keys and schedules. */
export const SECRETS_LIMITS: MemberLimits = { bytes: 16 * MIB, tokens: 2_000_000 };
/** One object has a member for each table: V8 grows a large object in one piece. */
export const MANIFEST_LIMITS: MemberLimits = { bytes: 16 * MIB, tokens: 200_000 };

/** Undefined for text that is not JSON. @throws AppError 400 for more than the limits */
export async function parseMember(
  name: string,
  json: Buffer,
  { bytes, tokens }: MemberLimits,
): Promise<unknown> {
  if (json.length <= SMALL) return parseJson(json.toString('utf8'));
  if (json.length > bytes) throw archiveInvalid(`${name} is larger than ${bytes} bytes`);
  const tokenizer = new Tokenizer({ stringBufferSize: STRING_BUFFER });
  const parser = new TokenParser({ paths: ['$'] });
  let count = 0;
  let whole: unknown;
  parser.onValue = ({ value }): void => {
    whole = value;
  };
  tokenizer.onToken = (token): void => {
    count += 1;
    parser.write(token);
  };
  const slices = new Slices();
  try {
    for (let at = 0; at < json.length && count <= tokens; at += PIECE) {
      tokenizer.write(json.subarray(at, at + PIECE));
      if (slices.isOver) await slices.yieldToLoop();
    }
    if (count <= tokens) tokenizer.end();
  } catch {
    return undefined;
  }
  if (count > tokens) throw archiveInvalid(`${name} has more than ${tokens} values, names and signs`);
  return whole;
}

/** SHA-256, in slices. */
export async function digestOf(bytes: Buffer): Promise<Buffer> {
  const hash = createHash('sha256');
  const slices = new Slices();
  for (let at = 0; at < bytes.length; at += SMALL) {
    hash.update(bytes.subarray(at, at + SMALL));
    if (slices.isOver) await slices.yieldToLoop();
  }
  return hash.digest();
}
