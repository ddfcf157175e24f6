/**
 * One change for many rows: the selected rows, where it waits until it is saved, or all rows that match the
 * filters, where it takes effect immediately.
 */
import { Button, Checkbox, Menu, Select, Stack, Text, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Relation } from '../../queries/catalog-types';
import type { Project } from '../../queries/projects';
import { changeRows, countRows, deleteRows } from '../../queries/rows';
import { useLanguages, useT } from '../../i18n';
import { formatNumber } from '../../lib/format';
import type { GridQuery, Row } from '../../lib/grid-query';
import { changeAll, toggleDelete, type Values } from '../../lib/pending-changes';
import { Dialog } from '../../ui/dialog';
import { Failure, Loading } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { Confirm } from '../../ui/parts';
import { isEditable } from './cell';
import type { GridState } from './use-grid';
import textStyles from '../../ui/text.module.css';

interface BulkEditProps {
  readonly project: Project;
  readonly relation: Relation;
  readonly query: GridQuery;
  readonly grid: GridState;
  readonly selected: ReadonlyMap<string, Row>;
  readonly onDone: () => void;
}

type Action = 'changeSelected' | 'changeAll' | 'deleteAll';

export function BulkEdit(props: BulkEditProps) {
  const { relation, query, grid, selected, onDone } = props;
  const t = useT();
  const [action, setAction] = useState<Action | null>(null);
  const close = (): void => setAction(null);
  const all = t(query.filters.length > 0 ? 'rowsOfFilter' : 'allRows');
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button
            size="xs"
            variant={selected.size > 0 ? 'light' : 'default'}
            rightSection={<Icon name="chevron" size={14} />}
          >
            {selected.size > 0 ? t('selectedRows', { count: selected.size }) : t('manyRows')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>{t('selectedRows', { count: selected.size })}</Menu.Label>
          <Menu.Item disabled={selected.size === 0} onClick={() => setAction('changeSelected')}>
            {t('changeRows')}
          </Menu.Item>
          <Menu.Item
            disabled={selected.size === 0}
            color="red"
            onClick={() => {
              grid.setPending(toggleDelete(grid.pending, selected));
              onDone();
            }}
          >
            {t('deleteRows', { count: selected.size })}
          </Menu.Item>
          <Menu.Label>{all}</Menu.Label>
          <Menu.Item onClick={() => setAction('changeAll')}>{t('changeAllRows', { rows: all })}</Menu.Item>
          <Menu.Item c="var(--mantine-color-error)" onClick={() => setAction('deleteAll')}>
            {t('deleteAllRows', { rows: all })}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {action === 'changeSelected' ? (
        <ChangeSelected
          relation={relation}
          count={selected.size}
          onClose={close}
          onApply={(values) => {
            grid.setPending(changeAll(grid.pending, selected, values));
            onDone();
          }}
        />
      ) : null}
      {action === 'changeAll' || action === 'deleteAll' ? (
        <AllRows
          // Any change of the filters, such as by the back button, discards the input.
          key={JSON.stringify(query.filters)}
          {...props}
          isDeletion={action === 'deleteAll'}
          onClose={close}
        />
      ) : null}
    </>
  );
}

interface ChangeSelectedProps {
  readonly relation: Relation;
  readonly count: number;
  readonly onClose: () => void;
  readonly onApply: (values: Values) => void;
}

function ChangeSelected({ relation, count, onClose, onApply }: ChangeSelectedProps) {
  const t = useT();
  const [values, setValues] = useState<Values>({});
  return (
    <Dialog onClose={onClose} title={t('selectedRows', { count })}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onApply(values);
          onClose();
        }}
      >
        <Stack gap="sm">
          <NewValue relation={relation} onChange={setValues} />
          <Button type="submit" disabled={Object.keys(values).length === 0}>
            {t('applyToGrid')}
          </Button>
        </Stack>
      </form>
    </Dialog>
  );
}

/** The count is confirmed by typing it, and the server refuses to change more rows than that. */
function AllRows(props: BulkEditProps & { isDeletion: boolean; onClose: () => void }) {
  const { project, relation, query, isDeletion, onClose, onDone } = props;
  const { t, language } = useLanguages();
  const client = useQueryClient();
  const [values, setValues] = useState<Values>({});
  const { filters } = query;
  const rows = { project, relation, filters };
  const count = useQuery({
    queryKey: ['rows', project.id, relation.schema, relation.name, 'count', filters],
    queryFn: ({ signal }) => countRows({ ...rows, signal }),
    staleTime: 0,
  });
  const title = isDeletion ? t('deleteAllTitle') : t('changeAllTitle');
  if (count.data === undefined)
    return (
      <Dialog onClose={onClose} title={title}>
        {count.error ? <Failure error={count.error} onRetry={() => void count.refetch()} /> : <Loading />}
      </Dialog>
    );
  const shown = formatNumber(count.data, language);
  const run = async (): Promise<void> => {
    const isNothing = Object.keys(values).length === 0;
    if (isDeletion) await deleteRows(rows, count.data);
    else if (!isNothing) await changeRows(rows, values, count.data);
    onDone();
    await client.invalidateQueries({ queryKey: ['rows', project.id, relation.schema, relation.name] });
  };
  return (
    <Confirm
      title={title}
      text={t(isDeletion ? 'deleteAllText' : 'changeAllText', { count: shown, table: relation.name })}
      action={isDeletion ? t('deleteRows', { count: shown }) : t('changeRows')}
      done={t(isDeletion ? 'rowsDeleted' : 'rowsChanged', { count: shown, table: relation.name })}
      typed={String(count.data)}
      danger
      run={run}
      onClose={onClose}
    >
      {filters.map(({ column, operator, value }) => (
        <Text key={`${column} ${operator} ${value}`} size="xs" ff="monospace" className={textStyles.wrap}>
          {column} {operator} {value}
        </Text>
      ))}
      {isDeletion ? null : <NewValue relation={relation} onChange={setValues} />}
    </Confirm>
  );
}

/** A column and its new value. */
function NewValue({ relation, onChange }: { relation: Relation; onChange: (values: Values) => void }) {
  const t = useT();
  const columns = relation.columns.filter(
    (column) => isEditable(column) && !relation.primaryKey.includes(column.name),
  );
  const [input, setInput] = useState({ column: null as string | null, value: '', isNull: false });
  const { column, value, isNull } = input;
  const edit = (part: Partial<typeof input>): void => {
    const next = { ...input, ...part };
    setInput(next);
    onChange(next.column === null ? {} : { [next.column]: next.isNull ? null : next.value });
  };
  const chosen = columns.find(({ name }) => name === column);
  return (
    <Stack gap="xs">
      <Select
        label={t('column')}
        data={columns.map(({ name }) => name)}
        value={column}
        searchable
        onChange={(name) => edit({ column: name })}
      />
      <TextInput
        label={t('newValue')}
        description={chosen?.type}
        value={value}
        disabled={isNull}
        dir="auto"
        onChange={(event) => edit({ value: event.currentTarget.value })}
      />
      <Checkbox
        label="null"
        checked={isNull}
        disabled={chosen?.nullable === false}
        onChange={(event) => edit({ isNull: event.currentTarget.checked })}
      />
    </Stack>
  );
}
