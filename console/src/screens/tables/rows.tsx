/** The rows of a table: filters, the grid, and the bar of unsaved changes. */
import { ActionIcon, Button, Group, Tooltip } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Identity } from '../../api/identity';
import type { Relation } from '../../queries/catalog-types';
import { type Project, useMayWrite } from '../../queries/projects';
import { useT } from '../../i18n';
import type { GridQuery } from '../../lib/grid-query';
import { countOf, insert, undo } from '../../lib/pending-changes';
import { Empty, Failure, Loading } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { LeaveGuard } from '../../ui/leave-guard';
import pageStyles from '../../ui/page.module.css';
import { DetailDrawer } from '../../ui/parts';
import splitStyles from '../../ui/split.module.css';
import { BulkEdit } from './bulk-edit';
import { FilterBar } from './filter-bar';
import { Grid } from './grid';
import { HiddenColumns } from './hidden-columns';
import { LiveSwitch } from './live-switch';
import { targetOf } from './reference-picker';
import { RowDrawer } from './row-drawer';
import { StatusBar } from './status-bar';
import { TransferMenu } from './transfer';
import { type GridColumns, useColumns } from './use-columns';
import { type GridState, useGrid } from './use-grid';
import { useGridQuery } from './use-grid-query';
import { useLiveRows } from './use-live-rows';
import { type OpenedRow, useOpenedRow } from './use-opened-row';
import { useScroll } from './use-scroll';
import { type Selection, useSelection } from './use-selection';

const route = getRouteApi('/signed-in/projects/$slug/tables');

/** A change of these members opens another table with a new grid. */
const LEFT_BY = ['schema', 'table'];

interface RowsProps {
  readonly project: Project;
  readonly relation: Relation;
  readonly relations: readonly Relation[];
  readonly identity: Identity;
}

export function Rows({ project, relation, relations, identity }: RowsProps) {
  const [query, setQuery] = useGridQuery(relation);
  const grid = useGrid({ project, relation, identity, query });
  const scroll = useScroll(grid.pending.inserts.length + grid.pages.total);
  const selection = useSelection();
  const columns = useColumns(project, relation);
  const { isLive, setLive } = useLiveSearch();
  const live = useLiveRows({ project, relation, identity, query, isOn: isLive, base: grid.pages.base });
  const opened = useOpenedRow({ project, relation, identity });
  const canInsert =
    useMayWrite(project) && identity.as === 'service_role' && relation.kind !== 'materialized view';
  const isWritable = canInsert && relation.primaryKey.length > 0;
  const canSave = countOf(grid.pending) > 0 && !grid.save.isPending;
  useHotkeys([
    ['mod+Z', () => grid.setPending(undo(grid.pending))],
    ['mod+S', () => (canSave ? grid.save.mutate({ overwrites: false }) : undefined)],
  ]);
  const shared = { project, relation, relations, grid, isWritable };
  return (
    <>
      <RowTools
        {...shared}
        identity={identity}
        query={query}
        onQuery={setQuery}
        selection={selection}
        columns={columns}
        onInsert={canInsert ? opened.openNew : null}
      >
        {relation.kind === 'table' ? (
          <LiveSwitch project={project} relation={relation} live={live} isOn={isLive} onChange={setLive} />
        ) : null}
      </RowTools>
      <FirstPage grid={grid}>
        <Grid
          {...shared}
          scroll={scroll}
          query={query}
          onQuery={setQuery}
          selection={selection}
          columns={columns}
          marks={live.marks}
          onOpen={opened.open}
          referenceOf={(column) => targetOf(project, relation, relations, column)}
        />
      </FirstPage>
      <StatusBar grid={grid} scroll={scroll} />
      <LeaveGuard changes={countOf(grid.pending)} by={LEFT_BY} />
      <Opened {...shared} opened={opened} canInsert={canInsert} />
    </>
  );
}

/** Whether the rows follow the table, which is in the address. */
function useLiveSearch() {
  const navigate = route.useNavigate();
  return {
    isLive: route.useSearch().live === '1',
    setLive: (isLive: boolean): void =>
      void navigate({ search: (old) => ({ ...old, live: isLive ? '1' : undefined }), replace: true }),
  };
}

interface RowToolsProps extends RowsProps {
  readonly grid: GridState;
  readonly isWritable: boolean;
  readonly query: GridQuery;
  readonly onQuery: (query: GridQuery) => void;
  readonly selection: Selection;
  readonly columns: GridColumns;
  /** The switch of live rows. */
  readonly children: ReactNode;
  /** Null if rows cannot be inserted. */
  readonly onInsert: (() => void) | null;
}

function RowTools(props: RowToolsProps) {
  const { project, relation, identity, grid, isWritable, query, onQuery, selection, onInsert } = props;
  const t = useT();
  const shared = { project, relation, query };
  return (
    <div className={splitStyles.tools}>
      <FilterBar columns={relation.columns} query={query} onChange={onQuery} />
      <Group gap="xs">
        {props.children}
        <HiddenColumns columns={props.columns} all={relation.columns.map(({ name }) => name)} />
        {isWritable ? (
          <BulkEdit {...shared} grid={grid} selected={selection.rows} onDone={selection.clear} />
        ) : null}
        <Tooltip label={t('refresh')}>
          <ActionIcon variant="default" aria-label={t('refresh')} onClick={() => void grid.pages.refresh()}>
            <Icon name="refresh" size={16} />
          </ActionIcon>
        </Tooltip>
        <TransferMenu {...shared} identity={identity} canImport={onInsert !== null} />
        {onInsert ? (
          <Button size="xs" leftSection={<Icon name="plus" size={14} />} onClick={onInsert}>
            {t('insertRow')}
          </Button>
        ) : null}
      </Group>
    </div>
  );
}

/** Its content needs the first page of rows. */
function FirstPage({ grid, children }: { grid: GridState; children: ReactNode }) {
  const { first, retry } = grid.pages;
  if (first.error && !first.data)
    return (
      <div className={pageStyles.page}>
        <Failure error={first.error} onRetry={retry} />
      </div>
    );
  return first.isPending ? <Loading /> : children;
}

interface OpenedProps extends Omit<RowsProps, 'identity'> {
  readonly grid: GridState;
  readonly isWritable: boolean;
  readonly canInsert: boolean;
  readonly opened: OpenedRow;
}

function Opened({ opened, isWritable, canInsert, ...shared }: OpenedProps) {
  const t = useT();
  const { shown, linked, key, close } = opened;
  const { grid } = shared;
  if (shown)
    return (
      <RowDrawer
        key={key}
        {...shared}
        row={shown.row}
        isWritable={shown.row ? isWritable : canInsert}
        onInsert={(values) => grid.setPending(insert(grid.pending, values))}
        onClose={close}
      />
    );
  if (!linked) return null;
  return (
    <DetailDrawer title={t('row')} onClose={close}>
      {linked.error ? (
        <Failure error={linked.error} onRetry={() => void linked.refetch()} />
      ) : linked.isPending ? (
        <Loading />
      ) : (
        <Empty icon="search" title={t('nothingFound')} text={t('noSuchRow')} />
      )}
    </DetailDrawer>
  );
}
