/** The access of clients to a table, in sentences. */
import { Anchor, Code, List, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useT } from '../../i18n';
import { type PolicyWords, policyWords, type Rows } from '../../lib/policy-words';
import type { Relation } from '../../queries/catalog-types';
import type { Project } from '../../queries/projects';
import { Section } from '../../ui/parts';
import textStyles from '../../ui/text.module.css';

interface PoliciesInWordsProps {
  readonly project: Project;
  readonly relation: Relation;
}

export function PoliciesInWords({ project, relation }: PoliciesInWordsProps) {
  const t = useT();
  const { rls, policies, kind } = relation;
  const isTable = kind === 'table';
  return (
    <Section title={t('apiAccess')}>
      {isTable ? null : <Text size="sm">{t('apiOfView')}</Text>}
      {isTable && !rls ? <Text size="sm">{t('apiRlsOff')}</Text> : null}
      {isTable && rls && policies.length === 0 ? <Text size="sm">{t('apiNoPolicy')}</Text> : null}
      {rls && policies.length > 0 ? (
        <List size="sm" spacing={4}>
          {policies.map((policy) => (
            <List.Item key={policy.name} className={textStyles.wrap}>
              <Sentence words={policyWords(policy)} />
            </List.Item>
          ))}
        </List>
      ) : null}
      <Text size="xs" c="dimmed" mt="xs">
        {t('apiServiceRole')}{' '}
        <Anchor
          size="xs"
          underline="always"
          renderRoot={(props) => (
            <Link
              to="/projects/$slug/policies"
              params={{ slug: project.slug }}
              search={{ search: `${relation.schema}.${relation.name}` }}
              {...props}
            />
          )}
        >
          {t('policies')}
        </Anchor>
      </Text>
    </Section>
  );
}

function Sentence({ words }: { words: PolicyWords }) {
  const t = useT();
  const { who, what, rows, changed, restrictive } = words;
  const whoText = typeof who === 'string' ? t(`apiWho_${who}`) : t('apiWho_roles', { roles: who.roles });
  const values = { who: whoText, what: t(`apiWhat_${what}`), rows: rowsText(rows, t) };
  return (
    <>
      {restrictive ? t('apiRestricted', values) : t('apiMay', values)}
      <Expression rows={rows} />
      {changed === null ? null : (
        <>
          {' '}
          {t('apiChanged', { rows: rowsText(changed, t) })}
          <Expression rows={changed} />
        </>
      )}
    </>
  );
}

function rowsText(rows: Rows, t: ReturnType<typeof useT>): string {
  switch (rows.kind) {
    case 'every':
      return t('apiRows_every');
    case 'own':
      return t('apiRows_own', { column: rows.column });
    case 'where':
      return t('apiRows_where');
  }
}

function Expression({ rows }: { rows: Rows }) {
  return rows.kind === 'where' ? (
    <>
      {' '}
      <Code dir="ltr">{rows.expression}</Code>
    </>
  ) : null;
}
