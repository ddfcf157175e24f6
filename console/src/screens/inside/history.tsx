/** The history of requests, mails and deliveries: search, filters, and the details of an entry. The filter is in the address. */
import { Button, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { type HistoryEntry, type HistoryFilter, historyQuery } from '../../queries/history';
import type { Project } from '../../queries/projects';
import type { InsideSearch } from './inside-search';
import { useLanguages } from '../../i18n';
import { Empty, Loaded } from '../../ui/feedback';
import { HistoryDrawer } from './history-drawer';
import { HistoryFilters } from './history-filters';
import { HistoryTable } from './history-table';

const route = getRouteApi('/signed-in/projects/$slug/inside');

export function History({ project }: { project: Project }) {
  const { t } = useLanguages();
  const search = route.useSearch();
  const [wanted] = useDebouncedValue(search, 250);
  const filter = toFilter(wanted);
  const history = useInfiniteQuery(historyQuery(project, filter));
  const [opened, setOpened] = useState<HistoryEntry | null>(null);
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <Stack gap="sm">
      <HistoryFilters />
      <Loaded query={history}>
        {({ pages }) => {
          const entries = pages.flatMap((page) => page.entries);
          return entries.length === 0 ? (
            <Empty
              icon="history"
              title={isFiltered ? t('nothingFound') : t('noHistory')}
              text={isFiltered ? t('noHistoryFiltered') : t('noHistoryText')}
            />
          ) : (
            <HistoryTable entries={entries} onOpen={setOpened} />
          );
        }}
      </Loaded>
      {history.hasNextPage ? (
        <Button
          variant="default"
          w="fit-content"
          loading={history.isFetchingNextPage}
          onClick={() => void history.fetchNextPage()}
        >
          {t('historyMore')}
        </Button>
      ) : null}
      <Text size="xs" c="dimmed">
        {t('historyHint')}
      </Text>
      {opened === null ? null : (
        <HistoryDrawer project={project} entry={opened} onClose={() => setOpened(null)} />
      )}
    </Stack>
  );
}

/** Omits fields that are not set, and converts local times to times of the API. */
function toFilter(search: InsideSearch): HistoryFilter {
  const { source, status, filter, slower, since, until } = search;
  const texts = { source, outcome: status, search: filter?.slice(0, 200), slower };
  const times = { since: timeOf(since), until: timeOf(until) };
  return Object.fromEntries(Object.entries({ ...texts, ...times }).filter(([, value]) => value));
}

function timeOf(text: string | undefined): string | undefined {
  const time = new Date(text ?? '');
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}
