/** The list of webhooks, and the actions on each webhook. */
import { Badge, Button, Group, Stack, Table, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useLanguages, useT } from '../../i18n';
import { formatTime } from '../../lib/format';
import { type Project, useMay } from '../../queries/projects';
import {
  removeWebhook,
  rotateWebhookSecret,
  type Webhook,
  webhookName,
  webhooksQuery,
} from '../../queries/webhooks';
import { DataTable, Named } from '../../ui/data-table';
import { Empty, Loaded } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { Confirm, IconButton, Section, ShownOnce } from '../../ui/parts';
import textStyles from '../../ui/text.module.css';
import { Deliveries } from './deliveries';
import { WebhookForm } from './webhook-form';

/** The open form, question or drawer. */
type Open =
  | { readonly part: 'create' }
  | { readonly part: 'edit' | 'rotate' | 'delete' | 'deliveries'; readonly webhook: Webhook }
  | { readonly part: 'secret'; readonly webhook: Webhook; readonly secret: string };

export function Webhooks({ project }: { project: Project }) {
  const t = useT();
  const webhooks = useQuery(webhooksQuery(project));
  const mayChange = useMay(project, 'POST /admin/v1/projects/:id/webhooks');
  const [open, setOpen] = useState<Open | null>(null);
  return (
    <Section title={t('webhooks')} text={t('webhooksText')}>
      <Loaded query={webhooks}>
        {(list) => (
          <Stack gap="sm">
            {list.length === 0 ? (
              <Empty icon="link" title={t('noWebhooks')} text={t('noWebhooksText')} />
            ) : (
              <DataTable minWidth={680} heads={[t('webhook'), 'URL', t('state'), null]}>
                {list.map((webhook) => (
                  <Row key={webhook.id} webhook={webhook} mayChange={mayChange} onOpen={setOpen} />
                ))}
              </DataTable>
            )}
            {mayChange ? (
              <Button
                style={{ alignSelf: 'start' }}
                leftSection={<Icon name="plus" size={16} />}
                onClick={() => setOpen({ part: 'create' })}
              >
                {t('createWebhook')}
              </Button>
            ) : null}
            {open ? <Opened project={project} open={open} onOpen={setOpen} /> : null}
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

interface RowProps {
  readonly webhook: Webhook;
  readonly mayChange: boolean;
  readonly onOpen: (open: Open) => void;
}

function Row({ webhook, mayChange, onOpen }: RowProps) {
  const t = useT();
  const name = webhookName(webhook);
  return (
    <Table.Tr>
      <Table.Td>
        <Named
          name={name}
          details={[webhook.events.join(', '), webhook.columns?.join(', '), webhook.condition]
            .filter(Boolean)
            .join(' · ')}
        />
      </Table.Td>
      <Table.Td>
        <Text size="sm" className={textStyles.wrap} dir="auto">
          {webhook.url ?? '–'}
        </Text>
      </Table.Td>
      <Table.Td>
        <State webhook={webhook} />
      </Table.Td>
      <Table.Td ta="end">
        <Group gap={4} justify="end" wrap="nowrap">
          <Button size="xs" variant="default" onClick={() => onOpen({ part: 'deliveries', webhook })}>
            {t('deliveries')}
          </Button>
          {mayChange
            ? (['edit', 'rotate', 'delete'] as const).map((part) => (
                <IconButton
                  key={part}
                  icon={ICONS[part]}
                  label={t(`${part}Webhook`, { name })}
                  onClick={() => onOpen({ part, webhook })}
                />
              ))
            : null}
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

const ICONS = { edit: 'edit', rotate: 'key', delete: 'trash' } as const;

function State({ webhook: { enabled, complete, failing_since: failingSince } }: { webhook: Webhook }) {
  const { t, language } = useLanguages();
  const isWell = complete && failingSince === null;
  const state = complete ? 'webhookFailing' : 'webhookIncomplete';
  return (
    <>
      <Badge color={isWell && enabled ? 'plinth' : isWell ? 'gray' : 'red'} variant="dot">
        {isWell ? t(enabled ? 'enabled' : 'disabled') : t(state)}
      </Badge>
      {isWell ? null : (
        <Text size="xs" c="dimmed">
          {complete ? t('since', { time: formatTime(failingSince, language) }) : t('webhookIncompleteText')}
        </Text>
      )}
    </>
  );
}

interface OpenedProps {
  readonly project: Project;
  readonly open: Open;
  readonly onOpen: (open: Open | null) => void;
}

function Opened({ project, open, onOpen }: OpenedProps) {
  const t = useT();
  const client = useQueryClient();
  const reload = () => client.invalidateQueries({ queryKey: webhooksQuery(project).queryKey });
  const close = (): void => onOpen(null);
  if (open.part === 'secret')
    return (
      <ShownOnce
        title={t('webhookSecret', { name: webhookName(open.webhook) })}
        text={t('webhookSecretText')}
        value={open.secret}
        onClose={close}
      />
    );
  if (open.part === 'create' || open.part === 'edit')
    return (
      <WebhookForm
        project={project}
        webhook={open.part === 'edit' ? open.webhook : null}
        onClose={close}
        onCreated={(webhook, secret) => onOpen({ part: 'secret', webhook, secret })}
      />
    );
  const { part, webhook } = open;
  if (part === 'deliveries') return <Deliveries project={project} webhook={webhook} onClose={close} />;
  const name = webhookName(webhook);
  if (part === 'delete')
    return (
      <Confirm
        title={t('deleteWebhook', { name })}
        text={t('deleteWebhookText')}
        action={t('deleteThisWebhook')}
        done={t('webhookDeleted', { name })}
        onClose={close}
        run={async () => {
          await removeWebhook(project, webhook);
          await reload();
        }}
      />
    );
  return <Rotation project={project} webhook={webhook} onOpen={onOpen} />;
}

function Rotation({ project, webhook, onOpen }: Omit<OpenedProps, 'open'> & { readonly webhook: Webhook }) {
  const t = useT();
  const secret = useRef('');
  return (
    <Confirm
      title={t('rotateWebhook', { name: webhookName(webhook) })}
      text={t('rotateWebhookText')}
      action={t('newSecret')}
      danger={false}
      onClose={() => onOpen(null)}
      run={async () => {
        secret.current = (await rotateWebhookSecret(project, webhook)).secret;
      }}
      onDone={() => onOpen({ part: 'secret', webhook, secret: secret.current })}
    />
  );
}
