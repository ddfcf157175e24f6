/** The tables and views of a project, and the rows of the selected one. */
import { ActionIcon, Badge, Button, NavLink, ScrollArea, Select, TextInput, Tooltip } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Relation } from '../../queries/catalog-types';
import { isExposed, type Project, useCatalog, useMayWrite, useProject } from '../../queries/projects';
import { useT } from '../../i18n';
import { useActionDialog } from '../../ui/action-dialog';
import { SideDrawer } from '../../ui/dialog';
import { Empty, Loaded } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { CreateTable } from './create-table';
import { ImportTable } from './import-table';
import { TablePanel } from './table-panel';
import splitStyles from '../../ui/split.module.css';

const route = getRouteApi('/signed-in/projects/$slug/tables');

export function TablesScreen() {
  const t = useT();
  const project = useProject();
  const catalog = useCatalog(project);
  const mayWrite = useMayWrite(project);
  const [isCreating, dialog] = useActionDialog('newTable');
  const [isListOpen, list] = useDisclosure();
  const isNarrow = useMediaQuery('(max-width: 62em)') ?? false;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Loaded query={catalog}>
      {(relations) => {
        const schema = search.schema ?? project.settings.exposed_schemas[0] ?? 'public';
        const shown = relations.filter((one) => one.schema === schema);
        const chosen =
          shown.find(({ name }) => name === search.table) ?? (search.table ? undefined : shown[0]);
        const sidebar = (
          <TableList
            project={project}
            relations={relations}
            schema={schema}
            chosen={chosen}
            onCreate={dialog.open}
            onChoose={list.close}
          />
        );
        return (
          <div className={splitStyles.split}>
            {isNarrow ? (
              <SideDrawer opened={isListOpen} onClose={list.close} title={t('tables')} size="xs" padding="xs">
                {sidebar}
              </SideDrawer>
            ) : (
              <aside className={splitStyles.side} aria-label={t('tables')}>
                {sidebar}
              </aside>
            )}
            <section className={splitStyles.main}>
              {chosen ? (
                <TablePanel
                  key={`${chosen.schema} ${chosen.name}`}
                  project={project}
                  relation={chosen}
                  relations={relations}
                  onOpenList={isNarrow ? list.open : null}
                />
              ) : (
                <NoTable
                  schema={schema}
                  name={search.table ?? null}
                  onCreate={mayWrite ? dialog.open : null}
                  onOpenList={isNarrow && relations.length > 0 ? list.open : null}
                />
              )}
            </section>
            {isCreating ? (
              <CreateTable
                project={project}
                relations={relations}
                schema={schema}
                guessed={null}
                onClose={dialog.close}
                onCreated={(table) => void navigate({ search: { schema, table } })}
              />
            ) : null}
          </div>
        );
      }}
    </Loaded>
  );
}

interface NoTableProps {
  readonly schema: string;
  /** The table that the address names although it does not exist; null if it exists. */
  readonly name: string | null;
  /** Null if the staff member may not create tables. */
  readonly onCreate: (() => void) | null;
  readonly onOpenList: (() => void) | null;
}

function NoTable({ schema, name, onCreate, onOpenList }: NoTableProps) {
  const t = useT();
  const title = name === null ? t('noTablesIn', { schema }) : t('noTable', { name, schema });
  return (
    <Empty icon="table" title={title} text={onCreate ? t('noTablesText') : ''}>
      {onCreate ? (
        <Button onClick={onCreate} leftSection={<Icon name="plus" size={16} />}>
          {t('newTable')}
        </Button>
      ) : null}
      {onOpenList ? (
        <Button variant="default" onClick={onOpenList}>
          {t('tables')}
        </Button>
      ) : null}
    </Empty>
  );
}

interface TableListProps {
  readonly project: Project;
  readonly relations: readonly Relation[];
  readonly schema: string;
  readonly chosen: Relation | undefined;
  readonly onCreate: () => void;
  readonly onChoose: () => void;
}

function TableList({ project, relations, schema, chosen, onCreate, onChoose }: TableListProps) {
  const t = useT();
  const [filter, setFilter] = useState('');
  const found = relations.filter(
    (one) => one.schema === schema && one.name.toLowerCase().includes(filter.toLowerCase()),
  );
  return (
    <>
      <SideTools {...{ project, relations, schema, onCreate }} />
      <TextInput
        size="xs"
        mx="xs"
        mb={6}
        aria-label={t('searchTables')}
        placeholder={t('searchTables')}
        leftSection={<Icon name="search" size={14} />}
        value={filter}
        onChange={(event) => setFilter(event.currentTarget.value)}
      />
      <ScrollArea flex={1} px="xs">
        {found.map((relation) => (
          <NavLink
            key={relation.name}
            active={relation === chosen}
            onClick={onChoose}
            renderRoot={(props) => (
              <Link
                from="/projects/$slug/tables"
                to="."
                search={{ schema, table: relation.name }}
                {...props}
              />
            )}
            label={relation.name}
            leftSection={<Icon name={relation.kind === 'table' ? 'table' : 'eye'} size={16} />}
            rightSection={isExposed(project, relation) ? <RlsMark relation={relation} /> : null}
          />
        ))}
      </ScrollArea>
    </>
  );
}

/** The selected schema, its picture, and buttons for a new table. */
function SideTools(props: Pick<TableListProps, 'project' | 'relations' | 'schema' | 'onCreate'>) {
  const { project, relations, schema, onCreate } = props;
  const t = useT();
  const navigate = route.useNavigate();
  const mayWrite = useMayWrite(project);
  const schemas = [...new Set([...project.settings.exposed_schemas, ...relations.map((one) => one.schema)])];
  return (
    <div className={splitStyles.sideTools}>
      <Select
        aria-label={t('schema')}
        size="xs"
        data={schemas}
        value={schema}
        allowDeselect={false}
        onChange={(next) => void navigate({ search: { schema: next ?? schema } })}
      />
      <Tooltip label={t('schemaPicture')}>
        <ActionIcon
          variant="default"
          aria-label={t('schemaPicture')}
          renderRoot={(props) => (
            <Link
              to="/projects/$slug/schema"
              params={{ slug: project.slug }}
              search={{ schema }}
              {...props}
            />
          )}
        >
          <Icon name="tree" size={16} />
        </ActionIcon>
      </Tooltip>
      {mayWrite ? (
        <ImportTable
          project={project}
          relations={relations}
          schema={schema}
          onCreated={(table) => void navigate({ search: { schema, table } })}
        />
      ) : null}
      {mayWrite ? (
        <Tooltip label={t('newTable')}>
          <ActionIcon variant="default" aria-label={t('newTable')} onClick={onCreate}>
            <Icon name="plus" size={16} />
          </ActionIcon>
        </Tooltip>
      ) : null}
    </div>
  );
}

/** Warns about an exposed table without row-level security. */
function RlsMark({ relation }: { relation: Relation }) {
  const t = useT();
  if (relation.kind !== 'table' || relation.rls) return null;
  return (
    <Tooltip label={t('rlsOff')}>
      <Badge size="xs" color="orange" variant="light">
        {t('open')}
      </Badge>
    </Tooltip>
  );
}
