/** Verifies AWS Signature Version 4, implemented from the documentation, independent of the SDK. */
import { createHash, createHmac } from 'node:crypto';
import type { SeenRequest } from './object-server';

export interface AwsKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const MAX_SKEW_MS = 15 * 60_000;

/** @returns S3's error code, or null */
export function signatureFault(request: SeenRequest, key: AwsKey, region: string): string | null {
  const { headers } = request;
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    );
  if (!match) return headers.authorization ? 'AuthorizationHeaderMalformed' : 'AccessDenied';
  const [, accessKeyId, day = '', givenRegion, signedHeaders = '', signature] = match;
  if (accessKeyId !== key.accessKeyId) return 'InvalidAccessKeyId';
  if (givenRegion !== region) return 'AuthorizationHeaderMalformed';
  const time = String(headers['x-amz-date']);
  if (Math.abs(Date.now() - parseTime(time)) > MAX_SKEW_MS || !time.startsWith(day))
    return 'RequestTimeTooSkewed';
  const signed = signedHeaders.split(';');
  const mustBeSigned = Object.keys(headers).filter((name) => name === 'host' || name.startsWith('x-amz-'));
  if (mustBeSigned.some((name) => !signed.includes(name))) return 'AccessDenied';
  const payload = String(headers['x-amz-content-sha256']);
  if (payload !== 'UNSIGNED-PAYLOAD' && payload !== sha256(request.body)) return 'XAmzContentSHA256Mismatch';
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonicalRequest(request, signed, payload))].join(
    '\n',
  );
  const signingKey = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${key.secretAccessKey}`,
  );
  const expected = createHmac('sha256', signingKey).update(text).digest('hex');
  return expected === signature ? null : 'SignatureDoesNotMatch';
}

function canonicalRequest({ method, path, headers }: SeenRequest, signed: string[], payload: string): string {
  const url = new URL(path, 'http://s3');
  const query = [...url.searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');
  const lines = signed
    .map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}\n`)
    .join('');
  return [method, url.pathname, query, lines, signed.join(';'), payload].join('\n');
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function parseTime(text: string): number {
  return Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

function sha256(data: Buffer | string): string {
  return createHash('sha256').update(data).digest('hex');
}
