/**
 * Named keys of a project, in addition to the anon and service-role key. A key is opaque text, and Plinth stores only its hash.
 * It contains the ids of its project and of itself, so it is found without a search.
 */
import { createHash } from 'node:crypto';
import { equalSecrets } from '../infra/crypto/constant-time';
import { randomId, randomSecret } from '../infra/crypto/random';

export const API_KEY_KINDS = ['publishable', 'secret'] as const;
export type ApiKeyKind = (typeof API_KEY_KINDS)[number];

/** A key as it is stored. */
export interface ApiKey {
  readonly id: string;
  /** SHA-256 of the key: its 256 random bits need no slower hash. */
  readonly hash: string;
  readonly kind: ApiKeyKind;
  readonly name: string;
  /** The role of requests whose bearer token is the key. */
  readonly role: string;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
  /** Milliseconds since the epoch; null: it does not expire. */
  readonly expires_at: number | null;
}

export type ApiKeyRights = Pick<ApiKey, 'kind' | 'name' | 'role' | 'expires_at'>;

const FORM = /^plinth_(?:publishable|secret)_([a-z][a-z0-9]{19})([a-z][a-z0-9]{11})[\w-]{43}$/;
const ID_LENGTH = 12;

/** @returns the key as stored, and its text, which is not stored */
export function newApiKey(
  projectId: string,
  rights: ApiKeyRights,
  now: number,
): { key: ApiKey; text: string } {
  const id = randomId().slice(0, ID_LENGTH);
  const text = `plinth_${rights.kind}_${projectId}${id}${randomSecret()}`;
  return { key: { id, hash: hashOf(text), ...rights, created_at: now }, text };
}

/** The ids in the text of a key; null for other text. */
export function readApiKey(text: string): { projectId: string; id: string } | null {
  const [, projectId, id] = FORM.exec(text) ?? [];
  return projectId !== undefined && id !== undefined ? { projectId, id } : null;
}

export const isTextOf = ({ hash }: ApiKey, text: string): boolean => equalSecrets(hash, hashOf(text));

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url');
