/** Checks whether all secrets are encrypted under MASTER_KEY. */
import { Injectable } from '@nestjs/common';
import { MasterKeyRotation } from '../../projects/master-key-rotation.service';
import { DoctorCheck, Finding } from '../finding';

/** Maximum number of projects that the check names. */
const NAMED = 10;

@Injectable()
export class MasterKeyCheck extends DoctorCheck {
  readonly name = 'master_key';

  constructor(private readonly rotation: MasterKeyRotation) {
    super();
  }

  async find(): Promise<Finding[]> {
    const state = await this.rotation.state();
    if (!state) return [this.ok('one master key is in use')];
    const { isFinished, remaining, failed } = state;
    if (isFinished)
      return [
        this.warning(
          'no secret is encrypted under MASTER_KEY_OTHER',
          'Once every process has the new key as MASTER_KEY, remove MASTER_KEY_OTHER, or the file master-key-other, and restart.',
        ),
      ];
    const databases = failed.length > 0 ? `; not read: ${failed.slice(0, NAMED).join(', ')}` : '';
    return [
      this.warning(
        `${remaining} secrets of the platform, or some of projects, are encrypted under MASTER_KEY_OTHER${databases}`,
        'Keep MASTER_KEY_OTHER; Plinth re-encrypts them within a minute. The log says why a project could not be read.',
      ),
    ];
  }
}
