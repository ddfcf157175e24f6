/** Row-level security: what each table allows, with templates, and SQL that is shown before it runs. */
import { Alert, Badge, Button, Card, Code, Group, Menu, Stack, Switch, Text, Title } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect, useRef, useState } from 'react';
import type { Policy, Relation } from '../../queries/catalog-types';
import { isExposed, type Project, useCatalog, useMayWrite, useProject } from '../../queries/projects';
import { useT } from '../../i18n';
import { draftOf, templatesFor } from '../../lib/policy-templates';
import { AddressInput } from '../../ui/address-input';
import { Empty, Loaded } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { IconButton, Page } from '../../ui/parts';
import { type Action, ActionDialog } from './policy-dialog';
import styles from './policies.module.css';
import textStyles from '../../ui/text.module.css';
import policyStyles from '../../ui/policy.module.css';

const route = getRouteApi('/signed-in/projects/$slug/policies');

export function PoliciesScreen() {
  const t = useT();
  const project = useProject();
  const catalog = useCatalog(project);
  const search = route.useSearch();
  const filter = search.search ?? '';
  const withAll = search.all !== undefined;
  const navigate = route.useNavigate();
  const [action, setAction] = useState<Action | null>(null);
  return (
    <Page title={t('policies')} text={t('policiesText')}>
      <Group mb="md" gap="md">
        <AddressInput
          aria-label={t('searchTables')}
          placeholder={t('searchTables')}
          leftSection={<Icon name="search" size={16} />}
          value={filter}
          onText={(text) =>
            void navigate({ search: { ...search, search: text || undefined }, replace: true })
          }
          w={280}
        />
        <Switch
          label={t('allSchemas')}
          checked={withAll}
          onChange={(event) =>
            void navigate({ search: { ...search, all: event.currentTarget.checked ? '1' : undefined } })
          }
        />
      </Group>
      <Loaded query={catalog}>
        {(relations) => {
          const found = relations.filter(
            (one) =>
              one.kind === 'table' &&
              (withAll || isExposed(project, one)) &&
              `${one.schema}.${one.name}`.toLowerCase().includes(filter.toLowerCase()),
          );
          if (found.length === 0 && filter !== '')
            return (
              <Empty icon="shield" title={t('nothingFound')} text={t('noTableFound', { name: filter })} />
            );
          if (found.length === 0)
            return (
              <Empty icon="shield" title={t('noTables')} text={t('noPoliciesText')}>
                <Button
                  renderRoot={(props) => (
                    <Link to="/projects/$slug/tables" params={{ slug: project.slug }} {...props} />
                  )}
                >
                  {t('tables')}
                </Button>
              </Empty>
            );
          return <TableCards project={project} relations={found} onAction={setAction} />;
        }}
      </Loaded>
      {action ? <ActionDialog project={project} action={action} onClose={() => setAction(null)} /> : null}
    </Page>
  );
}

interface TableCardsProps {
  readonly project: Project;
  readonly relations: readonly Relation[];
  readonly onAction: (action: Action) => void;
}

/** Pixels of a card with two policies. Each card is measured once it is drawn. */
const CARD_PX = 240;

/** Only the cards near the view are in the page: a project may have hundreds of tables. */
function TableCards({ project, relations, onAction }: TableCardsProps) {
  const list = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => setTop((list.current?.getBoundingClientRect().top ?? 0) + scrollY), []);
  const cards = useWindowVirtualizer({
    count: relations.length,
    estimateSize: () => CARD_PX,
    getItemKey: (index) => JSON.stringify([relations[index]?.schema, relations[index]?.name]),
    gap: 16,
    overscan: 4,
    scrollMargin: top,
  });
  return (
    <div ref={list} className={styles.list} style={{ height: cards.getTotalSize() }}>
      {cards.getVirtualItems().map(({ key, index, start }) => (
        <div
          key={key}
          ref={cards.measureElement}
          data-index={index}
          style={{ transform: `translateY(${start - top}px)` }}
        >
          <TableCard project={project} relation={relations[index]!} onAction={onAction} />
        </div>
      ))}
    </div>
  );
}

interface TableCardProps {
  readonly project: Project;
  readonly relation: Relation;
  readonly onAction: (action: Action) => void;
}

function TableCard({ project, relation, onAction }: TableCardProps) {
  const t = useT();
  const { schema, name, rls, policies } = relation;
  const mayWrite = useMayWrite(project);
  return (
    <Card withBorder component="section">
      <Group justify="space-between" mb="xs">
        <Group gap="xs">
          <Title order={2} size="h4" className={textStyles.wrap}>
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
          <ViewRows project={project} relation={relation} />
          {mayWrite ? <TableActions relation={relation} onAction={onAction} /> : null}
        </Group>
      </Group>
      {!rls ? (
        <Alert color="orange" variant="light" p="xs">
          {t('rlsOffText')}
        </Alert>
      ) : null}
      {rls && policies.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('noPolicies')}
        </Text>
      ) : null}
      <Stack gap="xs" mt={policies.length > 0 ? 'xs' : 0}>
        {policies.map((policy) => (
          <PolicyRow
            key={policy.name}
            policy={policy}
            relation={relation}
            onAction={mayWrite ? onAction : null}
          />
        ))}
      </Stack>
    </Card>
  );
}

function ViewRows({ project, relation: { schema, name } }: Pick<TableCardProps, 'project' | 'relation'>) {
  const t = useT();
  return (
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
  );
}

function TableActions({ relation, onAction }: Pick<TableCardProps, 'relation' | 'onAction'>) {
  const t = useT();
  const { rls } = relation;
  return (
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
          {templatesFor(relation).map((template) => (
            <Menu.Item
              key={template}
              onClick={() => onAction({ kind: 'create', relation, draft: draftOf(template, relation) })}
            >
              {t(`template_${template}`)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

interface PolicyRowProps {
  readonly policy: Policy;
  readonly relation: Relation;
  /** Null if the person may not change it. */
  readonly onAction: ((action: Action) => void) | null;
}

function PolicyRow({ policy, relation, onAction }: PolicyRowProps) {
  const t = useT();
  return (
    <div className={policyStyles.policy} data-policy={policy.name}>
      <Group justify="space-between" wrap="nowrap" align="start">
        <div className={policyStyles.text}>
          <Group gap={6}>
            <Text size="sm" fw={550} className={textStyles.wrap}>
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
            <Text size="xs" mt={4} className={textStyles.wrap}>
              using <Code>{policy.using}</Code>
            </Text>
          )}
          {policy.check === null ? null : (
            <Text size="xs" mt={4} className={textStyles.wrap}>
              with check <Code>{policy.check}</Code>
            </Text>
          )}
        </div>
        {onAction ? (
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
        ) : null}
      </Group>
    </div>
  );
}
