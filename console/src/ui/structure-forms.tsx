/** The forms of columns, indexes and keys that are changed or added. */
import { Autocomplete, Checkbox, MultiSelect, Select, Text, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Column, ForeignKey, Relation } from '../queries/catalog-types';
import type { Project } from '../queries/projects';
import { useT } from '../i18n';
import { COLUMN_TYPES } from '../lib/ddl';
import {
  addForeignKeySql,
  addIndexSql,
  addPrimaryKeySql,
  alterColumnSql,
  changeForeignKeySql,
  changeIndexSql,
  clausesOf,
  draftOfColumn,
  type ForeignKeyDraft,
  type ForeignKeyTarget,
  INDEX_METHODS,
  type IndexDraft,
  ON_DELETE,
  targetOf,
} from '../lib/ddl-alter';
import { SqlDialog } from './sql-dialog';
import textStyles from './text.module.css';

interface FormProps {
  readonly project: Project;
  readonly relation: Relation;
  readonly onClose: () => void;
}

export function AlterColumn({ project, relation, column, onClose }: FormProps & { column: Column }) {
  const t = useT();
  const [draft, setDraft] = useState(() => draftOfColumn(column));
  return (
    <SqlDialog
      project={project}
      onClose={onClose}
      title={t('alterColumn', { name: column.name })}
      action={t('changeColumn')}
      done={t('columnChanged', { name: column.name })}
      sql={alterColumnSql(relation, column, draft)}
    >
      <Autocomplete
        label={t('type')}
        data={[...COLUMN_TYPES]}
        value={draft.type}
        onChange={(type) => setDraft({ ...draft, type })}
      />
      <TextInput
        label={t('defaultValue')}
        description={t('defaultHint')}
        classNames={{ input: textStyles.mono }}
        value={draft.default}
        onChange={(event) => setDraft({ ...draft, default: event.currentTarget.value })}
      />
      <TextInput
        label={t('comment')}
        value={draft.comment}
        onChange={(event) => setDraft({ ...draft, comment: event.currentTarget.value })}
      />
      <Checkbox
        label={t('required')}
        checked={!draft.nullable}
        disabled={relation.primaryKey.includes(column.name)}
        onChange={(event) => setDraft({ ...draft, nullable: !event.currentTarget.checked })}
      />
    </SqlDialog>
  );
}

export function AddIndex({ project, relation, onClose }: FormProps) {
  const t = useT();
  const [draft, setDraft] = useState<IndexDraft>({
    columns: [],
    unique: false,
    method: 'btree',
    where: '',
    concurrently: false,
  });
  return (
    <SqlDialog
      project={project}
      onClose={onClose}
      title={t('addIndex')}
      action={t('createIndex')}
      done={t('indexCreated', { name: draft.columns.join(', ') })}
      sql={addIndexSql(relation, draft)}
    >
      <MultiSelect
        label={t('columns')}
        data={relation.columns.map(({ name }) => name)}
        value={[...draft.columns]}
        searchable
        onChange={(columns) => setDraft({ ...draft, columns })}
      />
      <Select
        label={t('method')}
        data={[...INDEX_METHODS]}
        value={draft.method}
        allowDeselect={false}
        onChange={(method) => setDraft({ ...draft, method: method ?? 'btree' })}
      />
      <TextInput
        label={t('where')}
        description={t('whereHint')}
        classNames={{ input: textStyles.mono }}
        value={draft.where}
        onChange={(event) => setDraft({ ...draft, where: event.currentTarget.value })}
      />
      <Checkbox
        label={t('unique')}
        checked={draft.unique}
        onChange={(event) => setDraft({ ...draft, unique: event.currentTarget.checked })}
      />
      <Checkbox
        label={t('concurrently')}
        description={t('concurrentlyHint')}
        checked={draft.concurrently}
        onChange={(event) => setDraft({ ...draft, concurrently: event.currentTarget.checked })}
      />
    </SqlDialog>
  );
}

export function AddForeignKey({
  project,
  relation,
  relations,
  onClose,
}: FormProps & { relations: readonly Relation[] }) {
  const t = useT();
  const [draft, setDraft] = useState<ForeignKeyDraft>({
    column: null,
    target: null,
    onDelete: 'no action',
    withIndex: true,
  });
  return (
    <SqlDialog
      project={project}
      onClose={onClose}
      title={t('addForeignKey')}
      action={t('addForeignKey')}
      done={t('keyAdded', { name: draft.column ?? '' })}
      sql={addForeignKeySql(relation, draft)}
    >
      <Select
        label={t('column')}
        data={relation.columns.map(({ name }) => name)}
        value={draft.column}
        searchable
        onChange={(column) => setDraft({ ...draft, column })}
      />
      <ReferenceFields
        targets={targetsIn(relations, 1)}
        reference={draft}
        onEdit={(part) => setDraft({ ...draft, ...part })}
      />
      <Checkbox
        label={t('withIndex')}
        description={t('withIndexHint')}
        checked={draft.withIndex}
        onChange={(event) => setDraft({ ...draft, withIndex: event.currentTarget.checked })}
      />
    </SqlDialog>
  );
}

/** Primary keys with this number of columns. */
const targetsIn = (relations: readonly Relation[], columns: number): ForeignKeyTarget[] =>
  relations
    .filter(({ primaryKey }) => primaryKey.length === columns)
    .map(({ schema, name: table, primaryKey }) => ({ schema, table, columns: primaryKey }));

type Reference = Pick<ForeignKeyDraft, 'target' | 'onDelete'>;

interface ReferenceFieldsProps {
  readonly targets: readonly ForeignKeyTarget[];
  readonly reference: Reference;
  readonly onEdit: (part: Partial<Reference>) => void;
}

function ReferenceFields({ targets, reference: { target, onDelete }, onEdit }: ReferenceFieldsProps) {
  const t = useT();
  const values = new Map(
    targets.map((one) => [JSON.stringify([one.schema, one.table, ...one.columns]), one] as const),
  );
  return (
    <>
      <Select
        label={t('references')}
        data={[...values].map(([value, one]) => ({
          value,
          label: `${one.schema}.${one.table}`,
        }))}
        value={target && JSON.stringify([target.schema, target.table, ...target.columns])}
        searchable
        allowDeselect={false}
        onChange={(value) => onEdit({ target: values.get(value ?? '') ?? null })}
      />
      <Select
        label={t('onDelete')}
        data={[...ON_DELETE]}
        value={onDelete}
        allowDeselect={false}
        onChange={(action) => onEdit({ onDelete: action ?? 'no action' })}
      />
    </>
  );
}

export function AddPrimaryKey({ project, relation, onClose }: FormProps) {
  const t = useT();
  const [columns, setColumns] = useState<string[]>([]);
  return (
    <SqlDialog
      project={project}
      onClose={onClose}
      title={t('addPrimaryKey')}
      action={t('addPrimaryKey')}
      done={t('keyAdded', { name: columns.join(', ') })}
      sql={addPrimaryKeySql(relation, columns)}
    >
      <MultiSelect
        label={t('columns')}
        data={relation.columns.map(({ name }) => name)}
        value={columns}
        searchable
        onChange={setColumns}
      />
    </SqlDialog>
  );
}

export function ChangeIndex({
  project,
  relation,
  index,
  onClose,
}: FormProps & { index: Relation['indexes'][number] }) {
  const t = useT();
  const [next, setNext] = useState({ name: index.name, definition: index.definition });
  return (
    <SqlDialog
      project={project}
      onClose={onClose}
      title={t('changeIndex')}
      action={t('changeIndex')}
      done={t('objectChanged', { kind: t('kind_indexes'), name: next.name })}
      sql={changeIndexSql(relation, index, next)}
    >
      <TextInput
        label={t('name')}
        value={next.name}
        onChange={(event) => setNext({ ...next, name: event.currentTarget.value })}
      />
      {index.constraint === null ? (
        <>
          <Textarea
            label={t('indexDefinition')}
            autosize
            classNames={{ input: textStyles.mono }}
            value={next.definition}
            onChange={(event) => setNext({ ...next, definition: event.currentTarget.value })}
          />
          <Text size="sm" c="dimmed">
            {t('changeIndexText')}
          </Text>
        </>
      ) : null}
    </SqlDialog>
  );
}

export function ChangeForeignKey({
  project,
  relation,
  relations,
  foreignKey,
  onClose,
}: FormProps & { relations: readonly Relation[]; foreignKey: ForeignKey }) {
  const t = useT();
  const target = targetOf(foreignKey);
  const [next, setNext] = useState({
    name: foreignKey.name,
    target,
    onDelete: clausesOf(foreignKey).onDelete,
  });
  return (
    <SqlDialog
      project={project}
      onClose={onClose}
      title={t('changeForeignKey')}
      action={t('changeForeignKey')}
      done={t('objectChanged', { kind: t('kind_keys'), name: next.name })}
      sql={changeForeignKeySql(relation, foreignKey, next)}
    >
      <TextInput
        label={t('name')}
        value={next.name}
        onChange={(event) => setNext({ ...next, name: event.currentTarget.value })}
      />
      <ReferenceFields
        // The key may refer to columns other than those of a primary key.
        targets={[target, ...targetsIn(relations, target.columns.length)]}
        reference={next}
        onEdit={(part) => setNext({ ...next, ...part, target: part.target ?? next.target })}
      />
      <Text size="sm" c="dimmed">
        {t('changeForeignKeyText')}
      </Text>
    </SqlDialog>
  );
}
