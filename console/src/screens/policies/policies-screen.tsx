/** Row-level security: what each table allows, with templates, and SQL that is shown before it runs. */
import {
  Alert,
  Badge,
  Button,
  Card,
  Code,
  Group,
  Menu,
  MultiSelect,
  Select,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Policy, Relation } from '../queries/catalog-types';
import { isExposed, type Project, useCatalog, useMayWrite, useProject } from '../queries/projects';
import { useT } from '../i18n';
import {
  createPolicySql,
  draftOf,
  dropPolicySql,
  type PolicyDraft,
  securitySql,
  takesCheck,
  takesUsing,
  TEMPLATES,
} from '../lib/policy-templates';
import { Empty, Loaded } from '../ui/feedback';
import { Icon } from '../ui/icon';
import { IconButton, Page } from '../ui/parts';
import { SqlDialog } from '../ui/sql-dialog';

type Action =
  | { readonly kind: 'create'; readonly relation: Relation; readonly draft: PolicyDraft }
  | { readonly kind: 'replace'; readonly relation: Relation; readonly policy: Policy }
  | { readonly kind: 'drop'; readonly relation: Relation; readonly policy: Policy }
  | { readonly kind: 'security'; readonly relation: Relation; readonly enable: boolean };

export function PoliciesScreen() {
  const t = useT();
  const project = useProject();
  const catalog = useCatalog(project);
  const [filter, setFilter] = useState('');
  const [withAll, setWithAll] = useState(false);
  const [action, setAction] = useState<Action | null>(null);
  return (
    <Page title={t('policies')} text={t('policiesText')}>
      <Group mb="md" gap="md">
        <TextInput
          aria-label={t('searchTables')}
          placeholder={t('searchTables')}
          leftSection={<Icon name="search" size={16} />}
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
          w={280}
        />
        <Switch
          label={t('allSchemas')}
          checked={withAll}
          onChange={(event) => setWithAll(event.currentTarget.checked)}
        />
      </Group>
      <Loaded query={catalog}>
        {(relations) => {
          const found = relations.filter(
            (one) =>
              one.kind === 'table' &&
              (withAll || isExposed(project, one)) &&
              one.name.toLowerCase().includes(filter.toLowerCase()),
          );
          if (found.length === 0)
            return <Empty icon="shield" title={t('noTables')} text={t('noPoliciesText')} />;
          return (
            <Stack gap="md">
              {found.map((relation) => (
                <TableCard
                  key={`${relation.schema} ${relation.name}`}
                  project={project}
                  relation={relation}
                  onAction={setAction}
                />
              ))}
            </Stack>
          );
        }}
      </Loaded>
      {action ? <ActionDialog project={project} action={action} onClose={() => setAction(null)} /> : null}
    </Page>
  );
}

interface TableCardProps {
  readonly project: Project;
  readonly relation: Relation;
  readonly onAction: (action: Action) => void;
}

function TableCard({ project, relation, onAction }: TableCardProps) {
  const t = useT();
  const { schema, name, rls } = relation;
  const policies = relation.policies ?? [];
  const mayWrite = useMayWrite(project);
  return (
    <Card withBorder component="section">
      <Group justify="space-between" mb="xs">
        <Group gap="xs">
          <Title order={2} size="h4">
            {schema === 'public' ? name : `${schema}.${name}`}
          </Title>
          <Badge
            variant="light"
            color={rls ? 'plinth' : 'orange'}
            leftSection={<Icon name={rls ? 'lock' : 'unlock'} size={12} />}
          >
            {rls ? t('rlsOn') : t('rlsOff')}
          </Badge>
        </Group>
        <Group gap="xs">
          <Button
            size="xs"
            variant="default"
            leftSection={<Icon name="eye" size={14} />}
            renderRoot={(props) => (
              <Link
                to="/projects/$slug/tables"
                params={{ slug: project.slug }}
                search={{ schema, table: name }}
                {...props}
              />
            )}
          >
            {t('viewRows')}
          </Button>
          {mayWrite ? (
            <>
              <Button
                size="xs"
                variant="default"
                onClick={() => onAction({ kind: 'security', relation, enable: !rls })}
              >
                {rls ? t('disableRls') : t('enableRls')}
              </Button>
              <Menu position="bottom-end">
                <Menu.Target>
                  <Button size="xs" leftSection={<Icon name="plus" size={14} />}>
                    {t('newPolicy')}
                  </Button>
                </Menu.Target>
                <Menu.Dropdown>
                  <Menu.Label>{t('templates')}</Menu.Label>
                  {TEMPLATES.map((template) => (
                    <Menu.Item
                      key={template}
                      onClick={() =>
                        onAction({ kind: 'create', relation, draft: draftOf(template, relation) })
                      }
                    >
                      {t(`template_${template}`)}
                    </Menu.Item>
                  ))}
                </Menu.Dropdown>
              </Menu>
            </>
          ) : null}
        </Group>
      </Group>
      {!rls ? (
        <Alert color="orange" variant="light" p="xs">
          {t('rlsOffText')}
        </Alert>
      ) : null}
      {relation.policies === null ? (
        <Text size="sm" c="dimmed">
          {t('policiesHidden')}
        </Text>
      ) : null}
      {rls && relation.policies?.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('noPolicies')}
        </Text>
      ) : null}
      <Stack gap="xs" mt={policies.length > 0 ? 'xs' : 0}>
        {policies.map((policy) => (
          <PolicyRow key={policy.name} policy={policy} relation={relation} onAction={onAction} />
        ))}
      </Stack>
    </Card>
  );
}

interface PolicyRowProps {
  readonly policy: Policy;
  readonly relation: Relation;
  readonly onAction: (action: Action) => void;
}

function PolicyRow({ policy, relation, onAction }: PolicyRowProps) {
  const t = useT();
  return (
    <div className="policy">
      <Group justify="space-between" wrap="nowrap" align="start">
        <div className="policy-text">
          <Group gap={6}>
            <Text size="sm" fw={550}>
              {policy.name}
            </Text>
            <Badge size="sm" variant="light" color="gray">
              {policy.command}
            </Badge>
            {policy.roles.map((role) => (
              <Badge
                key={role}
                size="sm"
                variant="outline"
                color={role === 'anon' || role === 'public' ? 'orange' : 'gray'}
                tt="none"
              >
                {role}
              </Badge>
            ))}
            {policy.permissive ? null : (
              <Badge size="sm" color="grape" variant="light">
                {t('restrictive')}
              </Badge>
            )}
          </Group>
          {policy.using === null ? null : (
            <Text size="xs" mt={4} className="wrap">
              using <Code>{policy.using}</Code>
            </Text>
          )}
          {policy.check === null ? null : (
            <Text size="xs" mt={4} className="wrap">
              with check <Code>{policy.check}</Code>
            </Text>
          )}
        </div>
        <Group gap={2} wrap="nowrap">
          <IconButton
            icon="edit"
            label={t('editPolicy', { name: policy.name })}
            onClick={() => onAction({ kind: 'replace', relation, policy })}
          />
          <IconButton
            icon="trash"
            label={t('dropPolicy', { name: policy.name })}
            onClick={() => onAction({ kind: 'drop', relation, policy })}
          />
        </Group>
      </Group>
    </div>
  );
}

interface ActionDialogProps {
  readonly project: Project;
  readonly action: Action;
  readonly onClose: () => void;
}

function ActionDialog({ project, action, onClose }: ActionDialogProps) {
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
          sql={dropPolicySql(schema, table, action.policy.name)}
        />
      );
    case 'security':
      return (
        <SqlDialog
          {...common}
          danger={!action.enable}
          title={action.enable ? t('enableRls') : t('disableRls')}
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
  return (
    <SqlDialog
      project={project}
      title={replaced ? t('editPolicy', { name: replaced.name }) : t('newPolicy')}
      sql={draft.name === '' ? null : sql}
      onClose={onClose}
    >
      <TextInput
        label={t('name')}
        value={draft.name}
        onChange={(event) => setDraft({ ...draft, name: event.currentTarget.value })}
      />
      <Group grow align="start">
        <Select
          label={t('command')}
          data={COMMANDS}
          value={draft.command}
          allowDeselect={false}
          onChange={(command) => setDraft({ ...draft, command: command ?? 'ALL' })}
        />
        <MultiSelect
          label={t('roles')}
          data={[...new Set([...ROLES, ...draft.roles])]}
          value={[...draft.roles]}
          onChange={(roles) => setDraft({ ...draft, roles })}
        />
      </Group>
      {takesUsing(draft.command) ? (
        <Textarea
          label="using"
          description={t('usingHint')}
          autosize
          classNames={{ input: 'mono' }}
          value={draft.using ?? ''}
          onChange={(event) => setDraft({ ...draft, using: event.currentTarget.value })}
        />
      ) : null}
      {takesCheck(draft.command) ? (
        <Textarea
          label="with check"
          description={t('checkHint')}
          autosize
          classNames={{ input: 'mono' }}
          value={draft.check ?? ''}
          onChange={(event) => setDraft({ ...draft, check: event.currentTarget.value })}
        />
      ) : null}
    </SqlDialog>
  );
}
