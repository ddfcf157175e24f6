/** Entries of the audit log about a project as a whole. */
import { JsonObject } from '../common/text/json';
import { Actor, AuditEntry, PLINTH } from '../install/audit/audit-log.repository';
import { ProjectEntity } from './project.entity';
import { Plan } from './plans';
import { ProjectSettingsInput } from './project-settings';

/** Null and absent members remain unchanged. */
export interface ProjectChange {
  readonly name?: string | null;
  readonly plan?: Plan | null;
  readonly settings?: ProjectSettingsInput | null;
  /** The time of the last change of the project, as known to the client. */
  readonly unchanged_since?: string | null;
}

export function entryFor(action: string, actor: Actor, projectId: string, details: JsonObject): AuditEntry {
  return { action, actor, projectId, details };
}

export function undoEntry({ id, slug, status }: ProjectEntity): AuditEntry {
  return entryFor('project.undo', PLINTH, id, { slug, was: status });
}

/** Contains names only: values such as mail templates are long, and may be confidential. */
export function changedNames({ settings, name, plan }: ProjectChange): string[] {
  const given = Object.entries({ name, plan }).flatMap(([name, value]) =>
    (value ?? null) === null ? [] : [name],
  );
  // null resets a setting to its default, which is a change.
  const set = Object.entries(settings ?? {}).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  return [...given, ...set.map((name) => `settings.${name}`)];
}
