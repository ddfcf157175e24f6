/**
 * A row of a backup: found in a table of an archive, compared with the current row, and restored by SQL that is shown.
 */
import { Alert, Badge, Button, Group, Select, Stack, Table, Text, TextInput, Title } from '@mantine/core';
import { useSetState } from '@mantine/hooks';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLanguages, useT } from '../i18n';
import { formatBytes, formatTime } from '../lib/format';
import { type ComparedColumn, isDifferent, restoreSql, type TextRow } from '../lib/restore-row';
import {
  archivedTablesQuery,
  archivesQuery,
  comparisonQuery,
  findArchivedRows,
  type FoundRows,
  type RowSearch,
} from '../queries/archived-rows';
import type { Relation } from '../queries/catalog-types';
import { type Project, useCatalog, useCatalogChanged } from '../queries/projects';
import { DataTable } from '../ui/data-table';
import { Failure, Loaded, Loading } from '../ui/feedback';
import { Icon } from '../ui/icon';
import { SqlDialog } from '../ui/sql-dialog';
import textStyles from '../ui/text.module.css';

/** Number of columns in the list; the comparison has all columns. */
const LISTED_COLUMNS = 5;

export function RestoreRow({ project }: { project: Project }) {
  const { t, language } = useLanguages();
  const archives = useQuery(archivesQuery(project));
  const [chosen, setChosen] = useState<string | null>(null);
  return (
    <section>
      <Stack gap="sm">
        <Title order={2} size="h4">
          {t('restoreRow')}
        </Title>
        <Loaded query={archives}>
          {(list) => {
            const backup = list.find(({ id }) => id === chosen) ?? list[0];
            if (!backup)
              return (
                <Text size="sm" c="dimmed">
                  {t('noArchives')}
                </Text>
              );
            return (
              <>
                <Text size="sm" c="dimmed">
                  {t('restoreRowText')}
                </Text>
                <Select
                  label={t('backupOf')}
                  maw={420}
                  allowDeselect={false}
                  data={list.map(({ id, started_at: at, bytes }) => ({
                    value: id,
                    label: `${formatTime(at, language)} · ${formatBytes(bytes, language)}`,
                  }))}
                  value={backup.id}
                  onChange={setChosen}
                />
                <Search key={backup.id} project={project} backup={backup.id} />
              </>
            );
          }}
        </Loaded>
      </Stack>
    </section>
  );
}

function Search({ project, backup }: { project: Project; backup: string }) {
  const t = useT();
  const tables = useQuery(archivedTablesQuery(project, backup));
  const [input, setInput] = useSetState({ table: null as string | null, column: '', text: '' });
  // The rows are compared with the tables as they are now.
  const onSuccess = useCatalogChanged(project);
  const find = useMutation({
    mutationFn: (search: RowSearch) => findArchivedRows(project, search),
    onSuccess,
  });
  return (
    <Loaded query={tables}>
      {(list) => {
        const names = list.map(({ schema, name }) => `${schema}.${name}`);
        const table = input.table ?? names[0] ?? null;
        const columns = list[names.indexOf(table ?? '')]?.columns ?? [];
        return (
          <form
            onSubmit={(event) => {
              event.preventDefault();
              if (table) find.mutate({ ...input, backup, table });
            }}
          >
            <Stack gap="sm">
              <Group align="end" gap="xs">
                <Select
                  label={t('table')}
                  searchable
                  allowDeselect={false}
                  data={names}
                  value={table}
                  onChange={(next) => setInput({ table: next, column: '' })}
                />
                <Select
                  label={t('searchInColumn')}
                  allowDeselect={false}
                  data={[{ value: '', label: t('anyColumn') }, ...columns]}
                  value={input.column}
                  onChange={(column) => setInput({ column: column ?? '' })}
                />
                <TextInput
                  label={t(input.column === '' ? 'textOfRow' : 'exactValue')}
                  value={input.text}
                  onChange={(event) => setInput({ text: event.currentTarget.value })}
                />
                <Button type="submit" variant="default" loading={find.isPending} disabled={table === null}>
                  {t('findRows')}
                </Button>
              </Group>
              {find.error ? <Failure error={find.error} /> : null}
              {find.data && find.variables ? (
                <Found project={project} table={find.variables.table} found={find.data} />
              ) : null}
            </Stack>
          </form>
        );
      }}
    </Loaded>
  );
}

function Found({ project, table, found }: { project: Project; table: string; found: FoundRows }) {
  const t = useT();
  const catalog = useCatalog(project);
  const [row, setRow] = useState<TextRow | null>(null);
  const relation = catalog.data?.find(({ schema, name }) => `${schema}.${name}` === table);
  const listed = found.columns.slice(0, LISTED_COLUMNS);
  if (found.rows.length === 0 && found.complete)
    return (
      <Text size="sm" role="status">
        {t('noArchivedRows')}
      </Text>
    );
  return (
    <>
      <DataTable minWidth={520} heads={[...listed, null]} isHoverable>
        {found.rows.map((one, index) => (
          <Table.Tr key={index}>
            {listed.map((name) => (
              <Table.Td key={name} className={textStyles.wrap}>
                <Value text={one[name] ?? null} />
              </Table.Td>
            ))}
            <Table.Td>
              <Button size="compact-sm" variant="default" disabled={!relation} onClick={() => setRow(one)}>
                {t('compareRow')}
              </Button>
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
      {found.complete && found.skipped === 0 ? null : (
        <Alert variant="light" icon={<Icon name="warning" />}>
          {found.complete ? t('rowsSkipped', { count: found.skipped }) : t('moreArchivedRows')}
        </Alert>
      )}
      {row && relation ? (
        <Comparison project={project} relation={relation} row={row} onClose={() => setRow(null)} />
      ) : null}
    </>
  );
}

/** Number of characters of a value in a list. */
const SHOWN = 200;

function Value({ text }: { text: string | null }) {
  if (text === null) return <span className={textStyles.mono}>null</span>;
  return <bdi>{text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text}</bdi>;
}

interface ComparisonProps {
  readonly project: Project;
  readonly relation: Relation;
  readonly row: TextRow;
  readonly onClose: () => void;
}

function Comparison({ project, relation, row, onClose }: ComparisonProps) {
  const t = useT();
  const comparison = useQuery(comparisonQuery(project, relation, row));
  const compared = comparison.data;
  return (
    <SqlDialog
      project={project}
      title={t('restoreRow')}
      action={t('restoreRow')}
      done={t('rowRestored', {
        row: relation.primaryKey.map((name) => row[name] ?? '').join(', '),
        table: relation.name,
      })}
      size="xl"
      needsRow
      sql={compared ? restoreSql(relation, row, compared) : null}
      onClose={onClose}
    >
      {comparison.error ? <Failure error={comparison.error} /> : null}
      {compared ? <Compared columns={compared} /> : comparison.error ? null : <Loading />}
    </SqlDialog>
  );
}

function Compared({ columns }: { columns: readonly ComparedColumn[] }) {
  const t = useT();
  const isMissing = columns.every(({ present }) => present === undefined);
  const isSame = !columns.some(isDifferent);
  return (
    <Stack gap="xs">
      <Text size="sm" role="status">
        {t(isMissing ? 'rowIsMissing' : isSame ? 'rowIsSame' : 'rowDiffers')}
      </Text>
      <DataTable minWidth={460} heads={[t('column'), t('inBackup'), t('rowNow')]}>
        {columns.map((column) => (
          <Table.Tr key={column.name}>
            <Table.Td>
              {column.name}{' '}
              {!isMissing && isDifferent(column) ? (
                <Badge size="xs" color="orange" variant="light">
                  {t('differs')}
                </Badge>
              ) : null}
            </Table.Td>
            <Table.Td className={textStyles.wrap}>
              <Value text={column.archived} />
            </Table.Td>
            <Table.Td className={textStyles.wrap}>
              {column.present === undefined ? '–' : <Value text={column.present} />}
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
    </Stack>
  );
}
