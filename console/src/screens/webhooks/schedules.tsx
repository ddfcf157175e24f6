/** The schedules of a project, with the history of each. */
import { Badge, Button, Group, Stack, Table, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLanguages, useT } from '../../i18n';
import { formatTime } from '../../lib/format';
import { type Project, useMay } from '../../queries/projects';
import { removeSchedule, runsQuery, type Schedule, schedulesQuery } from '../../queries/schedules';
import { DataTable, Named } from '../../ui/data-table';
import { Empty, Loaded } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { Confirm, DetailDrawer, IconButton, Section } from '../../ui/parts';
import textStyles from '../../ui/text.module.css';
import { ScheduleForm } from './schedule-form';

type Open =
  | { readonly part: 'create' }
  | { readonly part: 'edit' | 'delete' | 'runs'; readonly schedule: Schedule };

export function Schedules({ project }: { project: Project }) {
  const t = useT();
  const schedules = useQuery(schedulesQuery(project));
  const mayChange = useMay(project, 'POST /admin/v1/projects/:id/schedules');
  const [open, setOpen] = useState<Open | null>(null);
  return (
    <Section title={t('schedules')} text={t('schedulesText')}>
      <Loaded query={schedules}>
        {(list) => (
          <Stack gap="sm">
            {list.length === 0 ? (
              <Empty icon="clock" title={t('noSchedules')} text={t('noSchedulesText')} />
            ) : (
              <DataTable minWidth={680} heads={[t('schedule'), t('scheduleRuns'), t('state'), null]}>
                {list.map((schedule) => (
                  <Row key={schedule.id} schedule={schedule} mayChange={mayChange} onOpen={setOpen} />
                ))}
              </DataTable>
            )}
            {mayChange ? (
              <Button
                variant="default"
                style={{ alignSelf: 'start' }}
                leftSection={<Icon name="plus" size={16} />}
                onClick={() => setOpen({ part: 'create' })}
              >
                {t('createSchedule')}
              </Button>
            ) : null}
            {open ? <Opened project={project} open={open} onClose={() => setOpen(null)} /> : null}
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

interface RowProps {
  readonly schedule: Schedule;
  readonly mayChange: boolean;
  readonly onOpen: (open: Open) => void;
}

function Row({ schedule, mayChange, onOpen }: RowProps) {
  const t = useT();
  const { name, cron, time_zone: zone, sql, url, enabled } = schedule;
  return (
    <Table.Tr>
      <Table.Td>
        <Named name={name} details={`${cron} · ${zone}`} />
      </Table.Td>
      <Table.Td>
        <Text size="sm" lineClamp={2} className={textStyles.wrap} dir="auto">
          {sql ?? url}
        </Text>
      </Table.Td>
      <Table.Td>
        <Badge color={enabled ? 'plinth' : 'gray'} variant="dot">
          {t(enabled ? 'enabled' : 'disabled')}
        </Badge>
      </Table.Td>
      <Table.Td ta="end">
        <Group gap={4} justify="end" wrap="nowrap">
          <Button size="xs" variant="default" onClick={() => onOpen({ part: 'runs', schedule })}>
            {t('runsOfSchedule')}
          </Button>
          {mayChange
            ? (['edit', 'delete'] as const).map((part) => (
                <IconButton
                  key={part}
                  icon={part === 'edit' ? 'edit' : 'trash'}
                  label={t(`${part}Schedule`, { name })}
                  onClick={() => onOpen({ part, schedule })}
                />
              ))
            : null}
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

interface OpenedProps {
  readonly project: Project;
  readonly open: Open;
  readonly onClose: () => void;
}

function Opened({ project, open, onClose }: OpenedProps) {
  const t = useT();
  const client = useQueryClient();
  if (open.part === 'create') return <ScheduleForm project={project} schedule={null} onClose={onClose} />;
  const { part, schedule } = open;
  if (part === 'edit') return <ScheduleForm project={project} schedule={schedule} onClose={onClose} />;
  if (part === 'runs') return <Runs project={project} schedule={schedule} onClose={onClose} />;
  return (
    <Confirm
      title={t('deleteSchedule', { name: schedule.name })}
      text={t('deleteScheduleText')}
      action={t('deleteThisSchedule')}
      done={t('scheduleDeleted', { name: schedule.name })}
      onClose={onClose}
      run={async () => {
        await removeSchedule(project, schedule);
        await client.invalidateQueries({ queryKey: schedulesQuery(project).queryKey });
      }}
    />
  );
}

const COLORS = { running: 'yellow', succeeded: 'plinth', failed: 'red' } as const;

function Runs({ project, schedule, onClose }: Omit<OpenedProps, 'open'> & { readonly schedule: Schedule }) {
  const { t, language } = useLanguages();
  const runs = useQuery(runsQuery(project, schedule));
  return (
    <DetailDrawer title={t('runsOf', { name: schedule.name })} onClose={onClose}>
      <Loaded query={runs}>
        {(list) =>
          list.length === 0 ? (
            <Text size="sm">{t('noScheduleRuns')}</Text>
          ) : (
            <DataTable minWidth={480} heads={[t('runDue'), t('state'), t('result')]}>
              {list.map(({ id, due_at: due, state, result, error }) => (
                <Table.Tr key={id}>
                  <Table.Td className={textStyles.nowrap}>{formatTime(due, language)}</Table.Td>
                  <Table.Td>
                    <Badge color={COLORS[state]} variant="dot">
                      {t(`run_${state}`)}
                    </Badge>
                  </Table.Td>
                  <Table.Td className={textStyles.wrap} dir="auto">
                    {error ?? result ?? '–'}
                  </Table.Td>
                </Table.Tr>
              ))}
            </DataTable>
          )
        }
      </Loaded>
    </DetailDrawer>
  );
}
