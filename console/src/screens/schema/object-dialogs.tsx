/** The dialogs of the objects of a schema. */
import { Select, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import type { Schema } from '../../api/client';
import type { Relation } from '../../queries/catalog-types';
import type { Project } from '../../queries/projects';
import { useT } from '../../i18n';
import { createExtensionSql, type ObjectKind, type SchemaObject } from '../../lib/ddl-objects';
import { Dialog } from '../../ui/dialog';
import { SqlDialog } from '../../ui/sql-dialog';
import { AddForeignKey, AddIndex, ChangeForeignKey, ChangeIndex } from '../../ui/structure-forms';
import textStyles from '../../ui/text.module.css';
import { CreateFunction, CreateTrigger, CreateView, EnumForm } from './object-forms';

export type ObjectChange =
  | { readonly kind: 'create' }
  | { readonly kind: 'change' | 'drop'; readonly object: SchemaObject };

interface ObjectDialogProps {
  readonly project: Project;
  readonly kind: ObjectKind;
  readonly schema: string;
  readonly relations: readonly Relation[];
  readonly functions: Schema<'CatalogObjects'>['functions'];
  readonly change: ObjectChange;
  readonly onClose: () => void;
}

export function ObjectDialog(props: ObjectDialogProps) {
  const { project, change, schema, onClose } = props;
  const t = useT();
  const common = { project, schema, onClose };
  if (change.kind === 'create') return <Create {...props} />;
  const { object } = change;
  const { name } = object;
  if (change.kind === 'drop')
    return (
      <SqlDialog
        {...common}
        danger
        title={t('dropObject', { name })}
        action={t('dropObject', { name })}
        done={t('dropped', { kind: t(`kind_${object.kind}`), name })}
        sql={object.drop}
      >
        <Text size="sm">{t('dropObjectText')}</Text>
      </SqlDialog>
    );
  if (object.labels) return <EnumForm {...common} changed={object} />;
  if (object.kind === 'extensions')
    return (
      <SqlDialog
        {...common}
        title={t('installExtension', { name })}
        action={t('installExtension', { name })}
        done={t('extensionInstalled', { name })}
        sql={createExtensionSql(name, 'extensions')}
      >
        <Text size="sm">{object.details[1]}</Text>
      </SqlDialog>
    );
  return <ChangeOfTable {...props} object={object} />;
}

/** Changes an index or a foreign key by a form, and any other object by its statement. */
function ChangeOfTable({
  project,
  relations,
  object,
  onClose,
}: ObjectDialogProps & { object: SchemaObject }) {
  const { schema, table, name } = object;
  // Keeps the old state: when the object is renamed, the catalog has the new name before the dialog has closed.
  const [relation] = useState(() => relations.find((one) => one.schema === schema && one.name === table));
  const common = { project, onClose };
  const index = relation?.indexes.find((one) => one.name === name);
  if (relation && object.kind === 'indexes' && index)
    return <ChangeIndex {...common} relation={relation} index={index} />;
  const foreignKey = relation?.foreignKeys.find((one) => one.name === name);
  if (relation && object.kind === 'keys' && foreignKey)
    return <ChangeForeignKey {...common} relation={relation} relations={relations} foreignKey={foreignKey} />;
  return <Replace {...common} object={object} />;
}

function Create(props: ObjectDialogProps) {
  const { kind } = props;
  switch (kind) {
    case 'types':
      return <EnumForm {...props} changed={null} />;
    case 'functions':
      return <CreateFunction {...props} />;
    case 'triggers':
      return <CreateTrigger {...props} />;
    case 'views':
      return <CreateView {...props} />;
    case 'indexes':
    case 'keys':
      return <OfTable {...props} />;
    case 'extensions':
      return null;
  }
}

/** Asks for the table of a new index or foreign key. */
function OfTable({ project, kind, schema, relations, onClose }: ObjectDialogProps) {
  const t = useT();
  const tables = relations.filter((one) => one.schema === schema && one.kind === 'table');
  const [relation, setRelation] = useState<Relation | null>(null);
  if (relation && kind === 'indexes')
    return <AddIndex project={project} relation={relation} onClose={onClose} />;
  if (relation)
    return <AddForeignKey project={project} relation={relation} relations={relations} onClose={onClose} />;
  return (
    <Dialog onClose={onClose} title={t(kind === 'indexes' ? 'new_indexes' : 'new_keys')}>
      <Select
        label={t('table')}
        data={tables.map(({ name }) => name)}
        searchable
        data-autofocus
        onChange={(name) => setRelation(tables.find((one) => one.name === name) ?? null)}
      />
    </Dialog>
  );
}

/** The statement as PostgreSQL prints it, to edit and run again. */
function Replace({
  project,
  object,
  onClose,
}: Pick<ObjectDialogProps, 'project' | 'onClose'> & { object: SchemaObject }) {
  const t = useT();
  const first = object.replace ?? '';
  const [sql, setSql] = useState(first);
  const { name } = object;
  return (
    <SqlDialog
      project={project}
      onClose={onClose}
      size="xl"
      title={t('changeObject', { name })}
      action={t('saveObject', { name })}
      done={t('objectChanged', { kind: t(`kind_${object.kind}`), name })}
      sql={sql.trim() === '' || sql === first ? null : sql}
    >
      <Stack gap="xs">
        <Textarea
          label={t('statement')}
          autosize
          minRows={6}
          maxRows={24}
          spellCheck={false}
          classNames={{ input: textStyles.mono }}
          value={sql}
          onChange={(event) => setSql(event.currentTarget.value)}
          data-autofocus
        />
      </Stack>
    </SqlDialog>
  );
}
