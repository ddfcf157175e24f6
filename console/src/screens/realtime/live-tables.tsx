/** A switch for each table, which sends its changes to everyone who may read its rows. */
import { Switch, Table } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useT } from '../../i18n';
import { changeLiveTable, type LiveTable, liveTablesQuery } from '../../queries/live-tables';
import { type Project, useMay } from '../../queries/projects';
import { DataTable, Named } from '../../ui/data-table';
import { announce, announceFailure, Empty, Loaded } from '../../ui/feedback';
import { Section } from '../../ui/parts';

export function LiveTables({ project }: { project: Project }) {
  const t = useT();
  const tables = useQuery(liveTablesQuery(project));
  return (
    <Section title={t('liveTables')} text={t('liveTablesText')}>
      <Loaded query={tables}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon="table" title={t('noTables')} text={t('noLiveTablesText')} />
          ) : (
            <DataTable minWidth={320} heads={[t('table'), t('live')]}>
              {servedFirst(list, project).map((table) => (
                <Row key={`${table.schema}.${table.table}`} project={project} table={table} />
              ))}
            </DataTable>
          )
        }
      </Loaded>
    </Section>
  );
}

/** Sorts tables of exposed schemas before tables of Plinth and of other schemas. */
function servedFirst(tables: readonly LiveTable[], project: Project): LiveTable[] {
  const isServed = ({ schema }: LiveTable): boolean => project.settings.exposed_schemas.includes(schema);
  return tables.toSorted((a, b) => Number(isServed(b)) - Number(isServed(a)));
}

function Row({ project, table }: { project: Project; table: LiveTable }) {
  const t = useT();
  const client = useQueryClient();
  const mayChange = useMay(project, 'PATCH /admin/v1/projects/:id/live-tables');
  const name = `${table.schema}.${table.table}`;
  const change = useMutation({
    mutationFn: (live: boolean) =>
      changeLiveTable(project, { schema: table.schema, table: table.table, live }),
    onSuccess: async ({ live }) => {
      await client.invalidateQueries({ queryKey: liveTablesQuery(project).queryKey });
      announce(t(live ? 'tableIsLive' : 'tableIsNotLive', { name }));
    },
    onError: (error) => announceFailure(error, t('close')),
  });
  return (
    <Table.Tr>
      <Table.Td>
        <Named name={name} details={table.can_be_live ? '' : t('needsKeyToBeLive')} />
      </Table.Td>
      <Table.Td>
        <Switch
          aria-label={t('liveTable', { name })}
          checked={change.isPending ? change.variables : table.live}
          disabled={!mayChange || change.isPending || !(table.live || table.can_be_live)}
          onChange={(event) => change.mutate(event.currentTarget.checked)}
        />
      </Table.Td>
    </Table.Tr>
  );
}
