/**
 * Ids of new objects on disk: random, but some in a row begin with the same two digits, which name their directory. What is
 * uploaded side by side then shares the sync of one directory, and the file system's journal the blocks of one.
 */
import { randomInt, randomUUID } from 'node:crypto';

const SHARDS = 256;
/** Objects after which the next directory's turn comes: all fill alike. */
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
