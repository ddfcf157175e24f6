/**
 * A schema: a picture of its tables and their foreign keys that can be arranged and exported, and lists of its other
 * objects.
 */
import { Button, Group, Menu, Select, Tabs, Text, Title } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import type { Relation } from '../../queries/catalog-types';
import { type Project, useCatalog, useProject } from '../../queries/projects';
import { useT } from '../../i18n';
import { OBJECT_KINDS } from '../../lib/ddl-objects';
import { idOf, placesOf, type Point } from '../../lib/schema-layout';
import { keepPlaces, readPlaces } from '../../lib/schema-places';
import { announceFailure, Empty, Loaded } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { saveFile } from '../../ui/save-file';
import { Objects } from './objects';
import { Picture } from './picture';
import { pngOf, svgOf } from './export';
import styles from './schema.module.css';
import splitStyles from '../../ui/split.module.css';

const route = getRouteApi('/signed-in/projects/$slug/schema');

export function SchemaScreen() {
  const t = useT();
  const project = useProject();
  const catalog = useCatalog(project);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const kind = OBJECT_KINDS.find((one) => one === search.view);
  const schema = search.schema ?? project.settings.exposed_schemas[0] ?? 'public';
  return (
    <Tabs
      value={kind ?? 'picture'}
      onChange={(view) =>
        void navigate({ search: { ...search, view: view === 'picture' ? undefined : (view ?? undefined) } })
      }
      className={styles.screen}
    >
      <Tabs.List aria-label={t('schemaPicture')} className={styles.kinds}>
        {(['picture', ...OBJECT_KINDS] as const).map((one) => (
          <Tabs.Tab key={one} value={one}>
            {t(`objects_${one}`)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel key={kind} value={kind ?? 'picture'} className={styles.view}>
        <Loaded query={catalog}>
          {(relations) =>
            kind ? (
              <Objects
                project={project}
                kind={kind}
                schema={schema}
                relations={relations}
                onSchema={(next) => void navigate({ search: { ...search, schema: next } })}
              />
            ) : (
              <Schema project={project} schema={schema} relations={relations} />
            )
          }
        </Loaded>
      </Tabs.Panel>
    </Tabs>
  );
}

interface SchemaProps {
  readonly project: Project;
  readonly schema: string;
  readonly relations: readonly Relation[];
}

function Schema({ project, schema, relations }: SchemaProps) {
  const navigate = route.useNavigate();
  const tables = useMemo(
    () => relations.filter((one) => one.kind === 'table' && one.schema === schema),
    [relations, schema],
  );
  const { places, moved, setMoved } = usePlaces(project, schema, tables);
  const svg = useRef<SVGSVGElement>(null);
  return (
    <>
      <div className={splitStyles.head}>
        <Heading schema={schema} schemas={[...new Set([schema, ...relations.map((one) => one.schema)])]} />
        <Group gap="xs">
          <Arrange isDisabled={moved.size === 0} onClick={() => setMoved(new Map())} />
          <Export name={`${project.slug}-${schema}`} toSvg={() => svgOf(svg.current!, tables, places)} />
        </Group>
      </div>
      {tables.length === 0 ? (
        <NoTables project={project} schema={schema} />
      ) : (
        <Picture
          key={schema}
          svg={svg}
          tables={tables}
          places={places}
          onMove={(table, place) => setMoved(new Map(moved).set(idOf(table), place))}
          onOpen={({ name }) =>
            void navigate({
              to: '/projects/$slug/tables',
              params: { slug: project.slug },
              search: { schema, table: name, panel: 'structure' },
            })
          }
        />
      )}
    </>
  );
}

type Places = ReadonlyMap<string, Point>;

/** Positions of the tables, as arranged except for tables that the user moved. The browser stores the moves. */
function usePlaces({ id }: Project, schema: string, tables: readonly Relation[]) {
  const first = useMemo(() => placesOf(tables), [tables]);
  const stored = useMemo(() => readPlaces(id, schema), [id, schema]);
  const [changed, setChanged] = useState<{ schema: string; moved: Places } | null>(null);
  const moved = changed?.schema === schema ? changed.moved : stored;
  const places = useMemo(
    () => new Map([...first, ...[...moved].filter(([name]) => first.has(name))]),
    [first, moved],
  );
  const setMoved = (next: Places): void => {
    setChanged({ schema, moved: next });
    keepPlaces(id, schema, next);
  };
  return { places, moved, setMoved };
}

function Heading({ schema, schemas }: { schema: string; schemas: readonly string[] }) {
  const t = useT();
  const navigate = route.useNavigate();
  return (
    <Group gap="xs">
      <Title order={1} size="h4">
        {t('schemaPicture')}
      </Title>
      <Select
        size="xs"
        aria-label={t('schema')}
        data={schemas}
        value={schema}
        allowDeselect={false}
        onChange={(next) => void navigate({ search: { schema: next ?? schema } })}
      />
      <Text size="xs" c="dimmed" visibleFrom="xl">
        {t('schemaHint')}
      </Text>
    </Group>
  );
}

function Arrange({ isDisabled, onClick }: { isDisabled: boolean; onClick: () => void }) {
  const t = useT();
  return (
    <Button size="xs" variant="default" disabled={isDisabled} onClick={onClick}>
      {t('arrange')}
    </Button>
  );
}

function Export({ name, toSvg }: { name: string; toSvg: () => string }) {
  const t = useT();
  const save = async (kind: 'svg' | 'png'): Promise<void> => {
    try {
      const text = toSvg();
      const blob = kind === 'svg' ? new Blob([text], { type: 'image/svg+xml' }) : await pngOf(text);
      saveFile(blob, `${name}.${kind}`);
    } catch (error) {
      announceFailure(error, t('close'));
    }
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<Icon name="download" size={14} />}>
          {t('exportPicture')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void save('svg')}>SVG</Menu.Item>
        <Menu.Item onClick={() => void save('png')}>PNG</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function NoTables({ project, schema }: { project: Project; schema: string }) {
  const t = useT();
  return (
    <Empty icon="tree" title={t('noTablesIn', { schema })} text={t('noTablesText')}>
      <Button
        renderRoot={(props) => (
          <Link to="/projects/$slug/tables" params={{ slug: project.slug }} {...props} />
        )}
      >
        {t('tables')}
      </Button>
    </Empty>
  );
}
