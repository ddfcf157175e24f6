/** The structure of a table: columns, keys, indexes, and their changes by SQL that is shown first. */
import {
  ActionIcon,
  Badge,
  Button,
  Drawer,
  Group,
  Menu,
  Stack,
  Table,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { Relation } from '../../queries/catalog-types';
import { type Project, useMayWrite } from '../../queries/projects';
import { useLanguages, useT } from '../../i18n';
import { addColumnSql, BLANK_COLUMN, type NewColumn } from '../../lib/ddl';
import { formatBytes } from '../../lib/format';
import { identifier, qualified } from '../../lib/sql-text';
import { Icon } from '../../ui/icon';
import { Snippet } from '../../ui/parts';
import { SqlDialog } from '../../ui/sql-dialog';
import { ColumnForm } from './column-form';

const route = getRouteApi('/signed-in/projects/$slug/tables');

interface StructureProps {
  readonly project: Project;
  readonly relation: Relation;
  readonly relations: readonly Relation[];
}

/** A change that waits for the person: its SQL is shown. */
type Change =
  | { readonly kind: 'add' }
  | { readonly kind: 'rename'; readonly column: string | null }
  | { readonly kind: 'drop'; readonly column: string | null };

export function StructureButton(props: StructureProps) {
  const t = useT();
  const [isOpen, drawer] = useDisclosure();
  return (
    <>
      <Button size="xs" variant="default" leftSection={<Icon name="tree" size={14} />} onClick={drawer.open}>
        {t('structure')}
      </Button>
      <Drawer
        opened={isOpen}
        onClose={drawer.close}
        position="right"
        size="xl"
        title={`${props.relation.schema}.${props.relation.name}`}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <Structure {...props} />
      </Drawer>
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
              {t('rename')}
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
      <Columns relation={relation} onChange={isTable ? setChange : null} />
      <References relation={relation} />
      {relation.indexes.length > 0 ? (
        <div>
          <Title order={3} size="h5" mb="xs">
            {t('indexes')}
          </Title>
          <Stack gap="xs">
            {relation.indexes.map(({ name, definition }) => (
              <Snippet key={name} label={name} text={definition} />
            ))}
          </Stack>
        </div>
      ) : null}
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

function Columns({
  relation,
  onChange,
}: {
  relation: Relation;
  onChange: ((change: Change) => void) | null;
}) {
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
                  {column.name}
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
              <Table.Td className="wrap">{column.default ? <code>{column.default}</code> : null}</Table.Td>
              <Table.Td>
                {onChange ? (
                  <Menu position="bottom-end">
                    <Menu.Target>
                      <ActionIcon aria-label={t('actionsOf', { name: column.name })}>
                        <Icon name="dots" size={16} />
                      </ActionIcon>
                    </Menu.Target>
                    <Menu.Dropdown>
                      <Menu.Item onClick={() => onChange({ kind: 'rename', column: column.name })}>
                        {t('rename')}
                      </Menu.Item>
                      <Menu.Item color="red" onClick={() => onChange({ kind: 'drop', column: column.name })}>
                        {t('dropColumn')}
                      </Menu.Item>
                    </Menu.Dropdown>
                  </Menu>
                ) : null}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function References({ relation }: { relation: Relation }) {
  const t = useT();
  if (relation.foreignKeys.length === 0) return null;
  return (
    <div>
      <Title order={3} size="h5" mb="xs">
        {t('foreignKeys')}
      </Title>
      {relation.foreignKeys.map(({ name, columns, schema, table, targets }) => (
        <Text key={name} size="sm">
          <code>{columns.join(', ')}</code> → {schema}.{table} (<code>{targets.join(', ')}</code>)
        </Text>
      ))}
    </div>
  );
}

interface ChangeDialogProps extends StructureProps {
  readonly change: Change;
  readonly onClose: () => void;
}

function ChangeDialog({ project, relation, relations, change, onClose }: ChangeDialogProps) {
  const t = useT();
  const navigate = route.useNavigate();
  const { schema, name: table } = relation;
  const [column, setColumn] = useState<NewColumn>(BLANK_COLUMN);
  const [name, setName] = useState(change.kind === 'rename' ? (change.column ?? table) : '');
  const target = qualified(schema, table);
  const common = { project, onClose };
  switch (change.kind) {
    case 'add':
      return (
        <SqlDialog
          {...common}
          size="xl"
          title={t('addColumn')}
          sql={column.name === '' ? null : addColumnSql(schema, table, column)}
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
    case 'rename': {
      const from = change.column === null ? '' : ` column ${identifier(change.column)}`;
      const isSame = name === '' || name === (change.column ?? table);
      return (
        <SqlDialog
          {...common}
          title={t('rename')}
          sql={isSame ? null : `alter table ${target}\n  rename${from} to ${identifier(name)};`}
          onDone={
            change.column === null
              ? () => void navigate({ search: { schema, table: name } })
              : () => undefined
          }
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
    case 'drop':
      return (
        <SqlDialog
          {...common}
          danger
          title={change.column === null ? t('dropTable') : t('dropColumn')}
          sql={
            change.column === null
              ? `drop table ${target};`
              : `alter table ${target}\n  drop column ${identifier(change.column)};`
          }
          onDone={change.column === null ? () => void navigate({ search: { schema } }) : () => undefined}
        >
          <Text size="sm">{t('dropText')}</Text>
        </SqlDialog>
      );
  }
}
