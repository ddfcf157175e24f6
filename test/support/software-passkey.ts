/** A passkey in software, as an authenticator and a browser make it: CBOR, COSE and signatures of WebAuthn Level 3. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** CBOR of the negative number -7. */
const ES256 = 0x26;
const [USER_PRESENT, USER_VERIFIED, HAS_CREDENTIAL, HAS_EXTENSIONS] = [0x01, 0x04, 0x40, 0x80];

interface Ceremony {
  readonly challenge: string;
  readonly origin: string;
  /** Default true. */
  readonly isUserVerified?: boolean;
  /** Default: one more than the previous value. */
  readonly counter?: number;
  /** CBOR map of outputs of extensions. */
  readonly extensions?: Buffer;
}

export class SoftwarePasskey {
  readonly id = randomBytes(16);
  private counter = 0;
  private readonly privateKey: KeyObject;
  private readonly publicKey: KeyObject;

  constructor(private readonly rpId: string) {
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    [this.privateKey, this.publicKey] = [pair.privateKey, pair.publicKey];
  }

  /** toJSON() of the result of navigator.credentials.create(). */
  register(ceremony: Ceremony): object {
    const { x = '', y = '' } = this.publicKey.export({ format: 'jwk' });
    // A map of five members: kty EC2, alg ES256, crv P-256, x, y (RFC 9053, 7.1).
    const key = Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, ES256, 0x20, 0x01, 0x21]),
      bytes(Buffer.from(x, 'base64url')),
      Buffer.from([0x22]),
      bytes(Buffer.from(y, 'base64url')),
    ]);
    const length = Buffer.from([0, this.id.length]);
    const credential = Buffer.concat([Buffer.alloc(16), length, this.id, key]);
    const { extensions = Buffer.alloc(0) } = ceremony;
    const data = Buffer.concat([this.authenticatorData(ceremony, HAS_CREDENTIAL), credential, extensions]);
    const attestation = Buffer.concat([
      Buffer.from([0xa3]),
      text('fmt'),
      text('none'),
      text('attStmt'),
      Buffer.from([0xa0]),
      text('authData'),
      bytes(data),
    ]);
    return this.toJson({
      clientDataJSON: clientData('webauthn.create', ceremony).toString('base64url'),
      attestationObject: attestation.toString('base64url'),
      transports: ['internal'],
    });
  }

  /** toJSON() of the result of navigator.credentials.get(). */
  authenticate(ceremony: Ceremony): object {
    const { extensions = Buffer.alloc(0) } = ceremony;
    const data = Buffer.concat([this.authenticatorData(ceremony, 0), extensions]);
    const client = clientData('webauthn.get', ceremony);
    const signed = Buffer.concat([data, createHash('sha256').update(client).digest()]);
    return this.toJson({
      clientDataJSON: client.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: sign('sha256', signed, this.privateKey).toString('base64url'),
    });
  }

  private authenticatorData({ isUserVerified = true, counter, extensions }: Ceremony, flags: number): Buffer {
    this.counter = counter ?? this.counter + 1;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(this.counter);
    const all =
      USER_PRESENT | (isUserVerified ? USER_VERIFIED : 0) | (extensions ? HAS_EXTENSIONS : 0) | flags;
    return Buffer.concat([createHash('sha256').update(this.rpId).digest(), Buffer.from([all]), count]);
  }

  private toJson(response: object): object {
    const id = this.id.toString('base64url');
    return { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} };
  }
}

const clientData = (type: string, { challenge, origin }: Ceremony): Buffer =>
  Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));

/** CBOR, major type 2 with up to 65,535 bytes, in the shortest form. */
function bytes(content: Buffer): Buffer {
  const { length } = content;
  const head = length < 256 ? [0x58, length] : [0x59, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}

/** CBOR of outputs of extensions: a map with one member, a list of `zeros` zeros. */
export function extensionsOf(zeros: number): Buffer {
  const list = zeros < 256 ? [0x98, zeros] : [0x99, zeros >> 8, zeros & 0xff];
  return Buffer.concat([Buffer.from([0xa1, 0x61, 0x78, ...list]), Buffer.alloc(zeros)]);
}

/** CBOR, major type 3 with up to 23 bytes. */
const text = (content: string): Buffer =>
  Buffer.concat([Buffer.from([0x60 + content.length]), Buffer.from(content)]);
