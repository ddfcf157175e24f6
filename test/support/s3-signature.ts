/** Signature Version 4 by hand, for requests that no client sends. */
import { createHash, createHmac } from 'node:crypto';

export interface S3Credentials {
  readonly access_key_id: string;
  readonly secret_access_key: string;
}

interface Signable {
  readonly method: string;
  readonly host: string;
  /** Path and sorted query, encoded. */
  readonly target: string;
  /** x-amz-content-sha256 */
  readonly payload: string;
  readonly at?: number;
  readonly signed?: Record<string, string>;
  /** Additional names in SignedHeaders. */
  readonly repeated?: readonly string[];
}

interface Signed {
  /** Headers except Host. */
  readonly headers: Record<string, string>;
  readonly signature: string;
  /** Signs further lines, the first of which is the algorithm. */
  readonly sign: (...lines: string[]) => string;
}

const hmac = (secret: string | Buffer, text: string): Buffer =>
  createHmac('sha256', secret).update(text).digest();
export const sha256 = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');

export function signS3(key: S3Credentials, request: Signable): Signed {
  const { method, host, target, payload, at = Date.now(), signed = {}, repeated = [] } = request;
  const time = new Date(at).toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${time.slice(0, 8)}/eu-x/s3/aws4_request`;
  const headers: Record<string, string> = {
    host,
    'x-amz-content-sha256': payload,
    'x-amz-date': time,
    ...signed,
  };
  const names = [...Object.keys(headers).sort(), ...repeated];
  const [path = '', query = ''] = target.split('?');
  const lines = names.map((name) => `${name}:${headers[name]}`);
  const canonical = [method, path, query, ...lines, '', names.join(';'), payload].join('\n');
  const secret = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${key.secret_access_key}`);
  const sign = (...parts: string[]): string =>
    hmac(secret, [parts[0], time, scope, ...parts.slice(1)].join('\n')).toString('hex');
  const signature = sign('AWS4-HMAC-SHA256', sha256(canonical));
  const authorization = `AWS4-HMAC-SHA256 Credential=${key.access_key_id}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
  const { host: _host, ...sent } = headers;
  return { headers: { ...sent, authorization }, signature, sign };
}
