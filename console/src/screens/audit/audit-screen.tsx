/** The audit log: filters, shows and exports it, and verifies its chain of hashes. The filter is in the address. */
import { Button, Group, Menu, Table, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { PLINTH_URL } from '../../api/base-url';
import { api, assertOk, type Schema } from '../../api/client';
import { sessionHeaders, useSession } from '../../api/session';
import { useLanguages, useT } from '../../i18n';
import { formatTime } from '../../lib/format';
import { projectsQuery } from '../../queries/projects';
import { AddressInput } from '../../ui/address-input';
import { DataTable } from '../../ui/data-table';
import { announceFailure, Empty, Loaded } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { Page } from '../../ui/parts';
import { saveFile } from '../../ui/save-file';
import { ChainState } from './chain-state';
import textStyles from '../../ui/text.module.css';

const route = getRouteApi('/signed-in/audit-log');
const PER_PAGE = 100;

export interface AuditSearch {
  readonly actor?: string;
  readonly action?: string;
  readonly project_id?: string;
  /** A time as the input field returns it, `2026-01-31T08:00`, without a time zone. */
  readonly since?: string;
  readonly until?: string;
}

type Entry = Schema<'AuditLogEntry'>;

export function AuditScreen() {
  const t = useT();
  const search = route.useSearch();
  const [wanted] = useDebouncedValue(search, 250);
  const filter = toFilter(wanted);
  const entries = useInfiniteQuery({
    queryKey: ['audit-log', filter],
    queryFn: ({ pageParam }) => readPage(filter, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  });
  return (
    <Page title={t('auditLog')} text={t('auditText')} actions={<ExportMenu filter={filter} />}>
      <ChainState />
      <Filters search={search} />
      <Loaded query={entries}>
        {({ pages }) => {
          const list = pages.flatMap((page) => page.entries);
          return list.length === 0 ? (
            <Empty icon="history" title={t('auditEmpty')} text={t('auditText')} />
          ) : (
            <EntryTable entries={list} />
          );
        }}
      </Loaded>
      {entries.hasNextPage ? (
        <Button
          mt="md"
          variant="default"
          loading={entries.isFetchingNextPage}
          onClick={() => void entries.fetchNextPage()}
        >
          {t('auditMore')}
        </Button>
      ) : null}
    </Page>
  );
}

async function readPage(
  filter: AuditSearch,
  before: string | null,
): Promise<{ entries: Entry[]; next: string | null }> {
  const query = { ...filter, limit: PER_PAGE, ...(before === null ? {} : { before }) };
  const { data, response } = await api.GET('/admin/v1/audit-log', { params: { query } });
  return { entries: data as Entry[], next: response.headers.get('X-Next-Cursor') };
}

/** Omits empty fields and invalid times. Local times become times of the API. */
function toFilter({ since, until, ...texts }: AuditSearch): AuditSearch {
  const times = Object.entries({ since, until }).flatMap(([name, text]) => {
    const time = new Date(text ?? '');
    return Number.isNaN(time.getTime()) ? [] : [[name, time.toISOString()]];
  });
  return { ...texts, ...(Object.fromEntries(times) as AuditSearch) };
}

function Filters({ search }: { search: AuditSearch }) {
  const t = useT();
  const navigate = route.useNavigate();
  const set = (name: keyof AuditSearch) => (value: string) => {
    const { [name]: _former, ...others } = search;
    void navigate({ search: value === '' ? others : { ...others, [name]: value }, replace: true });
  };
  const fields = [
    ['actor', t('auditPerson'), 'text'],
    ['action', t('auditAction'), 'text'],
    ['project_id', t('auditProject'), 'text'],
    ['since', t('auditSince'), 'datetime-local'],
    ['until', t('auditUntil'), 'datetime-local'],
  ] as const;
  return (
    <Group gap="xs" mb="md" align="end">
      {fields.map(([name, label, type]) => (
        <AddressInput
          key={name}
          size="xs"
          label={label}
          type={type}
          value={search[name] ?? ''}
          onText={set(name)}
        />
      ))}
    </Group>
  );
}

function EntryTable({ entries }: { entries: readonly Entry[] }) {
  const { t, language } = useLanguages();
  const projects = useQuery(projectsQuery()).data ?? [];
  const names = new Map(projects.map(({ id, name }) => [id, name]));
  return (
    <DataTable
      minWidth={1000}
      heads={[
        t('auditTime'),
        t('auditPerson'),
        t('auditAction'),
        t('auditProjectName'),
        t('auditAddress'),
        t('auditDetails'),
      ]}
    >
      {entries.map((entry) => (
        <Table.Tr key={entry.id}>
          <Table.Td className={textStyles.nowrap}>{formatTime(entry.at, language)}</Table.Td>
          <Table.Td dir="auto" className={textStyles.truncate} maw={220} title={entry.actor}>
            {withoutId(entry.actor)}
          </Table.Td>
          <Table.Td>
            <code>{entry.action}</code>
          </Table.Td>
          <Table.Td dir="auto" className={textStyles.truncate} maw={220} title={entry.project_id ?? ''}>
            {names.get(entry.project_id ?? '') ?? entry.project_id ?? '–'}
          </Table.Td>
          <Table.Td className={textStyles.mono}>{entry.address ?? '–'}</Table.Td>
          <Table.Td className={textStyles.wrap} title={JSON.stringify(entry.details)}>
            {typeof entry.details.sql === 'string' ? (
              <Text size="xs" className={textStyles.mono} dir="auto" lineClamp={3}>
                {entry.details.sql}
              </Text>
            ) : null}
            <Text size="xs" dir="auto">
              {detailsOf(entry)}
            </Text>
          </Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}

/** The actor is `e-mail (id)`; the id is in the title of the cell. */
const withoutId = (actor: string): string => actor.replace(/ \([0-9a-f-]{36}\)$/, '');

/** Long values are cut and digests omitted; the title of the cell and the export have the complete values. */
const DETAIL_CHARACTERS = 40;
const DIGEST = /^[0-9a-f]{64}$/;

function detailsOf({ details }: Entry): string {
  const { sql: _shown, ...others } = details;
  const parts = Object.entries(others).flatMap(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return DIGEST.test(text)
      ? []
      : `${name}: ${text.length > DETAIL_CHARACTERS ? `${text.slice(0, DETAIL_CHARACTERS)}…` : text}`;
  });
  return parts.join(' · ') || '–';
}

function ExportMenu({ filter }: { filter: AuditSearch }) {
  const t = useT();
  const session = useSession();
  const addressOf = (format: string): string =>
    `${PLINTH_URL}/admin/v1/audit-log/export?${new URLSearchParams({ ...filter, format }).toString()}`;
  const save = useMutation({
    mutationFn: async (format: string) => {
      const response = await fetch(addressOf(format), { headers: sessionHeaders(), credentials: 'omit' });
      saveFile(await (await assertOk(response)).blob(), `audit-log.${format}`);
    },
    onError: (error) => announceFailure(error, t('close')),
  });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<Icon name="download" size={16} />} loading={save.isPending}>
          {t('auditExport')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {['csv', 'jsonl'].map((format) =>
          // With a cookie the browser streams the file itself, but the key must be sent in a header, which a
          // link cannot do.
          session?.by === 'cookie' ? (
            <Menu.Item key={format} component="a" href={addressOf(format)} download>
              {format}
            </Menu.Item>
          ) : (
            <Menu.Item key={format} onClick={() => save.mutate(format)}>
              {format}
            </Menu.Item>
          ),
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
