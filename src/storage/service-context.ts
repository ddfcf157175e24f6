/** RLS contexts of requests without a bearer: who holds a signed address, and the public. */
import { Project } from '../projects/project';
import { StorageContext } from './storage-transaction';
import { ANON_ROLE, SERVICE_ROLE } from '../projects/project-keys';

/** For a signed address, which is the permission itself, and for the sweep. */
export function serviceContext(project: Project): StorageContext {
  return contextOf(project, SERVICE_ROLE);
}

/** For previews: what the anon key would see. */
export function anonContext(project: Project): StorageContext {
  return contextOf(project, ANON_ROLE);
}

function contextOf(project: Project, role: string): StorageContext {
  return { project, database: project.database, role, claims: JSON.stringify({ role }), sessionId: null };
}
