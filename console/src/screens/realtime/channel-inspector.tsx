/** Joins a channel as an identity, shows what arrives, and sends messages. */
import {
  Alert,
  Badge,
  Button,
  Checkbox,
  Group,
  JsonInput,
  Select,
  Stack,
  Table,
  Text,
  TextInput,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Identity, SERVICE_ROLE } from '../../api/identity';
import { useLanguages, useT } from '../../i18n';
import { type ChannelMessage, useChannel } from '../../queries/channel';
import { liveTablesQuery } from '../../queries/live-tables';
import type { Project } from '../../queries/projects';
import { DataTable } from '../../ui/data-table';
import { announce, Empty } from '../../ui/feedback';
import { Section } from '../../ui/parts';
import textStyles from '../../ui/text.module.css';
import { ViewAs } from '../../ui/view-as';

/** Number of characters of a payload that are drawn. */
const MAX_PAYLOAD = 2_000;

export function ChannelInspector({ project }: { project: Project }) {
  const t = useT();
  const channel = useChannel(project);
  const isIn = channel.status !== 'left';
  return (
    <Section title={t('channel')} text={t('channelText')}>
      <Stack gap="sm">
        <JoinForm project={project} channel={channel} />
        {channel.problem ? (
          <Alert color="red" variant="light" role="alert">
            {channel.problem}
          </Alert>
        ) : null}
        {channel.status === 'joined' ? <SendForm onSend={channel.send} /> : null}
        {channel.present.length > 0 ? (
          <Text size="sm" dir="auto">
            {t('presentKeys', { keys: channel.present.join(', ') })}
          </Text>
        ) : null}
        {channel.messages.length > 0 ? (
          <Messages messages={channel.messages} />
        ) : isIn ? (
          <Empty icon="pulse" title={t('noMessages')} text={t('noMessagesText')} />
        ) : null}
      </Stack>
    </Section>
  );
}

interface JoinFormProps {
  readonly project: Project;
  readonly channel: ReturnType<typeof useChannel>;
}

function JoinForm({ project, channel }: JoinFormProps) {
  const t = useT();
  const [name, setName] = useState('');
  const [isPrivate, setPrivate] = useState(false);
  const [table, setTable] = useState<string | null>(null);
  const [identity, setIdentity] = useState<Identity>(SERVICE_ROLE);
  const live = (useQuery(liveTablesQuery(project)).data ?? []).filter((one) => one.live);
  const isIn = channel.status !== 'left';
  const nameOf = (one: (typeof live)[number]): string => `${one.schema}.${one.table}`;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const chosen = live.find((one) => nameOf(one) === table);
        const target = chosen ? { schema: chosen.schema, table: chosen.table } : null;
        channel.join({ name, isPrivate, identity, table: target });
      }}
    >
      <Group gap="xs" align="end">
        <TextInput
          label={t('name')}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={200}
          required
          disabled={isIn}
        />
        <Select
          label={t('changesOfTable')}
          placeholder={t('noChanges')}
          data={live.map(nameOf)}
          value={table}
          onChange={setTable}
          clearable
          disabled={isIn}
        />
        <Checkbox
          label={t('privateChannel')}
          checked={isPrivate}
          onChange={(event) => setPrivate(event.currentTarget.checked)}
          disabled={isIn}
          mb={8}
        />
        <ViewAs project={project} identity={identity} onChange={setIdentity} />
        {/* With keys, because a click on a button that becomes one of type submit would join again. */}
        {isIn ? (
          <Button key="leave" variant="default" onClick={channel.leave}>
            {t('leaveChannel')}
          </Button>
        ) : (
          <Button key="join" type="submit">
            {t('joinChannel')}
          </Button>
        )}
        <Badge variant="light" color={channel.status === 'joined' ? 'plinth' : 'gray'} role="status" mb={8}>
          {t(`channel_${channel.status}`)}
        </Badge>
      </Group>
    </form>
  );
}

function SendForm({ onSend }: { onSend: (event: string, payload: unknown) => Promise<string> }) {
  const t = useT();
  const [event, setEvent] = useState('message');
  const [text, setText] = useState('{ "text": "Hello" }');
  const [problem, setProblem] = useState<string | null>(null);
  const send = async (): Promise<void> => {
    let payload: unknown;
    try {
      payload = JSON.parse(text);
    } catch {
      return setProblem(t('invalidJson'));
    }
    const outcome = await onSend(event, payload);
    setProblem(outcome === 'ok' ? null : t('notSent'));
    if (outcome === 'ok') announce(t('messageSent', { event }));
  };
  return (
    <form
      onSubmit={(submitted) => {
        submitted.preventDefault();
        void send();
      }}
    >
      <Group gap="xs" align="end">
        <TextInput
          label={t('event')}
          value={event}
          onChange={(change) => setEvent(change.currentTarget.value)}
          maxLength={200}
          required
        />
        <JsonInput
          label={t('payload')}
          value={text}
          onChange={setText}
          error={problem}
          validationError={t('invalidJson')}
          minRows={1}
          autosize
          flex={1}
          miw={220}
          classNames={{ input: textStyles.mono }}
        />
        <Button type="submit" variant="default">
          {t('sendMessage')}
        </Button>
      </Group>
    </form>
  );
}

function Messages({ messages }: { messages: readonly ChannelMessage[] }) {
  const { t, language } = useLanguages();
  const time = new Intl.DateTimeFormat(language, { timeStyle: 'medium' });
  return (
    <DataTable minWidth={640} heads={[t('time'), t('kind'), t('event'), t('payload')]}>
      {messages.map(({ number, at, kind, event, payload }) => (
        <Table.Tr key={number}>
          <Table.Td className={textStyles.nowrap}>{time.format(at)}</Table.Td>
          <Table.Td>
            <Badge variant="light" color={kind === 'system' ? 'gray' : 'plinth'}>
              {t(`message_${kind}`)}
            </Badge>
          </Table.Td>
          <Table.Td dir="auto">{event}</Table.Td>
          <Table.Td className={`${textStyles.mono} ${textStyles.wrap}`} dir="auto">
            {JSON.stringify(payload).slice(0, MAX_PAYLOAD)}
          </Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}
