/** Row-level security: the access that each table allows, with templates, and SQL that is shown before it runs. */
import {
  Alert,
  Badge,
  Button,
  Code,
  Group,
  Menu,
  ScrollArea,
  Stack,
  Switch,
  Text,
  Title,
  UnstyledButton,
} from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect, useRef, useState } from 'react';
import type { Policy, Relation } from '../../queries/catalog-types';
import { isExposed, type Project, useCatalog, useMayWrite, useProject } from '../../queries/projects';
import { useT } from '../../i18n';
import { type Risk, riskOf } from '../../lib/policy-risk';
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
          return (
            <ScrollArea type="auto" offsetScrollbars="x">
              <PoliciesTable project={project} relations={found} onAction={setAction} />
            </ScrollArea>
          );
        }}
      </Loaded>
      {action ? <ActionDialog project={project} action={action} onClose={() => setAction(null)} /> : null}
    </Page>
  );
}

interface PoliciesTableProps {
  readonly project: Project;
  readonly relations: readonly Relation[];
  readonly onAction: (action: Action) => void;
}

/** Height of a closed row in pixels. Each row is measured once it is drawn. */
const ROW_PX = 47;
const keyOf = (relation: Relation | undefined): string => JSON.stringify([relation?.schema, relation?.name]);

/** Only the rows near the view are in the page, because a project can have hundreds of tables. */
function PoliciesTable({ project, relations, onAction }: PoliciesTableProps) {
  const t = useT();
  const list = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  // If the search finds a single table, its policies are shown.
  const [opened, setOpened] = useState<ReadonlySet<string>>(() => new Set());
  const isOpen = (relation: Relation): boolean => opened.has(keyOf(relation)) || relations.length === 1;
  useLayoutEffect(() => setTop((list.current?.getBoundingClientRect().top ?? 0) + scrollY), []);
  const rows = useWindowVirtualizer({
    count: relations.length,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => keyOf(relations[index]),
    overscan: 8,
    scrollMargin: top,
  });
  const toggle = (relation: Relation): void => {
    const next = new Set(opened);
    if (!next.delete(keyOf(relation))) next.add(keyOf(relation));
    setOpened(next);
  };
  return (
    <div
      role="table"
      aria-label={t('policies')}
      aria-rowcount={relations.length + 1}
      className={styles.table}
    >
      <div role="rowgroup">
        <div role="row" className={styles.head}>
          {[t('table'), t('rls'), t('policies'), t('risk')].map((label) => (
            <span key={label} role="columnheader">
              {label}
            </span>
          ))}
          <span role="columnheader" aria-label={t('actions')} />
        </div>
      </div>
      <div ref={list} className={styles.list} style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ key, index, start }) => (
          <div
            key={key}
            role="rowgroup"
            ref={rows.measureElement}
            data-index={index}
            style={{ transform: `translateY(${start - top}px)` }}
          >
            <TableRow
              project={project}
              relation={relations[index]!}
              rowIndex={index + 2}
              isOpen={isOpen(relations[index]!)}
              onToggle={() => toggle(relations[index]!)}
              onAction={onAction}
            />
          </div>
        ))}
      </div>
    </div>
  );
}

interface TableRowProps {
  readonly project: Project;
  readonly relation: Relation;
  readonly rowIndex: number;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  readonly onAction: (action: Action) => void;
}

const RISK_COLORS: Readonly<Record<Risk, string>> = {
  rlsOff: 'red',
  anyoneWrites: 'red',
  anyoneReads: 'blue',
  closed: 'orange',
  byPolicy: 'plinth',
};

function TableRow({ project, relation, rowIndex, isOpen, onToggle, onAction }: TableRowProps) {
  const t = useT();
  const { schema, name, rls, policies } = relation;
  const mayWrite = useMayWrite(project);
  const risk = riskOf(relation);
  return (
    <>
      <div role="row" aria-rowindex={rowIndex} className={styles.row}>
        <div role="cell">
          <UnstyledButton aria-expanded={isOpen} onClick={onToggle} className={styles.name}>
            <Icon name={isOpen ? 'chevron' : 'right'} size={16} />
            <Title order={2} size="sm" className={textStyles.wrap}>
              {schema === 'public' ? name : `${schema}.${name}`}
            </Title>
          </UnstyledButton>
        </div>
        <div role="cell">
          <Badge variant="light" color={rls ? 'plinth' : 'orange'}>
            {rls ? t('rlsOn') : t('rlsOff')}
          </Badge>
        </div>
        <Text role="cell" size="sm">
          {policies.length}
        </Text>
        <div role="cell">
          <Badge variant="light" color={RISK_COLORS[risk]}>
            {t(`risk_${risk}`)}
          </Badge>
        </div>
        <Group role="cell" gap="xs" justify="end" wrap="nowrap">
          {mayWrite ? <NewPolicy relation={relation} onAction={onAction} /> : null}
        </Group>
      </div>
      {isOpen ? (
        <div role="row">
          <div role="cell" aria-colspan={5} className={styles.details}>
            <Details project={project} relation={relation} onAction={mayWrite ? onAction : null} />
          </div>
        </div>
      ) : null}
    </>
  );
}

interface DetailsProps {
  readonly project: Project;
  readonly relation: Relation;
  /** Null if the staff member may not change it. */
  readonly onAction: ((action: Action) => void) | null;
}

function Details({ project, relation, onAction }: DetailsProps) {
  const t = useT();
  const { rls, policies } = relation;
  return (
    <Stack gap="xs">
      {rls ? null : (
        <Alert color="orange" variant="light" p="xs">
          {t('rlsOffText')}
        </Alert>
      )}
      {rls && policies.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('noPolicies')}
        </Text>
      ) : null}
      {policies.map((policy) => (
        <PolicyRow key={policy.name} policy={policy} relation={relation} onAction={onAction} />
      ))}
      <Group gap="xs">
        <ViewRows project={project} relation={relation} />
        {onAction ? (
          <Button
            size="xs"
            variant="default"
            onClick={() => onAction({ kind: 'security', relation, enable: !rls })}
          >
            {rls ? t('disableRls') : t('enableRls')}
          </Button>
        ) : null}
      </Group>
    </Stack>
  );
}

function ViewRows({ project, relation: { schema, name } }: Pick<DetailsProps, 'project' | 'relation'>) {
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

function NewPolicy({ relation, onAction }: Pick<TableRowProps, 'relation' | 'onAction'>) {
  const t = useT();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<Icon name="plus" size={14} />}>
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
  );
}

interface PolicyRowProps {
  readonly policy: Policy;
  readonly relation: Relation;
  /** Null if the staff member may not change it. */
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
