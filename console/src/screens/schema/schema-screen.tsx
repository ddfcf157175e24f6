/** A picture of the tables of a schema and their foreign keys, to move and to export. */
import { Button, Group, Menu, Select, Text, Title } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import type { Relation } from '../../queries/catalog-types';
import { type Project, useCatalog, useProject } from '../../queries/projects';
import { useT } from '../../i18n';
import { idOf, placesOf, type Point } from '../../lib/schema-layout';
import { keepPlaces, readPlaces } from '../../lib/schema-places';
import { announceFailure, Empty, Loaded } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { saveFile } from '../../ui/save-file';
import { Picture } from './picture';
import { pngOf, svgOf } from './export';
import styles from './schema.module.css';
import splitStyles from '../../ui/split.module.css';

const route = getRouteApi('/signed-in/projects/$slug/schema');

export function SchemaScreen() {
  const project = useProject();
  const catalog = useCatalog(project);
  return <Loaded query={catalog}>{(relations) => <Schema project={project} relations={relations} />}</Loaded>;
}

interface SchemaProps {
  readonly project: Project;
  readonly relations: readonly Relation[];
}

function Schema({ project, relations }: SchemaProps) {
  const navigate = route.useNavigate();
  const search = route.useSearch();
  const schema = search.schema ?? project.settings.exposed_schemas[0] ?? 'public';
  const tables = useMemo(
    () => relations.filter((one) => one.kind === 'table' && one.schema === schema),
    [relations, schema],
  );
  const { places, moved, setMoved } = usePlaces(project, schema, tables);
  const svg = useRef<SVGSVGElement>(null);
  return (
    <div className={styles.screen}>
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
    </div>
  );
}

type Places = ReadonlyMap<string, Point>;

/** Where the tables are: as arranged, except those that were moved. The browser keeps the moves. */
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
