/**
 * Ids of new objects on disk: random, but RUN consecutive ones begin with the same two digits, the name of
 * their directory. So concurrent uploads share one directory's sync, and its blocks in the file system's
 * journal.
 */
import { randomInt, randomUUID } from 'node:crypto';

const SHARDS = 256;
/** Consecutive objects in one directory. The next directory follows, so that all fill evenly. */
const RUN = 256;

export class NeighbouringIds {
  private shard = randomInt(SHARDS);
  private left = RUN;

  next(): string {
    if (this.left === 0) {
      this.shard = (this.shard + 1) % SHARDS;
      this.left = RUN;
    }
    this.left -= 1;
    return this.shard.toString(16).padStart(2, '0') + randomUUID().slice(2);
  }
}
