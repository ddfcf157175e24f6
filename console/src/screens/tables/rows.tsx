/** The rows of a table: filters, the grid, and the bar of changes that were not saved. */
import { ActionIcon, Button, Group, Tooltip } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
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
import { targetOf } from './reference-picker';
import { RowDrawer } from './row-drawer';
import { StatusBar } from './status-bar';
import { TransferMenu } from './transfer';
import { type GridState, useGrid } from './use-grid';
import { useGridQuery } from './use-grid-query';
import { type OpenedRow, useOpenedRow } from './use-opened-row';
import { useScroll } from './use-scroll';
import { type Selection, useSelection } from './use-selection';

/** Another table is another grid. */
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
        onInsert={canInsert ? opened.openNew : null}
      />
      <FirstPage grid={grid}>
        <Grid
          {...shared}
          scroll={scroll}
          query={query}
          onQuery={setQuery}
          selection={selection}
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

interface RowToolsProps extends RowsProps {
  readonly grid: GridState;
  readonly isWritable: boolean;
  readonly query: GridQuery;
  readonly onQuery: (query: GridQuery) => void;
  readonly selection: Selection;
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
function FirstPage({ grid, children }: { grid: GridState; children: React.ReactNode }) {
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
