/** Requests, shown as they complete. */
import { Badge, Button, Group, SegmentedControl, Stack, Table, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { Project } from '../../queries/projects';
import { type Numbered, useLiveRequests } from '../../queries/live-requests';
import { useLanguages } from '../../i18n';
import { formatBytes, formatMs, formatNumber } from '../../lib/format';
import { colorOfStatus } from '../../lib/history-text';
import { AddressInput } from '../../ui/address-input';
import { Empty, Failure } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import styles from './inside.module.css';
import textStyles from '../../ui/text.module.css';

const route = getRouteApi('/signed-in/projects/$slug/inside');
/** Number of rows that are drawn. The filter searches all requests that the page holds. */
const MAX_ROWS = 200;
/** Number of characters of a path that are drawn. */
const MAX_PATH = 2_000;
const OUTCOMES = { all: 100, refused: 400, errors: 500 } as const;
type Outcome = keyof typeof OUTCOMES;

export function LiveRequests({ project }: { project: Project }) {
  const { t, language } = useLanguages();
  const { filter = '', status, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const live = useLiveRequests(project);
  const outcome: Outcome = status === 'refused' || status === 'errors' ? status : 'all';
  const wanted = filter.toLowerCase();
  const found = live.requests.filter(
    (one) =>
      one.status >= OUTCOMES[outcome] &&
      `${one.method} ${one.path} ${one.status} ${one.role ?? ''}`.toLowerCase().includes(wanted),
  );
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <AddressInput
          aria-label={t('filterRequests')}
          placeholder={t('filterRequests')}
          leftSection={<Icon name="filter" size={16} />}
          value={filter}
          w={{ base: '100%', xs: 280 }}
          onText={(text) =>
            void navigate({
              search: { ...search, ...(status ? { status } : {}), ...(text === '' ? {} : { filter: text }) },
              replace: true,
            })
          }
        />
        <SegmentedControl
          size="xs"
          aria-label={t('status')}
          value={outcome}
          data={[
            { value: 'all', label: t('all') },
            { value: 'refused', label: '≥ 400' },
            { value: 'errors', label: '≥ 500' },
          ]}
          onChange={(next) =>
            void navigate({
              search: {
                ...search,
                ...(filter ? { filter } : {}),
                ...(next === 'all' ? {} : { status: next }),
              },
            })
          }
        />
        <Button
          variant="default"
          leftSection={<Icon name={live.isPaused ? 'play' : 'pause'} size={16} />}
          onClick={live.togglePause}
        >
          {live.isPaused ? t('goOnWith', { count: live.waiting.length }) : t('pause')}
        </Button>
        <Button variant="default" onClick={live.clear}>
          {t('clear')}
        </Button>
        <Connection isConnected={live.isConnected} />
      </Group>
      {live.error ? <Failure error={live.error} /> : null}
      {live.dropped > 0 ? (
        <Text size="xs" c="dimmed">
          {t('droppedRequests', { count: formatNumber(live.dropped, language) })}
        </Text>
      ) : null}
      {found.length === 0 ? (
        <Empty
          icon="pulse"
          title={live.requests.length === 0 ? t('noRequests') : t('nothingFound')}
          text={live.requests.length === 0 ? t('noRequestsText') : t('noRequestsFiltered')}
        />
      ) : (
        <RequestTable requests={found.slice(0, MAX_ROWS)} />
      )}
    </Stack>
  );
}

function Connection({ isConnected }: { isConnected: boolean }) {
  const { t } = useLanguages();
  return (
    <Badge variant="light" color={isConnected ? 'plinth' : 'gray'} role="status">
      {isConnected ? t('connected') : t('connecting')}
    </Badge>
  );
}

function RequestTable({ requests }: { requests: readonly Numbered[] }) {
  const { t, language } = useLanguages();
  return (
    <Table.ScrollContainer minWidth={1000}>
      <Table verticalSpacing={4} layout="fixed" className={styles.requests}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={116}>{t('time')}</Table.Th>
            <Table.Th w={84}>{t('httpMethod')}</Table.Th>
            <Table.Th>{t('path')}</Table.Th>
            <Table.Th w={70}>{t('status')}</Table.Th>
            <Table.Th w={120}>{t('role')}</Table.Th>
            <Table.Th w={86} ta="right">
              {t('total')}
            </Table.Th>
            <Table.Th w={96} ta="right">
              {t('database')}
            </Table.Th>
            <Table.Th w={100} ta="right">
              {t('size')}
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {requests.map((one) => (
            <Table.Tr key={one.number}>
              <Table.Td className={textStyles.nowrap}>{timeOf(one.at, language)}</Table.Td>
              <Table.Td className={textStyles.truncate}>{one.method}</Table.Td>
              <Table.Td className={`${textStyles.mono} ${textStyles.wrap}`} dir="auto">
                {one.path.slice(0, MAX_PATH)}
              </Table.Td>
              <Table.Td>
                <Badge variant="light" color={colorOfStatus(one.status)}>
                  {one.status}
                </Badge>
              </Table.Td>
              <Table.Td className={textStyles.truncate}>{one.role ?? '–'}</Table.Td>
              <Table.Td ta="right">{formatMs(one.ms, language)}</Table.Td>
              <Table.Td ta="right">
                {one.ms_database === null ? '–' : formatMs(one.ms_database, language)}
              </Table.Td>
              <Table.Td ta="right">{formatBytes(one.bytes, language)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function timeOf(at: string, language: string): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return '–';
  return new Intl.DateTimeFormat(language, { timeStyle: 'medium' }).format(time);
}
