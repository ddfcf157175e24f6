/** Creates or changes a schedule: its times, and SQL or a request. */
import { SegmentedControl, Stack, Switch, Textarea, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useT } from '../../i18n';
import type { Project } from '../../queries/projects';
import { saveSchedule, type Schedule, schedulesQuery } from '../../queries/schedules';
import { Dialog } from '../../ui/dialog';
import { announce, Failure } from '../../ui/feedback';
import { FormButtons } from '../../ui/parts';
import { TimeZone } from '../../ui/time-zone';
import textStyles from '../../ui/text.module.css';

interface Input {
  readonly name: string;
  readonly cron: string;
  readonly zone: string;
  readonly kind: 'sql' | 'url';
  readonly sql: string;
  readonly url: string;
  readonly body: string;
  readonly enabled: boolean;
}

interface FormProps {
  readonly project: Project;
  /** Null for a new schedule. */
  readonly schedule: Schedule | null;
  readonly onClose: () => void;
}

export function ScheduleForm({ project, schedule, onClose }: FormProps) {
  const t = useT();
  const client = useQueryClient();
  const [input, setInput] = useState<Input>(() => inputOf(schedule));
  const save = useMutation({
    mutationFn: () => saveSchedule(project, schedule, bodyOf(input)),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: schedulesQuery(project).queryKey });
      announce(t(schedule ? 'scheduleStored' : 'scheduleCreated', { name: input.name.trim() }));
    },
  });
  return (
    <Dialog
      onClose={onClose}
      title={schedule ? t('editSchedule', { name: schedule.name }) : t('createSchedule')}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate(undefined, { onSuccess: onClose });
        }}
      >
        <Stack gap="sm">
          <Times input={input} onEdit={(part) => setInput({ ...input, ...part })} />
          <Action input={input} onEdit={(part) => setInput({ ...input, ...part })} />
          <Switch
            label={t('scheduleEnabled')}
            checked={input.enabled}
            onChange={(event) => setInput({ ...input, enabled: event.currentTarget.checked })}
          />
          {save.error ? <Failure error={save.error} /> : null}
          <FormButtons
            action={t(schedule ? 'saveSchedule' : 'createSchedule')}
            isPending={save.isPending}
            onClose={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}

interface FieldsProps {
  readonly input: Input;
  readonly onEdit: (part: Partial<Input>) => void;
}

function Times({ input, onEdit }: FieldsProps) {
  const t = useT();
  return (
    <>
      <TextInput
        label={t('name')}
        required
        withAsterisk={false}
        maxLength={100}
        value={input.name}
        onChange={(event) => onEdit({ name: event.currentTarget.value })}
        data-autofocus
      />
      <TextInput
        label={t('cron')}
        description={t('cronHint')}
        required
        withAsterisk={false}
        maxLength={100}
        value={input.cron}
        classNames={{ input: textStyles.mono }}
        onChange={(event) => onEdit({ cron: event.currentTarget.value })}
      />
      <TimeZone zone={input.zone} onChange={(zone) => onEdit({ zone })} />
    </>
  );
}

function Action({ input, onEdit }: FieldsProps) {
  const t = useT();
  return (
    <>
      <SegmentedControl
        aria-label={t('scheduleRuns')}
        value={input.kind}
        onChange={(kind) => onEdit({ kind })}
        data={[
          { value: 'sql', label: 'SQL' },
          { value: 'url', label: t('request') },
        ]}
      />
      {input.kind === 'sql' ? (
        <Textarea
          label="SQL"
          description={t('scheduleSqlHint')}
          required
          withAsterisk={false}
          autosize
          minRows={3}
          maxRows={12}
          maxLength={10_000}
          value={input.sql}
          classNames={{ input: textStyles.mono }}
          onChange={(event) => onEdit({ sql: event.currentTarget.value })}
        />
      ) : (
        <>
          <TextInput
            label="URL"
            description={t('scheduleUrlHint')}
            type="url"
            required
            withAsterisk={false}
            value={input.url}
            onChange={(event) => onEdit({ url: event.currentTarget.value })}
          />
          <Textarea
            label={t('scheduleBody')}
            autosize
            maxRows={8}
            placeholder="{}"
            value={input.body}
            classNames={{ input: textStyles.mono }}
            onChange={(event) => onEdit({ body: event.currentTarget.value })}
          />
        </>
      )}
    </>
  );
}

function inputOf(schedule: Schedule | null): Input {
  return {
    name: schedule?.name ?? '',
    cron: schedule?.cron ?? '0 3 * * *',
    zone: schedule?.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    kind: schedule?.url ? 'url' : 'sql',
    sql: schedule?.sql ?? '',
    url: schedule?.url ?? '',
    body: schedule?.body ?? '',
    enabled: schedule?.enabled ?? true,
  };
}

function bodyOf({ name, cron, zone, kind, sql, url, body, enabled }: Input) {
  const request = { sql: null, url: url.trim(), body: body.trim() === '' ? null : body };
  return {
    name: name.trim(),
    cron: cron.trim(),
    time_zone: zone,
    ...(kind === 'sql' ? { sql, url: null, body: null } : request),
    enabled,
  };
}
