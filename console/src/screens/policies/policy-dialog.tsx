/** The dialogs of the policies screen: each shows the SQL that it runs. */
import { Button, Group, MultiSelect, Select, Switch, Text, Textarea, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Policy, Relation } from '../../queries/catalog-types';
import { checkPolicy } from '../../queries/policy-probe';
import type { Project } from '../../queries/projects';
import { useT } from '../../i18n';
import {
  createPolicySql,
  dropPolicySql,
  type PolicyDraft,
  securitySql,
  takesCheck,
  takesUsing,
} from '../../lib/policy-templates';
import { Failure } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { SqlDialog } from '../../ui/sql-dialog';
import textStyles from '../../ui/text.module.css';

export type Action =
  | { readonly kind: 'create'; readonly relation: Relation; readonly draft: PolicyDraft }
  | { readonly kind: 'replace'; readonly relation: Relation; readonly policy: Policy }
  | { readonly kind: 'drop'; readonly relation: Relation; readonly policy: Policy }
  | { readonly kind: 'security'; readonly relation: Relation; readonly enable: boolean };

interface ActionDialogProps {
  readonly project: Project;
  readonly action: Action;
  readonly onClose: () => void;
}

export function ActionDialog({ project, action, onClose }: ActionDialogProps) {
  const t = useT();
  const { schema, name: table } = action.relation;
  const common = { project, onClose };
  switch (action.kind) {
    case 'create':
      return <PolicyDialog {...common} relation={action.relation} first={action.draft} replaced={null} />;
    case 'replace':
      return (
        <PolicyDialog {...common} relation={action.relation} first={action.policy} replaced={action.policy} />
      );
    case 'drop':
      return (
        <SqlDialog
          {...common}
          danger
          title={t('dropPolicy', { name: action.policy.name })}
          action={t('dropThisPolicy')}
          done={t('policyDropped', { name: action.policy.name })}
          sql={dropPolicySql(schema, table, action.policy.name)}
        />
      );
    case 'security':
      return (
        <SqlDialog
          {...common}
          danger={!action.enable}
          title={action.enable ? t('enableRls') : t('disableRls')}
          action={action.enable ? t('enableRls') : t('disableRls')}
          done={t(action.enable ? 'rlsEnabled' : 'rlsDisabled', { name: table })}
          sql={securitySql(schema, table, action.enable)}
        >
          <Text size="sm">{action.enable ? t('enableRlsText') : t('rlsOffText')}</Text>
        </SqlDialog>
      );
  }
}

const COMMANDS = ['ALL', 'SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const;
const ROLES = ['anon', 'authenticated', 'service_role', 'public'];

interface PolicyDialogProps extends Omit<ActionDialogProps, 'action'> {
  readonly relation: Relation;
  readonly first: PolicyDraft;
  /** The policy that is dropped in the same transaction. */
  readonly replaced: Policy | null;
}

function PolicyDialog({ project, relation, first, replaced, onClose }: PolicyDialogProps) {
  const t = useT();
  const [draft, setDraft] = useState<PolicyDraft>(first);
  const { schema, name: table } = relation;
  const create = createPolicySql(schema, table, draft);
  const sql = replaced ? `${dropPolicySql(schema, table, replaced.name)}\n\n${create}` : create;
  const check = useMutation({ mutationFn: () => checkPolicy(project, relation, draft, replaced) });
  const edit = (part: Partial<PolicyDraft>): void => {
    check.reset();
    setDraft({ ...draft, ...part });
  };
  return (
    <SqlDialog
      project={project}
      title={replaced ? t('editPolicy', { name: replaced.name }) : t('newPolicy')}
      action={replaced ? t('savePolicy') : t('createPolicy')}
      done={t(replaced ? 'policySaved' : 'policyCreated', { name: draft.name })}
      sql={draft.name === '' ? null : sql}
      onClose={onClose}
    >
      <TextInput
        label={t('name')}
        value={draft.name}
        onChange={(event) => edit({ name: event.currentTarget.value })}
      />
      <Group grow align="start">
        <Select
          label={t('command')}
          data={COMMANDS}
          value={draft.command}
          allowDeselect={false}
          onChange={(command) => edit({ command: command ?? 'ALL' })}
        />
        <MultiSelect
          label={t('roles')}
          data={[...new Set([...ROLES, ...draft.roles])]}
          value={[...draft.roles]}
          onChange={(roles) => edit({ roles })}
        />
      </Group>
      {takesUsing(draft.command) ? (
        <Textarea
          label="using"
          description={t('usingHint')}
          autosize
          classNames={{ input: textStyles.mono }}
          value={draft.using ?? ''}
          onChange={(event) => edit({ using: event.currentTarget.value })}
        />
      ) : null}
      {takesCheck(draft.command) ? (
        <Textarea
          label="with check"
          description={t('checkHint')}
          autosize
          classNames={{ input: textStyles.mono }}
          value={draft.check ?? ''}
          onChange={(event) => edit({ check: event.currentTarget.value })}
        />
      ) : null}
      <Switch
        label={t('restrictive')}
        description={t('restrictiveHint')}
        checked={!draft.permissive}
        onChange={(event) => edit({ permissive: !event.currentTarget.checked })}
      />
      <Check state={check} isDisabled={draft.name === ''} onCheck={() => check.mutate()} />
    </SqlDialog>
  );
}

interface CheckProps {
  readonly state: { readonly isPending: boolean; readonly isSuccess: boolean; readonly error: Error | null };
  readonly isDisabled: boolean;
  readonly onCheck: () => void;
}

function Check({ state, isDisabled, onCheck }: CheckProps) {
  const t = useT();
  return (
    <>
      <Group gap="xs">
        <Button
          size="xs"
          variant="default"
          leftSection={<Icon name="check" size={14} />}
          loading={state.isPending}
          disabled={isDisabled}
          onClick={onCheck}
        >
          {t('checkPolicy')}
        </Button>
        <Text size="xs" c="dimmed" aria-live="polite">
          {state.isSuccess ? t('policyIsValid') : t('checkPolicyHint')}
        </Text>
      </Group>
      {state.error ? <Failure error={state.error} /> : null}
    </>
  );
}
