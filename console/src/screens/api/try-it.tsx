/** Sends a call as the chosen identity, and shows status, headers and body. A dry run is rolled back. */
import { Badge, Button, Checkbox, Code, Group, JsonInput, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { type Identity, projectHeaders } from '../../api/identity';
import { useLanguages } from '../../i18n';
import { formatMs } from '../../lib/format';
import { colorOfStatus } from '../../lib/history-text';
import { type Call, queryOf, tablePath } from '../../lib/snippets';
import type { Project } from '../../queries/projects';
import { Failure } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { Section, Snippet } from '../../ui/parts';

interface TryItProps {
  readonly project: Project;
  readonly place: {
    readonly url: string;
    readonly slug: string;
    readonly schema: string | null;
    readonly table: string;
  };
  readonly call: Call;
  readonly identity: Identity;
}

/** Number of characters of a response that are drawn. The response is not parsed, which would round large numbers. */
const SHOWN = 100_000;

export function TryIt({ project, place, call, identity }: TryItProps) {
  const { t } = useLanguages();
  const isWrite = call.method !== 'GET';
  const [query, setQuery] = useState(decodeURI(queryOf(call.query)));
  const [body, setBody] = useState(call.body ? JSON.stringify(call.body, null, 2) : '');
  const [isDry, setDry] = useState(true);
  const send = useMutation({
    mutationFn: async () => {
      const headers = await projectHeaders(project.id, identity);
      const began = performance.now();
      const response = await fetch(`${place.url}${tablePath(place)}${query === '' ? '' : `?${query}`}`, {
        method: call.method,
        credentials: 'omit',
        headers: {
          ...headers,
          ...(call.body ? { 'Content-Type': 'application/json' } : {}),
          ...(isWrite && isDry ? { Prefer: 'tx=rollback' } : {}),
        },
        ...(call.body ? { body } : {}),
      });
      const text = await response.text();
      return { response, text, ms: performance.now() - began };
    },
  });
  return (
    <Section title={t('apiTry')} text={t('apiTryText')}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          send.mutate();
        }}
      >
        <Stack gap="sm">
          <Code>{`${call.method} ${tablePath(place)}`}</Code>
          <TextInput
            label={t('apiQuery')}
            value={query}
            onChange={(event) => setQuery(event.currentTarget.value)}
          />
          {call.body ? (
            <JsonInput
              label={t('apiBody')}
              autosize
              minRows={3}
              maxRows={12}
              value={body}
              onChange={setBody}
            />
          ) : null}
          {isWrite ? (
            <Checkbox
              label={t('apiDryRun')}
              checked={isDry}
              onChange={(event) => setDry(event.currentTarget.checked)}
            />
          ) : null}
          <Group>
            <Button type="submit" loading={send.isPending} leftSection={<Icon name="play" size={16} />}>
              {t('apiSend')}
            </Button>
          </Group>
          {send.error ? <Failure error={send.error} /> : null}
          {send.data ? <Answer {...send.data} /> : null}
        </Stack>
      </form>
    </Section>
  );
}

function Answer({ response, text, ms }: { response: Response; text: string; ms: number }) {
  const { t, language } = useLanguages();
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
  return (
    <Stack gap="xs" role="region" aria-label={t('apiAnswer')}>
      <Group gap="xs">
        <Badge color={colorOfStatus(response.status)} variant="light">
          {response.status} {response.statusText}
        </Badge>
        <Text size="sm" c="dimmed">
          {formatMs(ms, language)}
        </Text>
      </Group>
      <Snippet label={t('apiBody')} text={text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text} />
      <details>
        <summary>{t('apiHeaders')}</summary>
        <Snippet label={t('apiHeaders')} text={headers} />
      </details>
    </Stack>
  );
}
