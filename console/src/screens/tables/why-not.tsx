/** Shows which policies allow a row for an identity. */
import { Alert, Badge, Code, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Identity } from '../../api/identity';
import type { Relation } from '../../queries/catalog-types';
import { probePolicies } from '../../queries/policy-probe';
import type { Project } from '../../queries/projects';
import { useT } from '../../i18n';
import type { Values } from '../../lib/pending-changes';
import {
  type Command,
  COMMANDS,
  type Judged,
  type Outcome,
  policiesFor,
  type Verdict,
  verdictOf,
} from '../../lib/policy-probe';
import { Dialog } from '../../ui/dialog';
import { Loaded } from '../../ui/feedback';
import { ViewAs } from '../../ui/view-as';
import policyStyles from '../../ui/policy.module.css';
import textStyles from '../../ui/text.module.css';

interface WhyNotProps {
  readonly project: Project;
  readonly relation: Relation;
  readonly row: Values;
  readonly onClose: () => void;
}

/** Verdicts that allow the row. */
const OPEN = new Set<Verdict>(['allowed', 'bypasses', 'rlsOff']);

export function WhyNot({ project, relation, row, onClose }: WhyNotProps) {
  const t = useT();
  const [identity, setIdentity] = useState<Identity>({ as: 'anon' });
  const [command, setCommand] = useState<Command>('SELECT');
  const probe = useQuery({
    queryKey: ['probe', project.id, relation.schema, relation.name, relation.policies, identity, row],
    queryFn: () => probePolicies(project, relation, identity, row),
    gcTime: 0,
  });
  return (
    <Dialog onClose={onClose} size="lg" title={t('whyTitle')}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {t('whyText')}
        </Text>
        <Group gap="xs">
          <ViewAs project={project} identity={identity} onChange={setIdentity} />
          <SegmentedControl
            size="xs"
            data={[...COMMANDS]}
            value={command}
            onChange={(value) => setCommand(value)}
            aria-label={t('command')}
          />
        </Group>
        <Loaded query={probe}>
          {({ identified, facts, judged }) => {
            const verdict = verdictOf(command, relation.rls, facts, judged);
            return (
              <Stack gap="xs">
                <Alert
                  variant="light"
                  color={OPEN.has(verdict) ? 'plinth' : 'orange'}
                  p="xs"
                  aria-live="polite"
                >
                  <Text size="sm" fw={550}>
                    {t(OPEN.has(verdict) ? 'whyYes' : 'whyNo', { command, role: identified.role })}
                  </Text>
                  <Text size="sm">{t(`verdict_${verdict}`)}</Text>
                </Alert>
                {policiesFor(command, judged).map((one) => (
                  <JudgedPolicy key={one.policy.name} command={command} judged={one} />
                ))}
              </Stack>
            );
          }}
        </Loaded>
      </Stack>
    </Dialog>
  );
}

function JudgedPolicy({ command, judged }: { command: Command; judged: Judged }) {
  const t = useT();
  const { policy, outcome } = judged;
  const usesUsing = command !== 'INSERT' || policy.check === null;
  const usesCheck = (command === 'INSERT' || command === 'UPDATE') && policy.check !== null;
  return (
    <div className={policyStyles.policy} data-policy={policy.name}>
      <Group gap={6}>
        <Text size="sm" fw={550} className={textStyles.wrap} dir="auto">
          {policy.name}
        </Text>
        {policy.permissive ? null : (
          <Badge size="sm" color="grape" variant="light">
            {t('restrictive')}
          </Badge>
        )}
        {outcome.applies ? null : (
          <Badge size="sm" color="gray" variant="light">
            {t('notForRole', { roles: policy.roles.join(', ') })}
          </Badge>
        )}
      </Group>
      {usesUsing && policy.using !== null ? (
        <Expression word="using" text={policy.using} value={outcome.using} />
      ) : null}
      {usesCheck && policy.check !== null ? (
        <Expression word="with check" text={policy.check} value={outcome.check} />
      ) : null}
    </div>
  );
}

function Expression({ word, text, value }: { word: string; text: string; value: Outcome }) {
  const isError = typeof value === 'object' && value !== null;
  return (
    <Text size="xs" mt={4} className={textStyles.wrap} component="div">
      <Badge size="sm" mr={6} variant="light" color={value === true ? 'plinth' : 'orange'}>
        {isError ? 'error' : String(value)}
      </Badge>
      {word} <Code>{text}</Code>
      {isError ? <Text size="xs">{value.error}</Text> : null}
    </Text>
  );
}
