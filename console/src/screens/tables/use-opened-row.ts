/** The row of the drawer: a new row, a row without a key, or the row that the address links to. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { Identity } from '../../api/identity';
import type { Relation } from '../../queries/catalog-types';
import type { Project } from '../../queries/projects';
import { useT } from '../../i18n';
import type { Row } from '../../lib/grid-query';
import { keyOf, rowOfKey } from '../../lib/pending-changes';
import { fetchRow, findRow } from '../../queries/rows';
import { announceFailure } from '../../ui/feedback';

const route = getRouteApi('/signed-in/projects/$slug/tables');

interface RowCall {
  readonly project: Project;
  readonly relation: Relation;
  readonly identity: Identity;
}

export function useOpenedRow({ project, relation, identity }: RowCall) {
  const t = useT();
  const client = useQueryClient();
  const { row: wanted } = route.useSearch();
  const navigate = route.useNavigate();
  const { primaryKey } = relation;
  const [edited, setEdited] = useState<{ readonly row: Row | null } | null>(null);
  const link = (row: string | undefined): void =>
    void navigate({ search: (old) => ({ ...old, row }), replace: row === undefined });
  const queryKey = (key: string) => [
    'rows',
    project.id,
    relation.schema,
    relation.name,
    'row',
    identity,
    key,
  ];
  const linked = rowOfKey(primaryKey, wanted ?? '');
  const query = useQuery({
    queryKey: queryKey(wanted ?? ''),
    queryFn: () => findRow({ project, relation, identity }, linked!),
    enabled: linked !== null,
    staleTime: Infinity,
  });
  /** Counts the opened rows, because another row may be opened before a long value has been read. */
  const opening = useRef(0);
  useEffect(() => () => void (opening.current += 1), []);
  const open = async (row: Row): Promise<void> => {
    const number = (opening.current += 1);
    try {
      const whole = await fetchRow({ project, relation, identity }, row);
      if (number !== opening.current) return;
      // The address links to the row if it has a key.
      if (primaryKey.length === 0) return setEdited({ row: whole });
      const key = keyOf(primaryKey, row);
      client.setQueryData(queryKey(key), whole);
      link(key);
    } catch (error) {
      announceFailure(error, t('close'));
    }
  };
  return {
    /** Null while no row is shown. A null row is new. */
    shown: edited ?? (linked && query.data ? { row: query.data } : null),
    /** Null unless the address links to a row. */
    linked: linked && query,
    key: wanted ?? '',
    open: (row: Row): void => void open(row),
    openNew: (): void => setEdited({ row: null }),
    close: (): void => {
      setEdited(null);
      if (wanted !== undefined) link(undefined);
    },
  };
}

export type OpenedRow = ReturnType<typeof useOpenedRow>;
