/** One table: its tools, its grid, and the bar of changes that were not saved. */
import { ActionIcon, Badge, Button, Group, Text, Title, Tooltip } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { type Identity, SERVICE_ROLE } from '../../api/identity';
import type { Relation } from '../../queries/catalog-types';
import { isExposed, type Project, useMayWrite } from '../../queries/projects';
import { type Translate, useLanguages, useT } from '../../i18n';
import { formatNumber } from '../../lib/format';
import { filtersFromText, type GridQuery, type Row } from '../../lib/grid-query';
import { countOf, insert, NO_CHANGES, toggleDelete, undo, type Values } from '../../lib/pending-changes';
import { Empty, Failure, Loading } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { FilterBar } from './filter-bar';
import { Grid } from './grid';
import { RowDrawer } from './row-drawer';
import { StructureButton } from './structure';
import { TransferMenu } from './transfer';
import { useGrid } from './use-grid';
import { ViewAs } from './view-as';

const route = getRouteApi('/signed-in/projects/$slug/tables');

interface TablePanelProps {
  readonly project: Project;
  readonly relation: Relation;
  readonly relations: readonly Relation[];
  /** Null where the list is always visible. */
  readonly onOpenList: (() => void) | null;
}

export function TablePanel({ project, relation, relations, onOpenList }: TablePanelProps) {
  const t = useT();
  const [identity, setIdentity] = useState<Identity>(SERVICE_ROLE);
  return (
    <>
      <div className="table-head">
        <Group gap="xs" wrap="nowrap" miw={0}>
          {onOpenList ? (
            <Tooltip label={t('tables')}>
              <ActionIcon aria-label={t('tables')} onClick={onOpenList} variant="default">
                <Icon name="tree" size={16} />
              </ActionIcon>
            </Tooltip>
          ) : null}
          <Title order={1} size="h4" className="truncate">
            {relation.name}
          </Title>
          {relation.kind === 'table' ? (
            <Badge variant="light" color={relation.rls ? 'plinth' : 'orange'} flex="none">
              {rlsLabel(t, relation)}
            </Badge>
          ) : (
            <Badge variant="light" color="gray" flex="none">
              {t(relation.kind === 'foreign table' ? 'foreignTable' : 'view')}
            </Badge>
          )}
        </Group>
        <Group gap="xs">
          <ViewAs project={project} identity={identity} onChange={setIdentity} />
          <StructureButton project={project} relation={relation} relations={relations} />
        </Group>
      </div>
      {isExposed(project, relation) ? (
        <Rows project={project} relation={relation} relations={relations} identity={identity} />
      ) : (
        <Empty icon="lock" title={t('notExposed')} text={t('notExposedText', { schema: relation.schema })} />
      )}
    </>
  );
}

function rlsLabel(t: Translate, { rls, policies }: Relation): string {
  if (!rls) return t('rlsOff');
  return policies ? t('policyCount', { count: policies.length }) : t('rlsOn');
}

interface RowsProps extends Omit<TablePanelProps, 'onOpenList'> {
  readonly identity: Identity;
}

function Rows({ project, relation, relations, identity }: RowsProps) {
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
  const [edited, setEdited] = useState<{ row: Row | null } | null>(null);
  const [selected, setSelected] = useState<ReadonlyMap<string, Row>>(new Map());
  const mayWrite = useMayWrite(project) && identity.as === 'service_role';
  const isWritable = mayWrite && relation.kind !== 'materialized view' && relation.primaryKey.length > 0;
  const canInsert = mayWrite && relation.kind !== 'materialized view';
  useHotkeys([
    ['mod+Z', () => grid.setPending(undo(grid.pending))],
    ['mod+S', () => (countOf(grid.pending) > 0 ? grid.save.mutate() : undefined)],
  ]);
  return (
    <>
      <div className="table-tools">
        <FilterBar columns={relation.columns} query={query} onChange={setQuery} />
        <Group gap="xs">
          {selected.size > 0 && isWritable ? (
            <Button
              size="xs"
              color="red"
              variant="light"
              leftSection={<Icon name="trash" size={14} />}
              onClick={() => {
                grid.setPending(toggleDelete(grid.pending, selected));
                setSelected(new Map());
              }}
            >
              {t('deleteRows', { count: selected.size })}
            </Button>
          ) : null}
          <Tooltip label={t('refresh')}>
            <ActionIcon variant="default" aria-label={t('refresh')} onClick={() => void grid.pages.refetch()}>
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
      {grid.pages.error && !grid.pages.data ? (
        <div className="page">
          <Failure error={grid.pages.error} onRetry={() => void grid.pages.refetch()} />
        </div>
      ) : grid.pages.isPending ? (
        <Loading />
      ) : (
        <Grid
          relation={relation}
          grid={grid}
          isWritable={isWritable}
          query={query}
          onQuery={setQuery}
          selected={selected}
          onSelect={setSelected}
          onOpen={(row) => setEdited({ row })}
        />
      )}
      <StatusBar grid={grid} />
      {edited ? (
        <RowDrawer
          project={project}
          relation={relation}
          relations={relations}
          row={edited.row}
          isWritable={edited.row ? isWritable : canInsert}
          grid={grid}
          onInsert={(values: Values) => grid.setPending(insert(grid.pending, values))}
          onClose={() => setEdited(null)}
        />
      ) : null}
    </>
  );
}

function StatusBar({ grid }: { grid: ReturnType<typeof useGrid> }) {
  const { t, language } = useLanguages();
  const { pending, setPending, save, rows, total } = grid;
  const count = countOf(pending);
  return (
    <footer className={count > 0 ? 'status status-changed' : 'status'}>
      {save.error ? <Failure error={save.error} /> : null}
      <Group justify="space-between" w="100%" gap="xs">
        {count > 0 ? (
          <Text size="sm" fw={550}>
            {t('unsaved', { count })}
          </Text>
        ) : (
          <Text size="xs" c="dimmed" aria-live="polite">
            {total === null
              ? t('rowsLoaded', { count: formatNumber(rows.length, language) })
              : t('rowsOf', {
                  count: formatNumber(rows.length, language),
                  total: formatNumber(total, language),
                })}
          </Text>
        )}
        <Group gap="xs">
          {grid.isLater ? (
            <Button size="compact-xs" variant="default" onClick={grid.restart}>
              {t('toStart')}
            </Button>
          ) : null}
          {grid.goOn ? (
            <Button size="compact-xs" variant="default" onClick={grid.goOn}>
              {t('goOn')}
            </Button>
          ) : null}
          {count > 0 ? (
            <>
              <Button
                size="xs"
                variant="default"
                leftSection={<Icon name="undo" size={14} />}
                onClick={() => setPending(undo(pending))}
                disabled={pending.past.length === 0}
              >
                {t('undo')}
              </Button>
              <Button size="xs" variant="default" onClick={() => setPending(NO_CHANGES)}>
                {t('discard')}
              </Button>
              <Button size="xs" loading={save.isPending} onClick={() => save.mutate()}>
                {t('save')}
              </Button>
            </>
          ) : null}
        </Group>
      </Group>
    </footer>
  );
}
