/** Creates a table, with a policy, by SQL that is shown while the form is filled in. */
import { Button, Group, Select, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Relation } from '../../queries/catalog-types';
import type { Project } from '../../queries/projects';
import { useT } from '../../i18n';
import { BLANK_COLUMN, createTableSql, KEY_COLUMN, type NewColumn, OWNER_COLUMN } from '../../lib/ddl';
import { createPolicySql, draftOf, type Template, templatesFor } from '../../lib/policy-templates';
import { Icon } from '../../ui/icon';
import { SqlDialog } from '../../ui/sql-dialog';
import { ColumnForm } from './column-form';

/** Access to the new table. `none`: RLS is on and there is no policy yet. */
const ACCESS = ['own', 'readAll', 'readSignedIn', 'none'] as const;
type Access = (typeof ACCESS)[number];

interface CreateTableProps {
  readonly project: Project;
  readonly relations: readonly Relation[];
  readonly schema: string;
  /** Additional SQL for the rows of a file; null for a table without rows. */
  readonly guessed: { readonly name: string; readonly columns: readonly NewColumn[] } | null;
  readonly onClose: () => void;
  readonly onCreated: (table: string, columns: readonly NewColumn[]) => void;
}

const FIRST_COLUMNS = [KEY_COLUMN, OWNER_COLUMN, { ...BLANK_COLUMN, name: 'title', nullable: false }];

export function CreateTable({ project, relations, schema, guessed, onClose, onCreated }: CreateTableProps) {
  const t = useT();
  const [name, setName] = useState(guessed?.name ?? '');
  const [access, setAccess] = useState<Access>(guessed ? 'none' : 'own');
  const [columns, setColumns] = useState<readonly NewColumn[]>(guessed?.columns ?? FIRST_COLUMNS);
  const lacksOwner = access === 'own' && !templatesFor(described(columns)).includes('own');
  const isComplete = name.trim() !== '' && !lacksOwner;
  const replace = (index: number, column: NewColumn): void => setColumns(columns.with(index, column));
  return (
    <SqlDialog
      project={project}
      title={t('newTable')}
      action={t('createTable')}
      done={t('tableCreated', { name: name.trim() })}
      size="xl"
      sql={isComplete ? sqlOf(schema, name.trim(), columns, access) : null}
      onClose={onClose}
      onDone={() => onCreated(name.trim(), columns)}
    >
      <Group grow align="start">
        <TextInput
          label={t('tableName')}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          data-autofocus
        />
        <Select
          label={t('access')}
          data={ACCESS.map((value) => ({ value, label: t(`access_${value}`) }))}
          value={access}
          error={lacksOwner ? t('ownerColumnMissing') : null}
          allowDeselect={false}
          onChange={(value) => setAccess(value ?? 'own')}
        />
      </Group>
      <Stack gap="xs">
        {columns.map((column, index) => (
          <ColumnForm
            key={index}
            column={column}
            relations={relations}
            withKey
            onChange={(next) => replace(index, next)}
            onRemove={columns.length > 1 ? () => setColumns(columns.toSpliced(index, 1)) : null}
          />
        ))}
        <Group>
          <Button
            size="xs"
            variant="default"
            leftSection={<Icon name="plus" size={14} />}
            onClick={() => setColumns([...columns, BLANK_COLUMN])}
          >
            {t('addColumn')}
          </Button>
        </Group>
      </Stack>
    </SqlDialog>
  );
}

function sqlOf(schema: string, name: string, columns: readonly NewColumn[], access: Access): string {
  const create = createTableSql(schema, name, columns);
  // Plinth enables row-level security in `public` automatically; this statement enables it in any schema.
  const secure = `alter table ${create.slice('create table '.length, create.indexOf(' ('))} enable row level security;`;
  if (access === 'none') return `${create}\n\n${secure}`;
  const draft = draftOf(access satisfies Template, described(columns));
  return `${create}\n\n${secure}\n\n${createPolicySql(schema, name, draft)}`;
}

/** The columns in the form in which the catalog describes columns. */
function described(columns: readonly NewColumn[]): Parameters<typeof draftOf>[1] {
  return {
    columns: columns.map((one) => ({ ...one, category: '', always: false, labels: null, comment: null })),
  };
}
