/** The key pairs with which clients of the S3 protocol sign requests. The id of a key begins with the id of its project. */
import { randomId, randomSecret } from '../infra/crypto/random';

/** A key pair as it is stored, encrypted. */
export interface S3Key {
  readonly id: string;
  readonly secret: string;
  readonly name: string;
  /** Requests have the rights of this user; null: those of the service-role key. */
  readonly user_id: string | null;
  /** The only bucket that it reaches, as the client addresses it; null: all. */
  readonly bucket: string | null;
  readonly read_only: boolean;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
  /** Milliseconds since the epoch: the end of the grace period of a rotation. Absent before one. */
  readonly expires_at?: number;
}

export type S3KeyRights = Pick<S3Key, 'name' | 'user_id' | 'bucket' | 'read_only'>;

const PROJECT_ID = 20;
const OWN_PART = 12;
const FORM = new RegExp(`^[a-z][a-z0-9]{${PROJECT_ID + OWN_PART - 1}}$`);

export function newS3Key(projectId: string, rights: S3KeyRights, now: number): S3Key {
  const id = projectId + randomId().slice(0, OWN_PART);
  return { id, secret: randomSecret(), ...rights, created_at: now };
}

/** The project that a key of this id would belong to; null for other text. */
export const projectIdOf = (accessKeyId: string): string | null =>
  FORM.test(accessKeyId) ? accessKeyId.slice(0, PROJECT_ID) : null;
