/** Second factors of users, managed by administrators: for users who have lost their device. */
import { Injectable } from '@nestjs/common';
import { UUID } from '../../common/text/uuid';
import { Clock } from '../../common/time/clock';
import { Project } from '../../projects/project';
import { byServiceRole } from '../audit/audit-entry';
import { Sender } from '../../identity/request-origin';
import { factorNotFound } from '../auth.errors';
import { Factor } from '../factors/factor';
import { AdminFactorsRepository } from './admin-factors.repository';

@Injectable()
export class AdminFactorsService {
  constructor(
    private readonly factors: AdminFactorsRepository,
    private readonly clock: Clock,
  ) {}

  /** Empty if there is no such user. */
  async list(project: Project, userId: string): Promise<Factor[]> {
    return UUID.test(userId) ? this.factors.list(project, userId) : [];
  }

  /** @throws AppError 404 */
  async remove({ project, origin }: Sender, userId: string, id: string): Promise<void> {
    if (!UUID.test(userId) || !UUID.test(id)) throw factorNotFound();
    const context = { now: this.clock.date(), origin, details: { factor_id: id } };
    const entry = byServiceRole('factor_removed', userId, context);
    if (!(await this.factors.remove(project, userId, id, entry))) throw factorNotFound();
  }
}
