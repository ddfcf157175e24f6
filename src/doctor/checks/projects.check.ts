/** Advice about projects: outdated schemas, open tables, databases that cannot be used. */
import { Injectable } from '@nestjs/common';
import { messageOf } from '../../common/errors/error-facts';
import { batchesOf } from '../../common/batches';
import { ProjectEntity } from '../../projects/project.entity';
import { ProjectsService } from '../../projects/projects.service';
import { PROJECT_SCHEMA_VERSION } from '../../provisioning/project-migrations';
import { Advice } from '../../advisor/advice-check';
import { Advisor } from '../../advisor/advisor.service';
import { RLS_OFF } from '../../advisor/checks/security.checks';
import { DoctorCheck, Finding } from '../finding';

const PARALLEL = 4;
const PAGE = 1_000;
/** Milliseconds after which no further project is checked, so that the check ends before its limit (DoctorService). */
const BUDGET_MS = 90_000;
/** Maximum number of objects that a finding names. */
const NAMED = 5;

@Injectable()
export class ProjectsCheck extends DoctorCheck {
  readonly name = 'projects';

  constructor(
    private readonly projects: ProjectsService,
    private readonly advisor: Advisor,
  ) {
    super();
  }

  async find(): Promise<Finding[]> {
    const { projects, total } = await this.projects.list({ limit: PAGE, offset: 0, among: null });
    const found: Finding[] = [];
    const end = performance.now() + BUDGET_MS;
    let checked = 0;
    for (const batch of batchesOf(projects, PARALLEL)) {
      if (performance.now() > end) break;
      found.push(...(await Promise.all(batch.map((project) => this.findIn(project)))).flat());
      checked += batch.length;
    }
    if (total > checked)
      found.push(this.skipped(`only the first ${checked} of ${total} projects were checked`));
    const others = found.length === 0 ? '' : `; ${found.length} findings`;
    return [this.ok(`${checked} projects checked${others}`), ...found];
  }

  private async findIn(project: ProjectEntity): Promise<Finding[]> {
    const { slug, schemaVersion } = project;
    const found: Finding[] = [];
    if (schemaVersion !== PROJECT_SCHEMA_VERSION) {
      found.push(
        this.failed(
          `project ${slug} has the schema of another version of Plinth`,
          'Run plinth upgrade, which says why it fails; locks and event triggers of the owner can block it.',
        ),
      );
    }
    try {
      const advice = await this.advisor.findCritical(project);
      const [open, others] = [true, false].map((isOpen) =>
        advice.filter(({ check }) => (check === RLS_OFF.name) === isOpen),
      ) as [Advice[], Advice[]];
      if (open.length > 0) found.push(this.openTables(slug, open));
      if (others.length > 0) found.push(this.criticalAdvice(slug, others));
    } catch (error) {
      found.push(
        this.failed(
          `the database of project ${slug} cannot be used: ${messageOf(error)}`,
          'Check its server, and that the database exists; restore it from a backup if it is lost.',
        ),
      );
    }
    return found;
  }

  private openTables(slug: string, open: readonly Advice[]): Finding {
    return this.warning(
      `project ${slug}: anyone with the anon key can read or write ${namesOf(open)}`,
      'Run alter table ... enable row level security, and create policies.',
    );
  }

  private criticalAdvice(slug: string, advice: readonly Advice[]): Finding {
    const checks = [...new Set(advice.map(({ check }) => check))].join(', ');
    return this.warning(
      `project ${slug}: critical advice (${checks}) about ${namesOf(advice)}`,
      'GET /admin/v1/projects/<id>/advice explains it, with the SQL that fixes it.',
    );
  }
}

function namesOf(advice: readonly Advice[]): string {
  const names = advice.slice(0, NAMED).map((one) => JSON.stringify(one.names.join('.')));
  return names.join(', ') + (advice.length > NAMED ? ` and ${advice.length - NAMED} more` : '');
}
