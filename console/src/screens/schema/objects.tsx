/** Types, functions, triggers, views, indexes, foreign keys and extensions: each is listed, created, changed and dropped by SQL that is shown first. */
import {
  Button,
  Code,
  Group,
  Select,
  Table,
  Text,
  TextInput,
  UnstyledButton,
  VisuallyHidden,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Relation } from '../../queries/catalog-types';
import { catalogObjectsQuery } from '../../queries/catalog-objects';
import { type Project, useMayWrite } from '../../queries/projects';
import { useT } from '../../i18n';
import { type ObjectKind, objectsOf, type SchemaObject } from '../../lib/ddl-objects';
import { DataTable } from '../../ui/data-table';
import { Empty, Loaded } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { DetailDrawer, IconButton, Snippet } from '../../ui/parts';
import splitStyles from '../../ui/split.module.css';
import textStyles from '../../ui/text.module.css';
import { type ObjectChange, ObjectDialog } from './object-dialogs';
import styles from './objects.module.css';

/** Maximum number of listed objects; the search finds more. */
const SHOWN = 300;

interface ObjectsProps {
  readonly project: Project;
  readonly kind: ObjectKind;
  readonly schema: string;
  readonly relations: readonly Relation[];
  readonly onSchema: (schema: string) => void;
}

export function Objects({ project, kind, schema, relations, onSchema }: ObjectsProps) {
  const t = useT();
  const catalog = useQuery(catalogObjectsQuery(project));
  const [search, setSearch] = useState('');
  const [change, setChange] = useState<ObjectChange | null>(null);
  const mayWrite = useMayWrite(project);
  return (
    <>
      <div className={splitStyles.head}>
        <VisuallyHidden renderRoot={(props) => <h1 {...props} />}>{t(`objects_${kind}`)}</VisuallyHidden>
        <Group gap="xs">
          {kind === 'extensions' ? null : (
            <Select
              size="xs"
              aria-label={t('schema')}
              data={[
                ...new Set([
                  schema,
                  ...project.settings.exposed_schemas,
                  ...relations.map((one) => one.schema),
                ]),
              ]}
              value={schema}
              allowDeselect={false}
              onChange={(next) => onSchema(next ?? schema)}
            />
          )}
          <TextInput
            size="xs"
            aria-label={t('searchObjects')}
            placeholder={t('searchObjects')}
            leftSection={<Icon name="search" size={14} />}
            value={search}
            onChange={(event) => setSearch(event.currentTarget.value)}
          />
        </Group>
        {mayWrite && kind !== 'extensions' ? (
          <Button
            size="xs"
            leftSection={<Icon name="plus" size={14} />}
            onClick={() => setChange({ kind: 'create' })}
          >
            {t(`new_${kind}`)}
          </Button>
        ) : null}
      </div>
      <div className={styles.list} role="region" aria-label={t(`objects_${kind}`)} tabIndex={0}>
        <Loaded query={catalog}>
          {(objects) => {
            const found = objectsOf(kind, objects, relations).filter(
              (one) =>
                (kind === 'extensions' || one.schema === schema) &&
                `${one.name} ${one.details.join(' ')}`.toLowerCase().includes(search.toLowerCase()),
            );
            return <ObjectList objects={found} kind={kind} onChange={setChange} mayWrite={mayWrite} />;
          }}
        </Loaded>
      </div>
      {change ? (
        <ObjectDialog
          project={project}
          kind={kind}
          schema={schema}
          relations={relations}
          functions={catalog.data?.functions ?? []}
          change={change}
          onClose={() => setChange(null)}
        />
      ) : null}
    </>
  );
}

interface ObjectListProps {
  readonly objects: readonly SchemaObject[];
  readonly kind: ObjectKind;
  readonly mayWrite: boolean;
  readonly onChange: (change: ObjectChange) => void;
}

function ObjectList({ objects, kind, mayWrite, onChange }: ObjectListProps) {
  const t = useT();
  const [shown, setShown] = useState<SchemaObject | null>(null);
  if (objects.length === 0) return <Empty icon="tree" title={t(`none_${kind}`)} text={t(`about_${kind}`)} />;
  return (
    <>
      <DataTable minWidth={520} heads={[t('name'), t('details'), null]} isHoverable>
        {objects.slice(0, SHOWN).map((one) => (
          <Table.Tr key={JSON.stringify([one.schema, one.table, one.name, one.details])}>
            <Table.Td>
              {one.definition === null ? (
                <Text size="sm" dir="auto">
                  {one.name}
                </Text>
              ) : (
                <UnstyledButton className={styles.name} dir="auto" onClick={() => setShown(one)}>
                  {one.name}
                </UnstyledButton>
              )}
            </Table.Td>
            <Table.Td className={textStyles.wrap}>
              <Group gap={6}>
                {one.details.map((detail, index) => (
                  <Code key={index} dir="auto">
                    {detail.slice(0, 200)}
                  </Code>
                ))}
              </Group>
            </Table.Td>
            <Table.Td>{mayWrite ? <Actions object={one} onChange={onChange} /> : null}</Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
      {objects.length > SHOWN ? (
        <Text size="xs" c="dimmed" p="xs">
          {t('moreNames', { count: objects.length - SHOWN })}
        </Text>
      ) : null}
      {shown ? (
        <DetailDrawer title={shown.name} onClose={() => setShown(null)}>
          <Snippet label={shown.name} text={shown.definition ?? ''} />
        </DetailDrawer>
      ) : null}
    </>
  );
}

function Actions({ object, onChange }: { object: SchemaObject; onChange: (change: ObjectChange) => void }) {
  const t = useT();
  const { name, replace, labels, drop, kind } = object;
  if (kind === 'extensions' && drop === null)
    return (
      <Button size="compact-xs" variant="default" onClick={() => onChange({ kind: 'change', object })}>
        {t('installExtension', { name })}
      </Button>
    );
  return (
    <Group gap={2} wrap="nowrap" justify="end">
      {replace !== null || labels || kind === 'indexes' || kind === 'keys' ? (
        <IconButton
          icon="edit"
          label={t('changeObject', { name })}
          onClick={() => onChange({ kind: 'change', object })}
        />
      ) : null}
      <IconButton
        icon="trash"
        label={t('dropObject', { name })}
        onClick={() => onChange({ kind: 'drop', object })}
      />
    </Group>
  );
}
