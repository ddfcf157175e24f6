/**
 * Passkeys (WebAuthn) of users and of staff: options for the browser, and the verification of its answers. The caller stores
 * challenges, which work once, and credentials.
 */
import { randomBytes } from 'node:crypto';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { isJsonObject, type JsonObject } from '../../common/text/json';
import { passkeyFailed } from '../identity.errors';

/** Characters; authenticators use at most 1023 bytes. */
const MAX_CREDENTIAL_ID = 1_400;
const MAX_TRANSPORTS = 10;
/**
 * Maximum number of characters of a field; usual answers have hundreds. The library decodes CBOR synchronously, and a megabyte
 * takes seconds.
 */
const MAX_FIELD = 8_192;
/** Milliseconds for which a browser asks for the passkey. */
const CHALLENGE_MS = 60_000;

export interface RelyingParty {
  /** A domain: the passkeys work on it and its subdomains. */
  readonly id: string;
  readonly name: string;
  readonly origins: readonly string[];
}

/** The credential with which a signature is verified. */
export interface PasskeyCredential {
  readonly credentialId: string;
  readonly publicKey: Buffer;
  readonly counter: number;
}

export interface NewPasskeyCredential extends PasskeyCredential {
  readonly rpId: string;
  readonly transports: readonly string[];
}

export interface CreationWishes {
  /** Credential ids of the account, which the browser does not enrol again. */
  readonly known: readonly string[];
  /** In base64url; random if absent. */
  readonly challenge?: string;
  /** False for a second factor, which needs no storage in the authenticator. */
  readonly isDiscoverable?: boolean;
}

export async function creationOptions(
  { id: rpID, name: rpName }: RelyingParty,
  user: { readonly id: string; readonly email: string; readonly name: string },
  { known, challenge, isDiscoverable = true }: CreationWishes,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { generateRegistrationOptions } = await import('@simplewebauthn/server');
  return generateRegistrationOptions({
    rpName,
    rpID,
    challenge: challenge === undefined ? undefined : Buffer.from(challenge, 'base64url'),
    userID: Buffer.from(user.id),
    userName: user.email,
    userDisplayName: user.name,
    attestationType: 'none',
    excludeCredentials: known.map((id) => ({ id })),
    authenticatorSelection: {
      residentKey: isDiscoverable ? 'required' : 'discouraged',
      userVerification: 'preferred',
    },
  });
}

/** For a sign-in. Contains no credential ids, which would reveal accounts. @param challenge in base64url */
export function requestOptions(
  { id: rpId }: Pick<RelyingParty, 'id'>,
  challenge = randomBytes(32).toString('base64url'),
): PublicKeyCredentialRequestOptionsJSON {
  // Does not load the library, which blocks the event loop for a second: anybody may request a challenge.
  return { challenge, rpId, timeout: CHALLENGE_MS, userVerification: 'preferred' };
}

/** @throws AppError 401 */
function assertShort({ response }: JsonObject): void {
  const fields = isJsonObject(response) ? Object.values(response) : [];
  if (fields.some((value) => typeof value === 'string' && value.length > MAX_FIELD)) throw passkeyFailed();
}

/** @throws AppError 401 for an answer that is not valid for this enrolment */
export async function verifyCreation(
  parties: readonly RelyingParty[],
  expectedChallenge: string,
  credential: JsonObject,
): Promise<NewPasskeyCredential> {
  assertShort(credential);
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
  const { registrationInfo } = await verifyRegistrationResponse({
    response: credential as unknown as RegistrationResponseJSON,
    expectedChallenge,
    expectedOrigin: parties.flatMap(({ origins }) => origins),
    expectedRPID: parties.map(({ id }) => id),
    requireUserVerification: false,
  }).catch((error: unknown) => {
    throw passkeyFailed(error);
  });
  if (!registrationInfo || registrationInfo.credential.id.length > MAX_CREDENTIAL_ID) throw passkeyFailed();
  const { origin, rpID } = registrationInfo;
  const party = parties.find(({ id, origins }) => id === rpID && origins.includes(origin));
  if (!party) throw passkeyFailed();
  const { id: credentialId, publicKey, counter, transports = [] } = registrationInfo.credential;
  const known = transports.filter((one) => typeof one === 'string').slice(0, MAX_TRANSPORTS);
  return { credentialId, publicKey: Buffer.from(publicKey), counter, transports: known, rpId: party.id };
}

/** The id to look the stored credential up by; null for an id that no credential can have. */
export function credentialIdOf({ id }: JsonObject): string | null {
  return typeof id === 'string' && id.length <= MAX_CREDENTIAL_ID && !id.includes('\0') ? id : null;
}

/**
 * @param isOnlyFactor true: the authenticator must have verified its user, as nothing else is asked for
 * @returns the new counter, which the caller stores if it grew: otherwise another copy of the passkey was used
 * @throws AppError 401
 */
export async function verifyAssertion(
  { id, origins }: Pick<RelyingParty, 'id' | 'origins'>,
  expectedChallenge: string,
  credential: JsonObject,
  { credentialId, publicKey, counter }: PasskeyCredential,
  isOnlyFactor: boolean,
): Promise<number> {
  assertShort(credential);
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: credential as unknown as AuthenticationResponseJSON,
    expectedChallenge,
    expectedOrigin: [...origins],
    expectedRPID: id,
    credential: { id: credentialId, publicKey: new Uint8Array(publicKey), counter },
    requireUserVerification: isOnlyFactor,
  }).catch((error: unknown) => {
    throw passkeyFailed(error);
  });
  if (!verified) throw passkeyFailed();
  return authenticationInfo.newCounter;
}
