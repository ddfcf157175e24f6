/** Sizes and health of a project, by one SQL statement. */
import { useQuery } from '@tanstack/react-query';
import { SIZES } from './catalog-sql';
import { type Project, runSql, useMayWrite } from './projects';

export interface Sizes {
  readonly database_bytes: number;
  readonly storage_bytes: number;
  readonly files: number;
  readonly users: number;
  readonly tables: number;
}

/** @param enabled false until the numbers are in view: each statement is an entry of the audit log */
export function useSizes(project: Project, enabled = true) {
  const mayRun = useMayWrite(project);
  return useQuery({
    queryKey: ['sizes', project.id],
    queryFn: async () =>
      (await runSql(project.id, SIZES, { timeout_seconds: 20 })).rows[0] as unknown as Sizes,
    staleTime: 60_000,
    enabled: enabled && mayRun,
  });
}
