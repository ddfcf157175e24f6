/** The first steps of a project, instead of numbers that are all zero. */
import { Button, Group, Stack, Text, ThemeIcon, VisuallyHidden } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schema } from '../api/client';
import { useT } from '../i18n';
import { type Project, useMayWrite } from '../queries/projects';
import { ConnectButton } from '../ui/connect-button';
import { Icon } from '../ui/icon';
import { Section } from '../ui/parts';

type Overview = Schema<'ProjectOverview'>;

export const isEmpty = ({ tables, users, files }: Overview): boolean => tables + users + files === 0;

const STEPS = ['table', 'row', 'user', 'connect'] as const;
type Step = (typeof STEPS)[number];

const doneSteps = ({ tables, has_rows: hasRows, users }: Overview): ReadonlySet<Step> =>
  new Set<Step>([
    ...(tables > 0 ? (['table'] as const) : []),
    ...(hasRows ? (['row'] as const) : []),
    ...(users > 0 ? (['user'] as const) : []),
  ]);

/** Shown until all steps except the connection are done, or until it is hidden in this browser. */
export function FirstSteps({ project, overview }: { project: Project; overview: Overview }) {
  const t = useT();
  const [isHidden, setHidden] = useLocalStorage({
    key: `plinth.first-steps.${project.id}`,
    defaultValue: '',
    getInitialValueInEffect: false,
  });
  const mayWrite = useMayWrite(project);
  const done = doneSteps(overview);
  if (isHidden !== '' || done.size === STEPS.length - 1) return null;
  const next = STEPS.find((step) => !done.has(step));
  return (
    <Section title={t('firstSteps')} text={t('firstStepsText')}>
      <Stack renderRoot={(props) => <ol {...props} />} gap="md" p={0} m={0}>
        {STEPS.map((step, index) => (
          <StepLine key={step} step={step} number={index + 1} isDone={done.has(step)}>
            {mayWrite || step === 'connect' ? (
              <StepAction step={step} slug={project.slug} isNext={step === next} />
            ) : null}
          </StepLine>
        ))}
      </Stack>
      {isEmpty(overview) ? null : (
        <Group justify="end" mt="sm">
          <Button size="xs" variant="subtle" color="gray" onClick={() => setHidden('hidden')}>
            {t('hideSteps')}
          </Button>
        </Group>
      )}
    </Section>
  );
}

interface StepLineProps {
  readonly step: Step;
  readonly number: number;
  readonly isDone: boolean;
  readonly children: ReactNode;
}

function StepLine({ step, number, isDone, children }: StepLineProps) {
  const t = useT();
  return (
    <Group renderRoot={(props) => <li {...props} />} gap="sm" wrap="nowrap" align="center">
      <ThemeIcon variant={isDone ? 'filled' : 'default'} radius="xl" aria-hidden>
        {isDone ? <Icon name="check" size={14} /> : number}
      </ThemeIcon>
      <div style={{ flex: 1 }}>
        <Text size="sm" fw={550}>
          {t(`step_${step}`)}
          {isDone ? <VisuallyHidden> ({t('done')})</VisuallyHidden> : null}
        </Text>
        <Text size="sm" c="dimmed">
          {t(`stepText_${step}`)}
        </Text>
      </div>
      {isDone ? null : children}
    </Group>
  );
}

const ACTIONS = {
  table: { to: '/projects/$slug/tables', label: 'createTable', dialog: 'newTable' },
  row: { to: '/projects/$slug/tables', label: 'insertRow', dialog: null },
  user: { to: '/projects/$slug/users', label: 'createUser', dialog: 'newUser' },
} as const;

function StepAction({ step, slug, isNext }: { step: Step; slug: string; isNext: boolean }) {
  const t = useT();
  const variant = isNext ? 'filled' : 'default';
  if (step === 'connect') return <ConnectButton slug={slug} variant={variant} />;
  const { to, label, dialog } = ACTIONS[step];
  return (
    <Button
      size="xs"
      variant={variant}
      renderRoot={(props) => (
        <Link to={to} params={{ slug }} state={dialog === null ? {} : { dialog }} {...props} />
      )}
    >
      {t(label)}
    </Button>
  );
}
