/**
 * The paths of Supabase's clients without a project: `/auth/v1/...`, `/storage/v1/...` and `/realtime/v1/...` are those below `/p/<slug>` of the project that the apikey
 * names (DECISIONS.md 9). Only the name is read here; the guards verify the key, and that it is one of that project.
 */
import type { Request } from 'express';
import { invalidCredentials, missingApiKey } from '../access/access.errors';
import { bearerToken } from '../access/bearer-token';
import { readToken } from '../access/token-form';
import type { ProjectRegistry } from '../projects/project-registry.service';

const WITHOUT_PROJECT = /^\/(auth|storage|realtime)\/v1(?=\/|\?|$)/;

/** False for all other paths, which stay as they are. */
export const lacksProject = ({ url }: Request): boolean => WITHOUT_PROJECT.test(url);

/** Adds the project to the path. @throws AppError 401 */
export async function addProject(request: Request, registry: ProjectRegistry): Promise<void> {
  const token = request.get('apikey') ?? bearerToken(request.get('authorization'));
  if (!token) throw missingApiKey();
  const id = readToken(token)?.claims.project_id;
  const project = typeof id === 'string' ? await registry.findById(id) : null;
  if (!project) throw invalidCredentials();
  request.url = `/p/${project.slug}${request.url}`;
}
