/** One table: its name, the identity whose rows are shown, its structure, and its rows. */
import { ActionIcon, Badge, Group, Title, Tooltip } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Relation } from '../../queries/catalog-types';
import { isExposed, type Project } from '../../queries/projects';
import { type Translate, useT } from '../../i18n';
import { identityFromText, identityToText } from '../../lib/identity-link';
import { Empty } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { Rows } from './rows';
import { StructureButton } from './structure';
import { ViewAs } from '../../ui/view-as';
import splitStyles from '../../ui/split.module.css';
import textStyles from '../../ui/text.module.css';

const route = getRouteApi('/signed-in/projects/$slug/tables');

interface TablePanelProps {
  readonly project: Project;
  readonly relation: Relation;
  readonly relations: readonly Relation[];
  /** Null if the list is always visible. */
  readonly onOpenList: (() => void) | null;
}

export function TablePanel({ project, relation, relations, onOpenList }: TablePanelProps) {
  const t = useT();
  const { as } = route.useSearch();
  const navigate = route.useNavigate();
  const identity = useMemo(() => identityFromText(as), [as]);
  return (
    <>
      <div className={splitStyles.head}>
        <Group gap="xs" wrap="nowrap" miw={0}>
          {onOpenList ? (
            <Tooltip label={t('tables')}>
              <ActionIcon aria-label={t('tables')} onClick={onOpenList} variant="default">
                <Icon name="tree" size={16} />
              </ActionIcon>
            </Tooltip>
          ) : null}
          <Title order={1} size="h4" className={textStyles.truncate}>
            {relation.name}
          </Title>
          {relation.kind === 'table' ? (
            <Badge variant="light" color={relation.rls ? 'plinth' : 'orange'} flex="none">
              {rlsLabel(t, relation)}
            </Badge>
          ) : (
            <Badge variant="light" color="gray" flex="none">
              {t(relation.kind === 'foreign table' ? 'foreignTable' : 'view')}
            </Badge>
          )}
        </Group>
        <Group gap="xs">
          <ViewAs
            project={project}
            identity={identity}
            onChange={(next) => void navigate({ search: (old) => ({ ...old, as: identityToText(next) }) })}
          />
          <StructureButton project={project} relation={relation} relations={relations} />
        </Group>
      </div>
      {isExposed(project, relation) ? (
        <Rows project={project} relation={relation} relations={relations} identity={identity} />
      ) : (
        <Empty icon="lock" title={t('notExposed')} text={t('notExposedText', { schema: relation.schema })} />
      )}
    </>
  );
}

function rlsLabel(t: Translate, { rls, policies }: Relation): string {
  return rls ? t('policyCount', { count: policies.length }) : t('rlsOff');
}
