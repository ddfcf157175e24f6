/**
 * Signature Version 4 (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html):
 * in the header, in the query of a presigned URL, and in the chunks of a body.
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { growingCache } from '../../../common/growing-cache';
import { parseHttpDate } from '../../../http/syntax/http-date';
import { accessDenied, invalidRequest, malformedSignature, signatureMismatch, skewedTime } from './s3.errors';

const ALGORITHM = 'AWS4-HMAC-SHA256';
const MAX_SKEW_MS = 15 * 60_000;
const MAX_VALIDITY = 7 * 86_400;
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 +Credential=([^,\s]+)\s*,\s*SignedHeaders=([^,\s]+)\s*,\s*Signature=([^,\s]+)\s*$/;
const CREDENTIAL = /^(.{1,128})\/((\d{8})\/[\w-]{1,64}\/s3\/aws4_request)$/;
const SIGNATURE = /^[0-9a-f]{64}$/;
const BASIC_TIME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;
export const UNSIGNED = 'UNSIGNED-PAYLOAD';
const EMPTY_SHA256 = hash('sha256', '');
/** Keys of verified signatures, by secret and scope: deriving one takes four times as long as its use. */
const signingKeys = growingCache<Buffer>(1_000);

/** The signature that a request claims to have; not verified yet. */
export interface Signature {
  readonly accessKeyId: string;
  readonly sessionToken: string | null;
  /** Day, region, service. */
  readonly scope: string;
  /** In the form `20261126T090000Z`. */
  readonly time: string;
  readonly signed: readonly string[];
  readonly signature: string;
  /** The SHA-256 of the body, UNSIGNED-PAYLOAD, or one of the STREAMING-... values. */
  readonly payload: string;
}

/** Signs the chunks of a body, each with the signature of the previous chunk. */
export interface ChunkSigner {
  /** @returns whether this is the signature of the next chunk */
  isNext(signature: string, sha256: string): boolean;
  /** @param sha256 of the trailing headers */
  isTrailer(signature: string, sha256: string): boolean;
}

/** Pairs of a query, decoded, in their order. */
export type Query = readonly (readonly [name: string, value: string])[];

/** @throws AppError 400 for a malformed signature, 403 without one */
export function signatureOf({ headers }: IncomingMessage, query: Query, now: number): Signature {
  const fields = new Map(query);
  const isPresigned = fields.has('X-Amz-Signature');
  if (isPresigned && headers.authorization !== undefined)
    throw invalidRequest('A request must be signed in its header or in its query string, not in both');
  const found = isPresigned ? inQuery(fields) : inHeader(headers);
  const [, accessKeyId = '', scope = '', day] = CREDENTIAL.exec(found.credential) ?? [];
  const signed = found.signed.split(';');
  const at = timeOf(found.time);
  // The value of a repeated name would be hashed several times before anything is verified.
  const isRepeated = new Set(signed).size < signed.length;
  if (accessKeyId === '' || !SIGNATURE.test(found.signature) || !signed.includes('host') || isRepeated)
    throw malformedSignature();
  if (Number.isNaN(at) || !found.time.startsWith(String(day))) throw malformedSignature();
  if (at > now + MAX_SKEW_MS || (found.validity === null && at < now - MAX_SKEW_MS)) throw skewedTime();
  if (found.validity !== null && now >= at + found.validity * 1_000)
    throw accessDenied('The address has expired');
  // Anybody could have added a header that is not signed.
  const isMissed = Object.keys(headers).some((name) => name.startsWith('x-amz-') && !signed.includes(name));
  if (isMissed) throw accessDenied('Headers that begin with x-amz- must be signed');
  return { ...found, accessKeyId, scope, signed };
}

/** The key id in a signature that is not verified; empty without a signature. */
export function accessKeyIdOf({ url = '', headers }: IncomingMessage): string {
  const [, inHeader] = /Credential=([^/,\s]{1,128})\//.exec(headers.authorization ?? '') ?? [];
  const [, inQuery = ''] = /[?&]X-Amz-Credential=([\w-]{1,128})(?:\/|%2F)/i.exec(url) ?? [];
  return inHeader ?? inQuery;
}

interface Found extends Pick<Signature, 'time' | 'signature' | 'payload' | 'sessionToken'> {
  readonly credential: string;
  readonly signed: string;
  /** Seconds; null if only the tolerance for clocks limits it. */
  readonly validity: number | null;
}

function inHeader(headers: IncomingMessage['headers']): Found {
  if (!headers.authorization?.startsWith(ALGORITHM)) throw accessDenied('The request is not signed');
  const [, credential = '', signed = '', signature = ''] = AUTHORIZATION.exec(headers.authorization) ?? [];
  if (signature === '') throw malformedSignature();
  const payload = textOf(headers['x-amz-content-sha256']);
  if (payload === null) throw invalidRequest('The header x-amz-content-sha256 is missing');
  const time = textOf(headers['x-amz-date']) ?? basicTime(parseHttpDate(headers.date ?? ''));
  const sessionToken = textOf(headers['x-amz-security-token']);
  return { credential, signed, signature, time, payload, sessionToken, validity: null };
}

function inQuery(fields: ReadonlyMap<string, string>): Found {
  const field = (name: string): string => fields.get(`X-Amz-${name}`) ?? '';
  const validity = Number(field('Expires'));
  if (field('Algorithm') !== ALGORITHM || !(validity >= 1 && validity <= MAX_VALIDITY)) throw s3QueryFault();
  return {
    credential: field('Credential'),
    signed: field('SignedHeaders'),
    signature: field('Signature'),
    time: field('Date'),
    payload: field('Content-Sha256') || UNSIGNED,
    sessionToken: field('Security-Token') || null,
    validity,
  };
}

const s3QueryFault = (): Error =>
  accessDenied(`X-Amz-Algorithm must be ${ALGORITHM}, and X-Amz-Expires 1 to ${MAX_VALIDITY}`);

const textOf = (header: string | string[] | undefined): string | null =>
  typeof header === 'string' && header !== '' ? header : null;

function timeOf(basic: string): number {
  return BASIC_TIME.test(basic) ? Date.parse(basic.replace(BASIC_TIME, '$1-$2-$3T$4:$5:$6Z')) : NaN;
}

const basicTime = (time: number): string =>
  Number.isFinite(time) ? `${new Date(time).toISOString().replace(/[-:]|\.\d+/g, '')}` : '';

/** Verifies against a secret. @param url as the client sent it @throws AppError 403 for a wrong or expired signature */
export function verifySignature(
  request: IncomingMessage,
  { url, query }: { url: string; query: Query },
  given: Signature,
  secret: string,
): ChunkSigner {
  const canonical = [
    request.method,
    canonicalPath(url),
    canonicalQuery(query),
    ...given.signed.map((name) => `${name}:${headerText(request, name)}`),
    '',
    given.signed.join(';'),
    given.payload,
  ].join('\n');
  const keyName = `${secret} ${given.scope}`;
  const key = signingKeys.get(keyName) ?? signingKeyOf(secret, given.scope);
  const sign = (algorithm: string, ...lines: string[]): string =>
    hmac(key, [algorithm, given.time, given.scope, ...lines].join('\n')).toString('hex');
  // Node decodes the bytes of headers as Latin-1.
  if (!equals(sign(ALGORITHM, sha256(Buffer.from(canonical, 'latin1'))), given.signature))
    throw signatureMismatch();
  signingKeys.set(keyName, key);
  let previous = given.signature;
  const follows = (signature: string, ...lines: string[]): boolean => {
    const [kind = '', ...rest] = lines;
    const expected = sign(kind, previous, ...rest);
    previous = expected;
    return equals(expected, signature);
  };
  return {
    isNext: (signature, digest) => follows(signature, `${ALGORITHM}-PAYLOAD`, EMPTY_SHA256, digest),
    isTrailer: (signature, digest) => follows(signature, `${ALGORITHM}-TRAILER`, digest),
  };
}

/** @param scope day, region, `s3`, `aws4_request` */
function signingKeyOf(secret: string, scope: string): Buffer {
  return scope.split('/').reduce(hmac, Buffer.from(`AWS4${secret}`));
}

const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
export const sha256 = (bytes: Buffer | string): string => hash('sha256', bytes);

const equals = (expected: string, given: string): boolean =>
  expected.length === given.length && timingSafeEqual(Buffer.from(expected), Buffer.from(given));

function headerText({ headers }: IncomingMessage, name: string): string {
  return [headers[name]].flat().join(',').trim().replace(/ +/g, ' ');
}

/** Encoded once, as only S3 requires; some clients encode characters that other clients do not. */
function canonicalPath(url: string): string {
  const [path = ''] = url.split('?', 1);
  return path
    .split('/')
    .map((segment) => encode(decode(segment)))
    .join('/');
}

function canonicalQuery(query: Query): string {
  return query
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .sort(([name, value], [other, otherValue]) => compare(name, other) || compare(value, otherValue))
    .map((pair) => pair.join('='))
    .join('&');
}

const compare = (left: string, right: string): number => Number(left > right) - Number(left < right);

export const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);

/** @throws AppError 400 for malformed percent-encoding */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidRequest('The address is not percent-encoded UTF-8');
  }
}

/** @throws AppError 400 for malformed percent-encoding */
export function queryOf(url: string): Query {
  const start = url.indexOf('?');
  const pairs =
    start < 0
      ? []
      : url
          .slice(start + 1)
          .split('&')
          .filter(Boolean);
  return pairs.map((pair) => {
    const [name = '', ...value] = pair.split('=');
    return [decode(name), decode(value.join('='))];
  });
}
