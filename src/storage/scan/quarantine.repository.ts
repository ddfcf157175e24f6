/** The bucket of infected files: private and without an owner, so that only the service role and administrators can read it. */
import { Injectable } from '@nestjs/common';
import { LIMITS, StoredRow } from '../rows/stored-row';
import type { StorageContext } from '../storage-transaction';
import { StorageTransaction } from '../storage-transaction';
import type { NewFile } from '../files/new-file';

/** A fixed id, because users can create buckets with any name. */
const ID = '5ca00000-0000-4000-8000-000000000001';
const NOBODY = '00000000-0000-0000-0000-000000000000';
const NAME = 'quarantine-of-the-virus-scan';

@Injectable()
export class QuarantineRepository {
  constructor(private readonly door: StorageTransaction) {}

  /** Creates the bucket on first use. @returns null if users can read the bucket by now, or a user's bucket has its name */
  async bucket(service: StorageContext): Promise<NewFile['bucket'] | null> {
    const [, found] = await this.door.batch(service, [
      {
        name: 'storage:create-quarantine',
        text: `insert into storage.buckets (id, name, slug, owner_id, description)
          values ($1, $2, $2, $3, 'Infected files. Download them with care') on conflict do nothing`,
        values: [ID, NAME, NOBODY],
      },
      {
        name: 'storage:find-quarantine',
        text: `select slug from storage.buckets where id = $1 and owner_id = $2 and not is_public`,
        values: [ID, NOBODY],
      },
    ]);
    if (!found?.rows[0]) return null;
    return { bucketId: ID, bucketSlug: new StoredRow('buckets', found.rows[0]).text('slug', LIMITS.slug) };
  }
}
