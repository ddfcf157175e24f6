/** The page of a table's API: columns, policies in words, calls to copy, and a form to try them. The table is in the address. */
import { Anchor, Group, Select, Stack, Table, Text } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { Identity } from '../../api/identity';
import { useT } from '../../i18n';
import type { Relation } from '../../queries/catalog-types';
import { isExposed, type Project, useCatalog } from '../../queries/projects';
import { DataTable } from '../../ui/data-table';
import { Empty, Loaded } from '../../ui/feedback';
import { Section } from '../../ui/parts';
import textStyles from '../../ui/text.module.css';
import { Calls } from './calls';
import { PoliciesInWords } from './policies-in-words';

const route = getRouteApi('/signed-in/projects/$slug/api');

interface TablePagesProps {
  readonly project: Project;
  readonly identity: Identity;
}

const nameOf = ({ schema, name }: Pick<Relation, 'schema' | 'name'>): string => `${schema}.${name}`;

export function TablePages({ project, identity }: TablePagesProps) {
  const t = useT();
  const catalog = useCatalog(project);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Loaded query={catalog}>
      {(all) => {
        const relations = all.filter((one) => isExposed(project, one));
        const shown = relations.find((one) => nameOf(one) === search.table) ?? relations[0];
        if (!shown) return <Empty icon="table" title={t('apiNoTables')} text={t('apiNoTablesText')} />;
        return (
          <Stack gap="md">
            <Group gap="sm" align="end">
              <Select
                searchable
                allowDeselect={false}
                w={{ base: '100%', xs: 320 }}
                label={t('apiTable')}
                value={nameOf(shown)}
                data={relations.map(nameOf)}
                onChange={(table) => void navigate({ search: { ...search, table: table ?? undefined } })}
              />
              <Anchor
                size="sm"
                pb={8}
                renderRoot={(props) => (
                  <Link
                    to="/projects/$slug/tables"
                    params={{ slug: project.slug }}
                    search={{ schema: shown.schema, table: shown.name }}
                    {...props}
                  />
                )}
              >
                {t('apiOpenTable')}
              </Anchor>
            </Group>
            {shown.comment ? (
              <Text size="sm" dir="auto" className={textStyles.wrap}>
                {shown.comment}
              </Text>
            ) : null}
            <PoliciesInWords project={project} relation={shown} />
            <Calls key={nameOf(shown)} project={project} relation={shown} identity={identity} />
            <Columns relation={shown} />
          </Stack>
        );
      }}
    </Loaded>
  );
}

function Columns({ relation: { columns, primaryKey, foreignKeys } }: { relation: Relation }) {
  const t = useT();
  const notesOf = ({
    name,
    nullable,
    default: initial,
    always,
    comment,
  }: Relation['columns'][number]): string => {
    const target = foreignKeys.find((key) => key.columns.length === 1 && key.columns[0] === name);
    return [
      primaryKey.includes(name) ? t('apiKey') : null,
      always ? t('apiGenerated') : !nullable && initial === null ? t('apiRequired') : null,
      initial === null ? null : t('apiDefault', { value: initial }),
      target ? t('apiRefers', { target: `${target.table}.${target.targets[0] ?? ''}` }) : null,
      comment,
    ]
      .filter((text) => text !== null)
      .join(' · ');
  };
  return (
    <Section title={t('apiColumns')}>
      <DataTable minWidth={480} heads={[t('apiColumn'), t('apiType'), t('apiNotes')]}>
        {columns.map((column) => (
          <Table.Tr key={column.name}>
            <Table.Td className={`${textStyles.mono} ${textStyles.wrap}`} dir="auto">
              {column.name}
            </Table.Td>
            <Table.Td className={`${textStyles.mono} ${textStyles.wrap}`}>
              {column.labels ? `${column.type}: ${column.labels.join(', ')}` : column.type}
            </Table.Td>
            <Table.Td className={textStyles.wrap} dir="auto">
              {notesOf(column) || '–'}
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
    </Section>
  );
}
