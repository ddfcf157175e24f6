/** Whether a statement changed a row of the platform database. */
import type { EntityManager } from 'typeorm';

/** @param statement with `returning`; TypeORM returns the rows of a select only */
export async function changesRow(
  manager: Pick<EntityManager, 'query'>,
  statement: string,
  values: readonly unknown[],
): Promise<boolean> {
  const rows = await manager.query<unknown[]>(`with changed as (${statement}) select from changed`, [
    ...values,
  ]);
  return rows.length > 0;
}
