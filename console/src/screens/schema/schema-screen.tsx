/** A picture of the tables of a schema and their foreign keys, to move about, and to export. */
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

const route = getRouteApi('/signed-in/projects/$slug/schema');

export function SchemaScreen() {
  const project = useProject();
  const catalog = useCatalog(project);
  return <Loaded query={catalog}>{(relations) => <Schema project={project} relations={relations} />}</Loaded>;
}

function Schema({ project, relations }: { project: Project; relations: readonly Relation[] }) {
  const t = useT();
  const navigate = route.useNavigate();
  const search = route.useSearch();
  const schema = search.schema ?? project.settings.exposed_schemas[0] ?? 'public';
  const tables = useMemo(
    () => relations.filter((one) => one.kind === 'table' && one.schema === schema),
    [relations, schema],
  );
  const first = useMemo(() => placesOf(tables), [tables]);
  const [moved, setPlaces] = useState(() => readPlaces(project.id, schema));
  const setMoved = (next: ReadonlyMap<string, Point>): void => {
    setPlaces(next);
    keepPlaces(project.id, schema, next);
  };
  const places = useMemo(
    () => new Map([...first, ...[...moved].filter(([id]) => first.has(id))]),
    [first, moved],
  );
  const svg = useRef<SVGSVGElement>(null);
  const schemas = [...new Set([schema, ...relations.map((one) => one.schema)])];

  const save = async (kind: 'svg' | 'png'): Promise<void> => {
    try {
      const text = svgOf(svg.current!, tables, places);
      const blob = kind === 'svg' ? new Blob([text], { type: 'image/svg+xml' }) : await pngOf(text);
      saveFile(blob, `${project.slug}-${schema}.${kind}`);
    } catch (error) {
      announceFailure(error, t('close'));
    }
  };

  return (
    <div className="schema">
      <div className="table-head">
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
            onChange={(next) => {
              setPlaces(readPlaces(project.id, next ?? schema));
              void navigate({ search: { schema: next ?? schema } });
            }}
          />
          <Text size="xs" c="dimmed" visibleFrom="xl">
            {t('schemaHint')}
          </Text>
        </Group>
        <Group gap="xs">
          <Button size="xs" variant="default" disabled={moved.size === 0} onClick={() => setMoved(new Map())}>
            {t('arrange')}
          </Button>
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
        </Group>
      </div>
      {tables.length === 0 ? (
        <Empty icon="tree" title={t('noTables')} text={t('noTablesText')}>
          <Button
            renderRoot={(props) => (
              <Link to="/projects/$slug/tables" params={{ slug: project.slug }} {...props} />
            )}
          >
            {t('tables')}
          </Button>
        </Empty>
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
