/** Signatures of JWTs with key pairs (RFC 7515, 7518, 8037). They are computed in libuv's threads, not on the event loop. */
import { type KeyObject, sign, verify } from 'node:crypto';

export const KEY_PAIR_ALGORITHMS = ['ES256', 'RS256', 'EdDSA'] as const;
export type KeyPairAlgorithm = (typeof KEY_PAIR_ALGORITHMS)[number];

const DIGESTS: Readonly<Record<KeyPairAlgorithm, string | null>> = {
  ES256: 'sha256',
  RS256: 'sha256',
  EdDSA: null,
};

export interface JwsKey {
  readonly kid: string;
  /** The only algorithm that the key is used with (RFC 8725, 3.1): the header of a token has no influence. */
  readonly algorithm: KeyPairAlgorithm;
  readonly key: KeyObject;
}

/** A JWT in compact form. */
export async function signJwt({ kid, algorithm, key }: JwsKey, claims: object): Promise<string> {
  const header = { alg: algorithm, typ: 'JWT', kid };
  const input = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const signature = await new Promise<Buffer>((resolve, reject) =>
    sign(DIGESTS[algorithm], Buffer.from(input), withEncoding(key), (error, bytes) =>
      error ? reject(error) : resolve(bytes),
    ),
  );
  return `${input}.${signature.toString('base64url')}`;
}

/**
 * Whether the key signed the token with its algorithm.
 * @param token in compact form, as readToken() accepts it
 */
export async function isSignedBy({ algorithm, key }: Omit<JwsKey, 'kid'>, token: string): Promise<boolean> {
  if (algorithmOf(token) !== algorithm) return false;
  const end = token.lastIndexOf('.');
  const [input, signature] = [
    Buffer.from(token.slice(0, end)),
    Buffer.from(token.slice(end + 1), 'base64url'),
  ];
  return new Promise((resolve) =>
    // This throws for a signature that cannot be parsed.
    verify(DIGESTS[algorithm], input, withEncoding(key), signature, (error, isValid) =>
      resolve(!error && isValid),
    ),
  );
}

/** The algorithm of a token that readToken() accepts. */
export function algorithmOf(token: string): unknown {
  const header = JSON.parse(Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString()) as {
    alg?: unknown;
  };
  return header.alg;
}

/** RFC 7518, 3.4: an ECDSA signature is the two numbers, not DER. Other keys ignore the option. */
const withEncoding = (key: KeyObject): { key: KeyObject; dsaEncoding: 'ieee-p1363' } => ({
  key,
  dsaEncoding: 'ieee-p1363',
});
