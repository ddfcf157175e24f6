/** Calls of a table in several languages, with the key of clients filled in, and a form to send them. */
import { Group, SegmentedControl, Select, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { PLINTH_URL } from '../../api/base-url';
import { type Identity, projectHeaders } from '../../api/identity';
import { useT } from '../../i18n';
import { type SnippetName, SNIPPETS } from '../../lib/snippets';
import { CALL_NAMES, type CallName, callOf } from '../../lib/table-calls';
import type { Relation } from '../../queries/catalog-types';
import type { Project } from '../../queries/projects';
import { Section, Snippet } from '../../ui/parts';
import { TryIt } from './try-it';

interface CallsProps {
  readonly project: Project;
  readonly relation: Relation;
  readonly identity: Identity;
}

const LANGUAGES = ['curl', 'supabase-js', 'openapi-fetch', 'Python', 'Dart'] as const;

export function Calls({ project, relation, identity }: CallsProps) {
  const t = useT();
  const [name, setName] = useState<CallName>('list');
  const [language, setLanguage] = useState<SnippetName>('curl');
  // The anon key is public, so roles that may not read the keys of the project get it together with the token to view as anon.
  const anonKey = useQuery({
    queryKey: ['anon-key', project.id],
    queryFn: async () => (await projectHeaders(project.id, { as: 'anon' })).apikey ?? '',
    staleTime: 60_000,
  });
  const call = callOf(name, relation);
  const [first] = project.settings.exposed_schemas;
  const schema = relation.schema === first ? null : relation.schema;
  const place = {
    url: PLINTH_URL,
    slug: project.slug,
    anonKey: anonKey.data || 'ANON_KEY',
    schema,
    table: relation.name,
  };
  return (
    <>
      <Section title={t('apiCalls')}>
        <Stack gap="sm">
          <Group gap="sm" align="end">
            <Select
              size="xs"
              w={{ base: '100%', xs: 220 }}
              label={t('apiOperation')}
              allowDeselect={false}
              value={name}
              data={CALL_NAMES.map((value) => ({ value, label: t(`apiCall_${value}`) }))}
              onChange={(next) => setName(CALL_NAMES.find((one) => one === next) ?? 'list')}
            />
            <SegmentedControl
              size="xs"
              aria-label={t('apiLanguage')}
              value={language}
              data={[...LANGUAGES]}
              onChange={(next) => setLanguage(LANGUAGES.find((one) => one === next) ?? 'curl')}
            />
          </Group>
          <Snippet label={`${t(`apiCall_${name}`)}, ${language}`} text={SNIPPETS[language](place, call)} />
        </Stack>
      </Section>
      <TryIt key={name} project={project} place={place} call={call} identity={identity} />
    </>
  );
}
