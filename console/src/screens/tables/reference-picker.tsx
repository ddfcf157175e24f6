/** The row that a foreign key refers to, with a preview, and a list from which another row is chosen. */
import { Anchor, Button, Group, Stack, Text, TextInput, UnstyledButton } from '@mantine/core';
import { useDebouncedValue, useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { SERVICE_ROLE } from '../../api/identity';
import type { Relation } from '../../queries/catalog-types';
import { isExposed, type Project } from '../../queries/projects';
import { fetchPage, pageRowsOf } from '../../queries/rows';
import { useT } from '../../i18n';
import { type Filter, FIRST_PAGE, type Row } from '../../lib/grid-query';
import { Dialog } from '../../ui/dialog';
import { Failure, Loading } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import textStyles from '../../ui/text.module.css';
import styles from './reference-picker.module.css';
import choiceStyles from '../../ui/choice.module.css';

/** The table and the column that a foreign key of one column refers to. */
export interface Target {
  readonly relation: Relation;
  readonly column: string;
}

/** Null if the column has no foreign key, or if table REST does not serve the other table. */
export function targetOf(
  project: Project,
  { foreignKeys }: Relation,
  relations: readonly Relation[],
  column: string,
): Target | null {
  const key = foreignKeys.find(({ columns }) => columns.length === 1 && columns[0] === column);
  const relation = key && relations.find((one) => one.schema === key.schema && one.name === key.table);
  const [target] = key?.targets ?? [];
  if (!relation || target === undefined || !isExposed(project, relation)) return null;
  return { relation, column: target };
}

/** The title of a row is its first text column, which says more than the key. */
function titleOf({ relation, column }: Target): string {
  return relation.columns.find(({ type }) => /^(text|character varying)/.test(type))?.name ?? column;
}

/** Columns of a preview in addition to the title and the key. */
const PREVIEWED = 4;
const PREVIEW_CHARACTERS = 60;

function previewOf(row: Row, target: Target): string {
  const others = target.relation.columns.filter(
    ({ name, type }) => name !== target.column && name !== titleOf(target) && type !== 'bytea',
  );
  return others
    .slice(0, PREVIEWED)
    .map(({ name }) => `${name}: ${(row[name] ?? 'null').slice(0, PREVIEW_CHARACTERS)}`)
    .join(' · ');
}

function useReferenced(project: Project, { relation }: Target, filters: readonly Filter[], isEnabled = true) {
  return useQuery({
    queryKey: ['rows', project.id, relation.schema, relation.name, 'pick', filters],
    enabled: isEnabled,
    queryFn: ({ signal }) =>
      fetchPage({
        project,
        relation,
        identity: SERVICE_ROLE,
        query: { filters, sort: null },
        place: FIRST_PAGE,
        limit: pageRowsOf(project),
        signal,
      }),
  });
}

interface ReferenceFieldProps {
  readonly project: Project;
  readonly target: Target;
  readonly value: string | null;
  /** Null if the value cannot be changed. */
  readonly onPick: ((value: string) => void) | null;
}

export function ReferenceField({ project, target, value, onPick }: ReferenceFieldProps) {
  const t = useT();
  const [isOpen, dialog] = useDisclosure();
  return (
    <>
      {value === null ? null : <Referenced project={project} target={target} value={value} />}
      {onPick ? (
        <Button
          size="compact-xs"
          variant="subtle"
          leftSection={<Icon name="link" size={12} />}
          onClick={dialog.open}
        >
          {t('pickFrom', { table: target.relation.name })}
        </Button>
      ) : null}
      {isOpen && onPick ? (
        <ReferenceChoice
          project={project}
          target={target}
          onPick={(next) => onPick(next)}
          onClose={dialog.close}
        />
      ) : null}
    </>
  );
}

/** The beginning of the referenced row, which links to the row. */
function Referenced({ project, target, value }: { project: Project; target: Target; value: string }) {
  const filters: Filter[] = [{ column: target.column, operator: 'eq', value }];
  const [settled] = useDebouncedValue(value, 300);
  const rows = useReferenced(project, target, filters, settled === value);
  const row = rows.data?.rows[0];
  if (!row) return null;
  const { schema, name } = target.relation;
  return (
    <Anchor
      size="xs"
      className={`${textStyles.truncate} ${styles.referenced}`}
      dir="auto"
      renderRoot={(props) => (
        <Link
          to="/projects/$slug/tables"
          params={{ slug: project.slug }}
          search={{ schema, table: name, filters: JSON.stringify(filters) }}
          {...props}
        />
      )}
    >
      {[row[titleOf(target)] ?? 'null', previewOf(row, target)].filter((text) => text !== '').join(' · ')}
    </Anchor>
  );
}

interface ReferenceChoiceProps {
  readonly project: Project;
  readonly target: Target;
  /** A value that is not in the list can also be typed. */
  readonly onPick: (value: string) => void;
  readonly onNull?: (() => void) | undefined;
  readonly onClose: () => void;
}

const SHOWN_ROWS = 50;

export function ReferenceChoice({ project, target, onPick, onNull, onClose }: ReferenceChoiceProps) {
  const t = useT();
  const [search, setSearch] = useState('');
  const [wanted] = useDebouncedValue(search, 250);
  const { relation, column } = target;
  const title = titleOf(target);
  const filters: Filter[] =
    wanted === '' ? [] : [{ column: title, operator: title === column ? 'eq' : 'ilike', value: wanted }];
  const rows = useReferenced(project, target, filters);
  const pick = (value: string | null | undefined): void => {
    if (typeof value === 'string') onPick(value);
    onClose();
  };
  return (
    <Dialog onClose={onClose} title={relation.name}>
      <Stack gap="xs">
        <TextInput
          aria-label={t('search')}
          placeholder={t('searchIn', { column: title })}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
          data-autofocus
        />
        {rows.error ? <Failure error={rows.error} onRetry={() => void rows.refetch()} /> : null}
        {rows.isPending ? <Loading /> : null}
        {rows.data?.rows.slice(0, SHOWN_ROWS).map((row) => (
          <UnstyledButton key={row[column]} className={choiceStyles.choice} onClick={() => pick(row[column])}>
            <Group justify="space-between" wrap="nowrap" gap="xs">
              <Text size="sm" truncate dir="auto">
                {row[title] ?? 'null'}
              </Text>
              <Text size="xs" c="dimmed" ff="monospace" truncate>
                {row[column]}
              </Text>
            </Group>
            <Text size="xs" c="dimmed" truncate dir="auto">
              {previewOf(row, target)}
            </Text>
          </UnstyledButton>
        ))}
        <Group gap="xs" justify="end">
          {onNull ? (
            <Button
              size="xs"
              variant="default"
              onClick={() => {
                onNull();
                onClose();
              }}
            >
              null
            </Button>
          ) : null}
          {search === '' ? null : (
            <Button size="xs" variant="default" onClick={() => pick(search)}>
              {t('useValue', { value: search })}
            </Button>
          )}
        </Group>
      </Stack>
    </Dialog>
  );
}
