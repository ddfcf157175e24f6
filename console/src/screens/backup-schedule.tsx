/** The schedule of the backups of a project, and the last runs. */
import { Alert, Badge, Button, Group, NumberInput, Select, Stack, Switch, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type Schema } from '../api/client';
import { mayAdminister, useSession } from '../api/session';
import { backupRunsQuery, backupsQuery } from '../queries/overview';
import type { Project } from '../queries/projects';
import { useLanguages } from '../i18n';
import { formatBytes, formatTime } from '../lib/format';
import { Dialog } from '../ui/dialog';
import { announce, announceFailure, Failure, Loaded } from '../ui/feedback';
import { Icon } from '../ui/icon';
import { FormButtons } from '../ui/parts';
import { TimeZone } from '../ui/time-zone';
import textStyles from '../ui/text.module.css';

type Subject = Schema<'BackupsResponse'>['projects'][number];

export function Schedule({ project }: { project: Project }) {
  const { t, language } = useLanguages();
  const session = useSession();
  const backups = useQuery(backupsQuery());
  return (
    <Loaded query={backups}>
      {({ projects, refusal }) => {
        const subject = projects.find((one) => one.project_id === project.id);
        if (!subject) return null;
        return (
          <>
            <Text size="sm">{scheduleText(subject, t)}</Text>
            <Text size="sm" c="dimmed">
              {subject.last_success_at === null
                ? t('neverBackedUp')
                : t('lastBackup', { time: formatTime(subject.last_success_at, language) })}
              {subject.next_at === null
                ? ''
                : ` · ${t('nextBackup', { time: formatTime(subject.next_at, language) })}`}
            </Text>
            <Store subject={subject} />
            <Rehearsal subject={subject} />
            {subject.missing ? (
              <Badge color="red" variant="light">
                {t('backupMissing')}
              </Badge>
            ) : null}
            {refusal === null ? null : (
              <Alert
                color="orange"
                variant="light"
                icon={<Icon name="warning" />}
                title={t('backupsNotSetUp')}
              >
                {t('backupsNotSetUpText')}
              </Alert>
            )}
            {mayAdminister(session, null) ? (
              <Actions project={project} subject={subject} isRefused={refusal !== null} />
            ) : null}
          </>
        );
      }}
    </Loaded>
  );
}

interface ActionsProps {
  readonly project: Project;
  readonly subject: Subject;
  /** The server is not set up for backups. */
  readonly isRefused: boolean;
}

function Actions({ project, subject, isRefused }: ActionsProps) {
  const { t } = useLanguages();
  const [isEditing, dialog] = useDisclosure();
  const backUp = useStart(project, '/admin/v1/backups/runs', 'backupQueued');
  const rehearse = useStart(project, '/admin/v1/backups/rehearsals', 'rehearsalQueued');
  return (
    <Group gap="xs">
      <Button
        loading={backUp.isPending}
        disabled={isRefused}
        leftSection={<Icon name="archive" size={16} />}
        onClick={() => backUp.mutate()}
      >
        {t('backUpNow')}
      </Button>
      <Button
        variant="default"
        loading={rehearse.isPending}
        disabled={isRefused || subject.last_success_at === null}
        leftSection={<Icon name="check" size={16} />}
        onClick={() => rehearse.mutate()}
      >
        {t('rehearseNow')}
      </Button>
      <Button
        variant="default"
        disabled={isRefused}
        leftSection={<Icon name="clock" size={16} />}
        onClick={dialog.open}
      >
        {t('editBackupSchedule')}
      </Button>
      {isEditing ? <ScheduleForm project={project} subject={subject} onClose={dialog.close} /> : null}
    </Group>
  );
}

function useStart(
  { id, name }: Project,
  path: '/admin/v1/backups/runs' | '/admin/v1/backups/rehearsals',
  started: 'backupQueued' | 'rehearsalQueued',
) {
  const { t } = useLanguages();
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => api.POST(path, { body: { project_id: id } }),
    onSuccess: () => announce(t(started, { name })),
    onError: (error) => announceFailure(error, t('close')),
    onSettled: () => client.invalidateQueries({ queryKey: ['backups'] }),
  });
}

/** Where the files of incremental archives are stored. */
function Store({ subject: { store } }: { subject: Subject }) {
  const { t, language } = useLanguages();
  if (!store?.bytes) return null;
  const [size, saved] = [store.bytes, store.saved_bytes].map((bytes) => formatBytes(bytes, language));
  return (
    <Text size="sm" c="dimmed">
      {t('storeOfFiles', { size: size!, saved: saved! })}
    </Text>
  );
}

function Rehearsal({ subject: { rehearsal } }: { subject: Subject }) {
  const { t, language } = useLanguages();
  if (rehearsal === null) return null;
  if (rehearsal.error !== null)
    return (
      <Alert color="red" variant="light" icon={<Icon name="warning" />}>
        {t('rehearsalFailed', { error: rehearsal.error })}
      </Alert>
    );
  return (
    <Text size="sm" c="dimmed">
      {t('rehearsed', { time: formatTime(rehearsal.last_good_at, language) })}
    </Text>
  );
}

function scheduleText(
  { schedule, own_schedule: isOwn }: Subject,
  t: ReturnType<typeof useLanguages>['t'],
): string {
  if (!schedule?.enabled) return t('noSchedule');
  const { cron, time_zone: zone, keep } = schedule;
  return t(isOwn ? 'ownSchedule' : 'installSchedule', { cron, zone, keep });
}

interface ScheduleFormProps {
  readonly project: Project;
  readonly subject: Subject;
  readonly onClose: () => void;
}

const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour));

function inputOf({ schedule, own_schedule: isOwn }: Subject) {
  return {
    isOwn: isOwn || schedule === null,
    hour: /^0 (\d+) \* \* \*$/.exec(schedule?.cron ?? '')?.[1] ?? '3',
    zone: schedule?.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    keep: (schedule?.keep ?? 7) as number | string,
    rehearseDays: (schedule?.rehearse_days ?? 0) as number | string,
  };
}

type Input = ReturnType<typeof inputOf>;

function ScheduleForm({ project, subject, onClose }: ScheduleFormProps) {
  const { t } = useLanguages();
  const client = useQueryClient();
  const [input, setInput] = useState(() => inputOf(subject));
  const edit = (part: Partial<Input>): void => setInput({ ...input, ...part });
  const save = useMutation({
    mutationFn: async () => {
      const params = { params: { query: { project_id: project.id } } };
      if (!input.isOwn) return api.DELETE('/admin/v1/backups/schedule', params);
      const days = Number(input.rehearseDays);
      const times = { hour: Number(input.hour), time_zone: input.zone };
      const body = { ...times, keep: Number(input.keep), rehearse_days: days > 0 ? days : undefined };
      return api.PUT('/admin/v1/backups/schedule', { ...params, body });
    },
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['backups'] });
      announce(t('scheduleSaved', { name: project.name }));
    },
  });
  return (
    <Dialog onClose={onClose} title={t('backupScheduleOf', { name: project.name })}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate(undefined, { onSuccess: onClose });
        }}
      >
        <Stack gap="sm">
          <Switch
            label={t('scheduleOfItsOwn')}
            description={t('scheduleOfItsOwnHint')}
            checked={input.isOwn}
            onChange={(event) => edit({ isOwn: event.currentTarget.checked })}
          />
          {input.isOwn ? <Fields input={input} onEdit={edit} /> : null}
          {save.error ? <Failure error={save.error} /> : null}
          <FormButtons action={t('saveSchedule')} isPending={save.isPending} onClose={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}

function Fields({ input, onEdit }: { input: Input; onEdit: (part: Partial<Input>) => void }) {
  const { t } = useLanguages();
  return (
    <>
      <Group grow align="start">
        <Select
          label={t('dailyAt')}
          data={HOURS.map((value) => ({ value, label: `${value.padStart(2, '0')}:00` }))}
          value={input.hour}
          allowDeselect={false}
          onChange={(hour) => onEdit({ hour: hour ?? input.hour })}
        />
        <NumberInput
          label={t('keepBackups')}
          min={1}
          max={10_000}
          allowDecimal={false}
          value={input.keep}
          onChange={(keep) => onEdit({ keep })}
        />
      </Group>
      <TimeZone zone={input.zone} onChange={(zone) => onEdit({ zone })} />
      <NumberInput
        label={t('rehearseDays')}
        description={t('rehearseDaysHint')}
        min={0}
        max={366}
        allowDecimal={false}
        value={input.rehearseDays}
        onChange={(rehearseDays) => onEdit({ rehearseDays })}
      />
    </>
  );
}

function filesText(
  { bytes, copied_bytes: copied }: NonNullable<Schema<'BackupRunResponse'>['stored']>,
  t: ReturnType<typeof useLanguages>['t'],
  language: string,
): string {
  return t('filesOfRun', { size: formatBytes(bytes, language), copied: formatBytes(copied, language) });
}

export function Runs({ project }: { project: Project }) {
  const { t, language } = useLanguages();
  const runs = useQuery(backupRunsQuery(project));
  return (
    <Loaded query={runs}>
      {(list) =>
        list.length === 0 ? (
          <Text size="sm" c="dimmed">
            {t('noRuns')}
          </Text>
        ) : (
          <Table.ScrollContainer minWidth={460}>
            <Table verticalSpacing={4}>
              <Table.Tbody>
                {list.map((run) => (
                  <Table.Tr key={run.id}>
                    <Table.Td>{formatTime(run.started_at, language)}</Table.Td>
                    <Table.Td>
                      <Badge variant="light" color={run.status === 'failed' ? 'red' : 'gray'}>
                        {t(`run_${run.status}`)}
                      </Badge>
                    </Table.Td>
                    <Table.Td>{run.bytes === null ? '–' : formatBytes(run.bytes, language)}</Table.Td>
                    {list.some(({ stored }) => stored) ? (
                      <Table.Td>{run.stored ? filesText(run.stored, t, language) : ''}</Table.Td>
                    ) : null}
                    <Table.Td className={textStyles.wrap}>{run.error ?? run.archive}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        )
      }
    </Loaded>
  );
}
