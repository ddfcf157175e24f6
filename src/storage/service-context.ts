/** RLS contexts of requests without a bearer: who holds a signed address, and the public. */
import { RlsContext } from '../database/rls/rls-context';
import { Project } from '../projects/project';
import { ANON_ROLE, SERVICE_ROLE } from '../projects/project-keys';

/** For a signed address, which is the permission itself, and for the sweep. */
export function serviceContext({ database }: Pick<Project, 'database'>): RlsContext {
  return contextOf(database, SERVICE_ROLE);
}

/** For previews: what the anon key would see. */
export function anonContext({ database }: Pick<Project, 'database'>): RlsContext {
  return contextOf(database, ANON_ROLE);
}

function contextOf(database: Project['database'], role: string): RlsContext {
  return { database, role, claims: JSON.stringify({ role }), sessionId: null };
}
