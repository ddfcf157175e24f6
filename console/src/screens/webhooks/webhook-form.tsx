/** Creates or changes a webhook, whose table cannot be changed. */
import { Checkbox, Group, MultiSelect, Select, Stack, Switch, Textarea, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useT } from '../../i18n';
import type { Relation } from '../../queries/catalog-types';
import { type Project, useCatalog } from '../../queries/projects';
import {
  createWebhook,
  updateWebhook,
  type Webhook,
  type WebhookEvent,
  webhookName,
  webhooksQuery,
} from '../../queries/webhooks';
import { Dialog } from '../../ui/dialog';
import { announce, Failure, Loaded } from '../../ui/feedback';
import { FormButtons } from '../../ui/parts';
import textStyles from '../../ui/text.module.css';

const TABLE_EVENTS: readonly WebhookEvent[] = ['INSERT', 'UPDATE', 'DELETE'];
const OTHER_EVENTS: readonly WebhookEvent[] = [
  'user.created',
  'user.deleted',
  'user.signed_in',
  'file.created',
  'file.deleted',
  'http_post',
];
const CLOSED_SCHEMAS = new Set(['auth', 'storage', 'realtime', 'hooks', 'plinth']);

interface Input {
  /** Schema and name as JSON; empty for events of auth and storage. */
  readonly table: string;
  readonly events: WebhookEvent[];
  readonly columns: string[];
  readonly condition: string;
  readonly url: string;
  readonly enabled: boolean;
}

interface FormProps {
  readonly project: Project;
  /** Null for a new webhook. */
  readonly webhook: Webhook | null;
  readonly onClose: () => void;
  readonly onCreated: (webhook: Webhook, secret: string) => void;
}

export function WebhookForm({ project, webhook, onClose, onCreated }: FormProps) {
  const t = useT();
  const client = useQueryClient();
  const catalog = useCatalog(project);
  const [input, setInput] = useState<Input>(() => inputOf(webhook));
  const save = useMutation({
    mutationFn: (): Promise<Webhook & { readonly secret?: string }> =>
      webhook
        ? updateWebhook(project, webhook, contentOf(input))
        : createWebhook(project, { ...targetOf(input), ...contentOf(input) }),
    onSuccess: async (saved) => {
      await client.invalidateQueries({ queryKey: webhooksQuery(project).queryKey });
      announce(t(webhook ? 'webhookSaved' : 'webhookCreated', { name: webhookName(saved) }));
    },
  });
  return (
    <Dialog
      onClose={onClose}
      title={webhook ? t('editWebhook', { name: webhookName(webhook) }) : t('createWebhook')}
    >
      <Loaded query={catalog}>
        {(relations) => (
          <form
            onSubmit={(event) => {
              event.preventDefault();
              save.mutate(undefined, {
                onSuccess: (saved) =>
                  saved.secret === undefined ? onClose() : onCreated(saved, saved.secret),
              });
            }}
          >
            <Stack gap="sm">
              <Fields
                input={input}
                relations={relations}
                isNew={webhook === null}
                onEdit={(part) => setInput({ ...input, ...part })}
              />
              {save.error ? <Failure error={save.error} /> : null}
              <FormButtons
                action={t(webhook ? 'saveWebhook' : 'createWebhook')}
                isPending={save.isPending}
                isDisabled={input.events.length === 0}
                onClose={onClose}
              />
            </Stack>
          </form>
        )}
      </Loaded>
    </Dialog>
  );
}

interface FieldsProps {
  readonly input: Input;
  readonly relations: readonly Relation[];
  readonly isNew: boolean;
  readonly onEdit: (part: Partial<Input>) => void;
}

function Fields({ input, relations, isNew, onEdit }: FieldsProps) {
  const t = useT();
  const tables = relations.filter(({ kind, schema }) => kind === 'table' && !CLOSED_SCHEMAS.has(schema));
  const values = new Set([...tables.map(keyOf), ...(isNew ? [] : [input.table])].filter(Boolean));
  return (
    <>
      <Select
        label={t('table')}
        data={[
          { value: '', label: t('otherEvents') },
          ...[...values].map((value) => ({ value, label: (JSON.parse(value) as string[]).join('.') })),
        ]}
        value={input.table}
        disabled={!isNew}
        searchable
        allowDeselect={false}
        onChange={(table) => onEdit({ table: table ?? '', events: [], columns: [], condition: '' })}
        data-autofocus
      />
      <Checkbox.Group label={t('events')} value={input.events} onChange={(events) => onEdit({ events })}>
        <Group gap="sm" mt={4}>
          {(input.table === '' ? OTHER_EVENTS : TABLE_EVENTS).map((event) => (
            <Checkbox key={event} value={event} label={event} />
          ))}
        </Group>
      </Checkbox.Group>
      <TableFields
        input={input}
        relation={tables.find((one) => keyOf(one) === input.table)}
        onEdit={onEdit}
      />
      {input.events.includes('http_post') ? null : (
        <TextInput
          label="URL"
          type="url"
          required
          withAsterisk={false}
          description={t('webhookUrlHint')}
          value={input.url}
          onChange={(event) => onEdit({ url: event.currentTarget.value })}
        />
      )}
      <Switch
        label={t('webhookEnabled')}
        checked={input.enabled}
        onChange={(event) => onEdit({ enabled: event.currentTarget.checked })}
      />
    </>
  );
}

interface TableFieldsProps extends Pick<FieldsProps, 'input' | 'onEdit'> {
  /** Undefined if there is no table, or it was dropped. */
  readonly relation: Relation | undefined;
}

function TableFields({ input, relation, onEdit }: TableFieldsProps) {
  const t = useT();
  if (input.table === '') return null;
  return (
    <>
      {input.events.includes('UPDATE') ? (
        <MultiSelect
          label={t('columns')}
          description={t('webhookColumnsHint')}
          data={[...new Set([...(relation?.columns ?? []).map(({ name }) => name), ...input.columns])]}
          value={input.columns}
          searchable
          onChange={(columns) => onEdit({ columns })}
        />
      ) : null}
      <Textarea
        label={t('condition')}
        description={t('webhookConditionHint')}
        autosize
        maxRows={6}
        value={input.condition}
        classNames={{ input: textStyles.mono }}
        onChange={(event) => onEdit({ condition: event.currentTarget.value })}
      />
    </>
  );
}

const keyOf = ({ schema, name }: { schema: string; name: string }): string => JSON.stringify([schema, name]);

function inputOf(webhook: Webhook | null): Input {
  const { schema, table } = webhook ?? {};
  return {
    table: table ? keyOf({ schema: schema ?? 'public', name: table }) : '',
    events: webhook?.events ?? [],
    columns: webhook?.columns ?? [],
    condition: webhook?.condition ?? '',
    url: webhook?.url ?? '',
    enabled: webhook?.enabled ?? true,
  };
}

function targetOf({ table: key }: Input): { schema?: string; table?: string } {
  if (key === '') return {};
  const [schema, table] = JSON.parse(key) as [string, string];
  return { schema, table };
}

function contentOf({ events, columns, condition, url, enabled }: Input) {
  return {
    events,
    columns: columns.length === 0 || !events.includes('UPDATE') ? null : columns,
    condition: condition.trim() === '' ? null : condition.trim(),
    ...(events.includes('http_post') ? {} : { url: url.trim() }),
    enabled,
  };
}
