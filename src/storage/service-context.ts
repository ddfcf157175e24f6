/** RLS contexts of work without a bearer token: signed URLs, previews, the sweep. */
import { Project } from '../projects/project';
import { StorageContext } from './storage-transaction';
import { ANON_ROLE, SERVICE_ROLE } from '../projects/project-keys';

/** For signed URLs, which grant access by themselves, and for the sweep. */
export function serviceContext(project: Project): StorageContext {
  return contextOf(project, SERVICE_ROLE);
}

/** For previews, which show files that the anon key may read. */
export function anonContext(project: Project): StorageContext {
  return contextOf(project, ANON_ROLE);
}

function contextOf(project: Project, role: string): StorageContext {
  return { project, database: project.database, role, claims: JSON.stringify({ role }), sessionId: null };
}
