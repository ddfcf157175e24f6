/** The structure of a table: columns, keys, indexes, and their changes by SQL that is shown first. */
import { ActionIcon, Badge, Button, Group, Menu, Stack, Table, Text, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Column, Relation } from '../../queries/catalog-types';
import { type Project, useMayWrite } from '../../queries/projects';
import { useLanguages, useT } from '../../i18n';
import { formatBytes } from '../../lib/format';
import { Icon } from '../../ui/icon';
import { IconButton, Snippet } from '../../ui/parts';
import { type Change, ChangeDialog } from './structure-dialogs';
import { SideDrawer } from '../../ui/dialog';
import textStyles from '../../ui/text.module.css';
import policyStyles from '../../ui/policy.module.css';

const route = getRouteApi('/signed-in/projects/$slug/tables');

interface StructureProps {
  readonly project: Project;
  readonly relation: Relation;
  readonly relations: readonly Relation[];
}

export function StructureButton(props: StructureProps) {
  const t = useT();
  const { panel } = route.useSearch();
  const navigate = route.useNavigate();
  const open = (isOpen: boolean): void =>
    void navigate({ search: (old) => ({ ...old, panel: isOpen ? 'structure' : undefined }) });
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<Icon name="tree" size={14} />}
        onClick={() => open(true)}
      >
        {t('structure')}
      </Button>
      <SideDrawer
        opened={panel === 'structure'}
        onClose={() => open(false)}
        position="right"
        size="xl"
        title={`${props.relation.schema}.${props.relation.name}`}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <Structure {...props} />
      </SideDrawer>
    </>
  );
}

function Structure({ project, relation, relations }: StructureProps) {
  const { t, language } = useLanguages();
  const [change, setChange] = useState<Change | null>(null);
  const isTable = useMayWrite(project) && relation.kind === 'table';
  return (
    <Stack gap="lg">
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          {formatBytes(relation.bytes, language)}
          {relation.comment ? ` · ${relation.comment}` : ''}
        </Text>
        {isTable ? (
          <Group gap="xs">
            <Button
              size="xs"
              leftSection={<Icon name="plus" size={14} />}
              onClick={() => setChange({ kind: 'add' })}
            >
              {t('addColumn')}
            </Button>
            <Button size="xs" variant="default" onClick={() => setChange({ kind: 'rename', column: null })}>
              {t('renameTable')}
            </Button>
            <Button
              size="xs"
              color="red"
              variant="light"
              onClick={() => setChange({ kind: 'drop', column: null })}
            >
              {t('dropTable')}
            </Button>
          </Group>
        ) : null}
      </Group>
      <Security relation={relation} onChange={isTable ? setChange : null} />
      <Columns relation={relation} onChange={isTable ? setChange : null} />
      <References relation={relation} onChange={isTable ? setChange : null} />
      <Indexes relation={relation} onChange={isTable ? setChange : null} />
      {change ? (
        <ChangeDialog
          project={project}
          relation={relation}
          relations={relations}
          change={change}
          onClose={() => setChange(null)}
        />
      ) : null}
    </Stack>
  );
}

interface PartProps {
  readonly relation: Relation;
  /** Null if the staff member may not change the table. */
  readonly onChange: ((change: Change) => void) | null;
}

function Part({ title, action, children }: { title: string; action: ReactNode; children: ReactNode }) {
  return (
    <section>
      <Group justify="space-between" mb="xs">
        <Title order={3} size="h5">
          {title}
        </Title>
        {action}
      </Group>
      {children}
    </section>
  );
}

function AddButton({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <Button
      size="compact-xs"
      variant="default"
      leftSection={<Icon name="plus" size={12} />}
      onClick={onClick}
    >
      {label}
    </Button>
  );
}

function Security({ relation: { kind, rls }, onChange }: PartProps) {
  const t = useT();
  if (kind !== 'table') return null;
  return (
    <Group justify="space-between">
      <Badge
        variant="light"
        color={rls ? 'plinth' : 'orange'}
        leftSection={<Icon name={rls ? 'lock' : 'unlock'} size={12} />}
      >
        {rls ? t('rlsOn') : t('rlsOff')}
      </Badge>
      {onChange ? (
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => onChange({ kind: 'security', enable: !rls })}
        >
          {rls ? t('disableRls') : t('enableRls')}
        </Button>
      ) : null}
    </Group>
  );
}

function Columns({ relation, onChange }: PartProps) {
  const t = useT();
  return (
    <Table.ScrollContainer minWidth={480}>
      <Table verticalSpacing={6} fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('column')}</Table.Th>
            <Table.Th>{t('type')}</Table.Th>
            <Table.Th>{t('defaultValue')}</Table.Th>
            <Table.Th aria-label={t('actions')} />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {relation.columns.map((column) => (
            <Table.Tr key={column.name}>
              <Table.Td>
                <Group gap={6}>
                  <span dir="auto">{column.name}</span>
                  {relation.primaryKey.includes(column.name) ? (
                    <Badge size="xs">{t('primaryKey')}</Badge>
                  ) : null}
                </Group>
              </Table.Td>
              <Table.Td>
                <code>{column.type}</code>
                {column.nullable ? null : (
                  <Text span size="xs" c="dimmed">
                    {' '}
                    not null
                  </Text>
                )}
              </Table.Td>
              <Table.Td className={textStyles.wrap}>
                {column.default ? <code>{column.default}</code> : null}
              </Table.Td>
              <Table.Td>{onChange ? <ColumnMenu column={column} onChange={onChange} /> : null}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function ColumnMenu({ column, onChange }: { column: Column; onChange: (change: Change) => void }) {
  const t = useT();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label={t('actionsOf', { name: column.name })}>
          <Icon name="dots" size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onChange({ kind: 'alter', column })}>{t('editColumn')}</Menu.Item>
        <Menu.Item onClick={() => onChange({ kind: 'rename', column: column.name })}>
          {t('renameColumn')}
        </Menu.Item>
        <Menu.Item
          c="var(--mantine-color-error)"
          onClick={() => onChange({ kind: 'drop', column: column.name })}
        >
          {t('dropColumn')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function References({ relation, onChange }: PartProps) {
  const t = useT();
  const { foreignKeys, kind } = relation;
  if (kind !== 'table') return null;
  return (
    <Part
      title={t('foreignKeys')}
      action={
        onChange ? (
          <AddButton label={t('addForeignKey')} onClick={() => onChange({ kind: 'addForeignKey' })} />
        ) : null
      }
    >
      {foreignKeys.length === 0 ? <Hint text={t('noForeignKeys')} /> : null}
      {foreignKeys.map((foreignKey) => {
        const { name, columns, schema, table, targets } = foreignKey;
        return (
          <Group key={name} gap={4} wrap="nowrap">
            <Text size="sm" className={textStyles.wrap} flex={1}>
              <code>{columns.join(', ')}</code> → {schema}.{table} (<code>{targets.join(', ')}</code>)
            </Text>
            {onChange ? (
              <>
                <IconButton
                  icon="edit"
                  label={`${t('changeForeignKey')} ${name}`}
                  onClick={() => onChange({ kind: 'changeForeignKey', foreignKey })}
                />
                <IconButton
                  icon="trash"
                  label={`${t('dropKey')} ${name}`}
                  onClick={() => onChange({ kind: 'dropConstraint', name })}
                />
              </>
            ) : null}
          </Group>
        );
      })}
    </Part>
  );
}

function Indexes({ relation, onChange }: PartProps) {
  const t = useT();
  const { indexes, primaryKey, kind } = relation;
  if (kind !== 'table' && indexes.length === 0) return null;
  return (
    <Part
      title={t('indexes')}
      action={
        onChange ? (
          <Group gap="xs">
            {primaryKey.length === 0 ? (
              <AddButton label={t('addPrimaryKey')} onClick={() => onChange({ kind: 'addPrimaryKey' })} />
            ) : null}
            <AddButton label={t('addIndex')} onClick={() => onChange({ kind: 'addIndex' })} />
          </Group>
        ) : null
      }
    >
      {indexes.length === 0 ? <Hint text={t('noIndexes')} /> : null}
      <Stack gap="xs">
        {indexes.map((index) => (
          <Group key={index.name} gap={4} wrap="nowrap">
            <div className={policyStyles.text}>
              <Snippet label={index.name} text={index.definition} />
            </div>
            {onChange ? (
              <>
                <IconButton
                  icon="edit"
                  label={`${t('changeIndex')} ${index.name}`}
                  onClick={() => onChange({ kind: 'changeIndex', index })}
                />
                <IconButton
                  icon="trash"
                  label={`${t('dropIndex')} ${index.name}`}
                  onClick={() => onChange({ ...index, kind: 'dropIndex' })}
                />
              </>
            ) : null}
          </Group>
        ))}
      </Stack>
    </Part>
  );
}

function Hint({ text }: { text: string }) {
  return (
    <Text size="sm" c="dimmed">
      {text}
    </Text>
  );
}
