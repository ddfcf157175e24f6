/** The dialogs that change a table. Each shows its SQL while the form is filled in, and runs it on demand. */
import { Text, TextInput } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { Column, ForeignKey, Relation } from '../../queries/catalog-types';
import type { Project } from '../../queries/projects';
import { useT } from '../../i18n';
import { addColumnSql, BLANK_COLUMN, type NewColumn } from '../../lib/ddl';
import { dropConstraintSql, dropIndexSql } from '../../lib/ddl-alter';
import { securitySql } from '../../lib/policy-templates';
import { identifier, qualified } from '../../lib/sql-text';
import { SqlDialog } from '../../ui/sql-dialog';
import { ColumnForm } from './column-form';
import {
  AddForeignKey,
  AddIndex,
  AddPrimaryKey,
  AlterColumn,
  ChangeForeignKey,
  ChangeIndex,
} from '../../ui/structure-forms';

const route = getRouteApi('/signed-in/projects/$slug/tables');

/** A change that waits for a confirmation. */
export type Change =
  | { readonly kind: 'add' | 'addIndex' | 'addForeignKey' | 'addPrimaryKey' }
  | { readonly kind: 'alter'; readonly column: Column }
  | { readonly kind: 'rename' | 'drop'; readonly column: string | null }
  | { readonly kind: 'changeIndex'; readonly index: Relation['indexes'][number] }
  | { readonly kind: 'changeForeignKey'; readonly foreignKey: ForeignKey }
  | { readonly kind: 'dropIndex'; readonly name: string; readonly constraint: string | null }
  | { readonly kind: 'dropConstraint'; readonly name: string }
  | { readonly kind: 'security'; readonly enable: boolean };

interface ChangeDialogProps {
  readonly project: Project;
  readonly relation: Relation;
  readonly relations: readonly Relation[];
  readonly change: Change;
  readonly onClose: () => void;
}

export function ChangeDialog(props: ChangeDialogProps) {
  const t = useT();
  const { project, relation, change, onClose } = props;
  const { schema, name } = relation;
  const common = { project, onClose };
  switch (change.kind) {
    case 'add':
      return <AddColumn {...props} />;
    case 'alter':
      return <AlterColumn {...common} relation={relation} column={change.column} />;
    case 'addIndex':
      return <AddIndex {...common} relation={relation} />;
    case 'addForeignKey':
      return <AddForeignKey {...common} relation={relation} relations={props.relations} />;
    case 'addPrimaryKey':
      return <AddPrimaryKey {...common} relation={relation} />;
    case 'changeIndex':
      return <ChangeIndex {...common} relation={relation} index={change.index} />;
    case 'changeForeignKey':
      return <ChangeForeignKey {...props} foreignKey={change.foreignKey} />;
    case 'rename':
      return <Rename {...props} column={change.column} />;
    case 'drop':
      return <Drop {...props} column={change.column} />;
    case 'dropIndex':
      return (
        <SqlDialog
          {...common}
          danger
          title={t('dropIndex')}
          action={t('dropIndex')}
          done={t('dropped', { kind: t('kind_indexes'), name: change.name })}
          sql={dropIndexSql(relation, change.name, change.constraint)}
        />
      );
    case 'dropConstraint':
      return (
        <SqlDialog
          {...common}
          danger
          title={t('dropKey')}
          action={t('dropKey')}
          done={t('dropped', { kind: t('kind_keys'), name: change.name })}
          sql={dropConstraintSql(relation, change.name)}
        />
      );
    case 'security':
      return (
        <SqlDialog
          {...common}
          danger={!change.enable}
          title={change.enable ? t('enableRls') : t('disableRls')}
          action={change.enable ? t('enableRls') : t('disableRls')}
          done={t(change.enable ? 'rlsEnabled' : 'rlsDisabled', { name })}
          sql={securitySql(schema, name, change.enable)}
        >
          <Text size="sm">{change.enable ? t('enableRlsText') : t('rlsOffText')}</Text>
        </SqlDialog>
      );
  }
}

function AddColumn({ project, relation, relations, onClose }: ChangeDialogProps) {
  const t = useT();
  const [column, setColumn] = useState<NewColumn>(BLANK_COLUMN);
  return (
    <SqlDialog
      project={project}
      onClose={onClose}
      size="xl"
      title={t('addColumn')}
      action={t('addColumn')}
      done={t('columnAdded', { name: column.name })}
      sql={column.name === '' ? null : addColumnSql(relation.schema, relation.name, column)}
    >
      <ColumnForm
        column={column}
        relations={relations}
        withKey={false}
        onChange={setColumn}
        onRemove={null}
      />
    </SqlDialog>
  );
}

/** @param column null for the table itself */
function Rename({ project, relation, column, onClose }: ChangeDialogProps & { column: string | null }) {
  const t = useT();
  const navigate = route.useNavigate();
  const { schema, name: table } = relation;
  const [name, setName] = useState(column ?? table);
  const from = column === null ? '' : ` column ${identifier(column)}`;
  const title = t(column === null ? 'renameTable' : 'renameColumn');
  const isSame = name === '' || name === (column ?? table);
  return (
    <SqlDialog
      project={project}
      onClose={onClose}
      title={title}
      action={title}
      done={t('renamed', { kind: t(column === null ? 'table' : 'column'), from: column ?? table, to: name })}
      sql={isSame ? null : `alter table ${qualified(schema, table)}\n  rename${from} to ${identifier(name)};`}
      onDone={() => {
        if (column === null) void navigate({ search: (old) => ({ ...old, schema, table: name }) });
      }}
    >
      <TextInput
        label={t('newName')}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
      />
    </SqlDialog>
  );
}

function Drop({ project, relation, column, onClose }: ChangeDialogProps & { column: string | null }) {
  const t = useT();
  const navigate = route.useNavigate();
  const { schema, name } = relation;
  const target = qualified(schema, name);
  return (
    <SqlDialog
      project={project}
      onClose={onClose}
      danger
      title={column === null ? t('dropTable') : t('dropColumn')}
      action={column === null ? t('dropTable') : t('dropColumn')}
      done={t('dropped', { kind: t(column === null ? 'table' : 'column'), name: column ?? name })}
      sql={
        column === null
          ? `drop table ${target};`
          : `alter table ${target}\n  drop column ${identifier(column)};`
      }
      onDone={() => {
        if (column === null) void navigate({ search: { schema } });
      }}
    >
      <Text size="sm">{t('dropText')}</Text>
    </SqlDialog>
  );
}
