/** Checks whether the storage provider writes, reads and deletes an object. */
import { Inject, Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { messageOf } from '../../common/errors/error-facts';
import { APP_CONFIG, AppConfig } from '../../config/app-config';
import { randomId } from '../../infra/crypto/random';
import { ObjectStore } from '../../storage/providers/object-store';
import { DoctorCheck, Finding } from '../finding';

/** Bytes of the test object. */
const OBJECT_BYTES = 1024;
const REMEDY =
  'Check the STORAGE_ settings, the bucket or directory, and the rights of the credentials or of the user that runs Plinth.';

@Injectable()
export class StorageCheck extends DoctorCheck {
  readonly name = 'storage';

  constructor(
    private readonly store: ObjectStore,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
  ) {
    super();
  }

  /** Under the id of a project that does not exist, so that the sweep removes the object of an interrupted check. */
  async find(): Promise<Finding[]> {
    const { provider } = this.config.storage;
    const address = this.store.newAddress(randomId());
    const bytes = randomBytes(OBJECT_BYTES);
    let step = 'written';
    try {
      await this.store.put(address, one(bytes));
      step = 'read';
      const content = await this.store.read(address, { start: 0, end: OBJECT_BYTES - 1 });
      const isEqual = bytes.equals(Buffer.isBuffer(content) ? content : await buffer(content));
      step = 'deleted';
      await this.store.remove([address]);
      if (await this.store.has(address, OBJECT_BYTES)) throw new Error('it is still there');
      if (!isEqual)
        return [this.failed(`the provider "${provider}" returned other bytes than it got`, REMEDY)];
      return [this.ok(`the provider "${provider}" writes, reads and deletes`)];
    } catch (error) {
      const reason = error instanceof Error && error.cause ? messageOf(error.cause) : messageOf(error);
      return [this.failed(`an object cannot be ${step} by the provider "${provider}": ${reason}`, REMEDY)];
    } finally {
      await this.store.removeProject(address.projectId).catch(() => undefined);
    }
  }
}

async function* one(chunk: Buffer): AsyncGenerator<Buffer> {
  yield chunk;
}
