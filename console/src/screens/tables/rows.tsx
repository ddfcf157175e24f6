/** The rows of a table: filters, the grid, and the bar of changes that were not saved. */
import { ActionIcon, Button, Group, Tooltip } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Identity } from '../../api/identity';
import type { Relation } from '../../queries/catalog-types';
import { type Project, useMayWrite } from '../../queries/projects';
import { useT } from '../../i18n';
import { filtersFromText, type GridQuery, type Row } from '../../lib/grid-query';
import { countOf, insert, keyOf, rowOfKey, undo, type Values } from '../../lib/pending-changes';
import { fetchRow, findRow } from '../../queries/rows';
import { announceFailure, Empty, Failure, Loading } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { LeaveGuard } from '../../ui/leave-guard';
import { DetailDrawer } from '../../ui/parts';
import { BulkEdit } from './bulk-edit';
import { FilterBar } from './filter-bar';
import { Grid } from './grid';
import { targetOf } from './reference-picker';
import { RowDrawer } from './row-drawer';
import { StatusBar } from './status-bar';
import { TransferMenu } from './transfer';
import { useGrid } from './use-grid';
import { useScroll } from './use-scroll';

const route = getRouteApi('/signed-in/projects/$slug/tables');

/** Another table is another grid. */
const LEFT_BY = ['schema', 'table'];

interface RowsProps {
  readonly project: Project;
  readonly relation: Relation;
  readonly relations: readonly Relation[];
  readonly identity: Identity;
}

export function Rows({ project, relation, relations, identity }: RowsProps) {
  const t = useT();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useMemo<GridQuery>(() => {
    const sort = search.sort ?? '';
    const column = sort.replace(/^-/, '');
    return {
      filters: filtersFromText(search.filters ?? '[]'),
      sort: relation.columns.some(({ name }) => name === column)
        ? { column, descending: sort.startsWith('-') }
        : null,
    };
  }, [search.filters, search.sort, relation]);
  const setQuery = ({ filters, sort }: GridQuery): void => {
    void navigate({
      search: (old) => ({
        ...old,
        filters: filters.length > 0 ? JSON.stringify(filters) : undefined,
        sort: sort ? `${sort.descending ? '-' : ''}${sort.column}` : undefined,
      }),
    });
  };
  const grid = useGrid({ project, relation, identity, query });
  const scroll = useScroll(grid.pending.inserts.length + grid.pages.total);
  const client = useQueryClient();
  /** A new row, or one without a key. */
  const [edited, setEdited] = useState<{ row: Row | null } | null>(null);
  const [selected, setSelected] = useState<ReadonlyMap<string, Row>>(new Map());
  const rowKey = (key: string) => ['rows', project.id, relation.schema, relation.name, 'row', identity, key];
  const showRow = (row: string | undefined): void =>
    void navigate({ search: (old) => ({ ...old, row }), replace: row === undefined });
  const linked = rowOfKey(relation.primaryKey, search.row ?? '');
  const opened = useQuery({
    queryKey: rowKey(search.row ?? ''),
    queryFn: () => findRow({ project, relation, identity }, linked!),
    enabled: linked !== null,
    staleTime: Infinity,
  });
  /** Counts the rows that were opened. A long value is read first, and another row may be opened meanwhile. */
  const opening = useRef(0);
  useEffect(() => () => void (opening.current += 1), []);
  const open = async (row: Row): Promise<void> => {
    const number = (opening.current += 1);
    try {
      const whole = await fetchRow({ project, relation, identity }, row);
      if (number !== opening.current) return;
      // The address links to the row, if a key names it.
      if (relation.primaryKey.length === 0) return setEdited({ row: whole });
      const key = keyOf(relation.primaryKey, row);
      client.setQueryData(rowKey(key), whole);
      showRow(key);
    } catch (error) {
      announceFailure(error, t('close'));
    }
  };
  const shown = edited ?? (linked && opened.data ? { row: opened.data } : null);
  const mayWrite = useMayWrite(project) && identity.as === 'service_role';
  const isWritable = mayWrite && relation.kind !== 'materialized view' && relation.primaryKey.length > 0;
  const canInsert = mayWrite && relation.kind !== 'materialized view';
  const canSave = countOf(grid.pending) > 0 && !grid.save.isPending;
  useHotkeys([
    ['mod+Z', () => grid.setPending(undo(grid.pending))],
    ['mod+S', () => (canSave ? grid.save.mutate({ overwrites: false }) : undefined)],
  ]);
  return (
    <>
      <div className="table-tools">
        <FilterBar columns={relation.columns} query={query} onChange={setQuery} />
        <Group gap="xs">
          {isWritable ? (
            <BulkEdit
              project={project}
              relation={relation}
              query={query}
              grid={grid}
              selected={selected}
              onDone={() => setSelected(new Map())}
            />
          ) : null}
          <Tooltip label={t('refresh')}>
            <ActionIcon variant="default" aria-label={t('refresh')} onClick={() => void grid.pages.refresh()}>
              <Icon name="refresh" size={16} />
            </ActionIcon>
          </Tooltip>
          <TransferMenu
            project={project}
            relation={relation}
            query={query}
            identity={identity}
            canImport={canInsert}
          />
          {canInsert ? (
            <Button
              size="xs"
              leftSection={<Icon name="plus" size={14} />}
              onClick={() => setEdited({ row: null })}
            >
              {t('insertRow')}
            </Button>
          ) : null}
        </Group>
      </div>
      {grid.pages.first.error && !grid.pages.first.data ? (
        <div className="page">
          <Failure error={grid.pages.first.error} onRetry={grid.pages.retry} />
        </div>
      ) : grid.pages.first.isPending ? (
        <Loading />
      ) : (
        <Grid
          relation={relation}
          grid={grid}
          scroll={scroll}
          isWritable={isWritable}
          query={query}
          onQuery={setQuery}
          selected={selected}
          onSelect={setSelected}
          onOpen={(row) => void open(row)}
          referenceOf={(column) => targetOf(project, relation, relations, column)}
          project={project}
        />
      )}
      <StatusBar grid={grid} scroll={scroll} />
      <LeaveGuard changes={countOf(grid.pending)} by={LEFT_BY} />
      {shown ? (
        <RowDrawer
          key={search.row ?? ''}
          project={project}
          relation={relation}
          relations={relations}
          row={shown.row}
          isWritable={shown.row ? isWritable : canInsert}
          grid={grid}
          onInsert={(values: Values) => grid.setPending(insert(grid.pending, values))}
          onClose={() => {
            setEdited(null);
            if (search.row !== undefined) showRow(undefined);
          }}
        />
      ) : linked ? (
        <DetailDrawer title={t('row')} onClose={() => showRow(undefined)}>
          {opened.error ? (
            <Failure error={opened.error} onRetry={() => void opened.refetch()} />
          ) : opened.isPending ? (
            <Loading />
          ) : (
            <Empty icon="search" title={t('nothingFound')} text={t('noSuchRow')} />
          )}
        </DetailDrawer>
      ) : null}
    </>
  );
}
