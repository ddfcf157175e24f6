/** Providers of a project: the address to register, the list, and the actions on each provider. */
import { Badge, Button, Group, Stack, Table, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useT } from '../../i18n';
import { type Project, useMayWrite } from '../../queries/projects';
import { type Provider, providersQuery, removeProvider, tryProvider } from '../../queries/providers';
import { DataTable, Named } from '../../ui/data-table';
import { Empty, Loaded } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { Confirm, IconButton, Section } from '../../ui/parts';
import textStyles from '../../ui/text.module.css';
import { CopiedAddress } from './address';
import { ProviderForm } from './provider-form';
import { presetLabel } from './presets';
import { TryButton } from './try-button';

export function Providers({ project }: { project: Project }) {
  const t = useT();
  const providers = useQuery(providersQuery(project));
  const mayChange = useMayWrite(project);
  const [edited, setEdited] = useState<Provider | 'new' | null>(null);
  return (
    <Section title={t('providers')} text={t('providersText')}>
      <Loaded query={providers}>
        {({ providers: list, callback_url: callbackUrl }) => (
          <Stack gap="sm">
            <CopiedAddress label={t('callbackUrl')} hint={t('callbackUrlHint')} value={callbackUrl} />
            {list.length === 0 ? (
              <Empty icon="users" title={t('noProviders')} text={t('noProvidersText')} />
            ) : (
              <ProviderTable project={project} providers={list} mayChange={mayChange} onEdit={setEdited} />
            )}
            {mayChange ? (
              <Button
                style={{ alignSelf: 'start' }}
                leftSection={<Icon name="plus" size={16} />}
                onClick={() => setEdited('new')}
              >
                {t('addProvider')}
              </Button>
            ) : null}
            {edited ? (
              <ProviderForm
                project={project}
                provider={edited === 'new' ? null : edited}
                callbackUrl={callbackUrl}
                taken={list.map(({ name }) => name)}
                onClose={() => setEdited(null)}
              />
            ) : null}
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

interface TableProps {
  readonly project: Project;
  readonly providers: readonly Provider[];
  readonly mayChange: boolean;
  readonly onEdit: (provider: Provider) => void;
}

function ProviderTable({ project, providers, mayChange, onEdit }: TableProps) {
  const t = useT();
  const client = useQueryClient();
  const [removed, setRemoved] = useState<Provider | null>(null);
  return (
    <DataTable minWidth={560} heads={[t('provider'), t('clientId'), t('state'), null]}>
      {providers.map((provider) => (
        <Table.Tr key={provider.name}>
          <Table.Td>
            <Named name={presetLabel(t, provider.preset)} details={provider.name} />
          </Table.Td>
          <Table.Td>
            <Text size="sm" className={textStyles.wrap} dir="auto">
              {provider.client_id}
            </Text>
          </Table.Td>
          <Table.Td>
            <Badge color={provider.enabled ? 'plinth' : 'gray'} variant="dot">
              {t(provider.enabled ? 'enabled' : 'disabled')}
            </Badge>
          </Table.Td>
          <Table.Td ta="end">
            {mayChange ? (
              <Group gap={4} justify="end" wrap="nowrap">
                <TryButton name={provider.name} begin={() => tryProvider(project, provider.name)} />
                <IconButton
                  icon="edit"
                  label={t('editProvider', { name: provider.name })}
                  onClick={() => onEdit(provider)}
                />
                <IconButton
                  icon="trash"
                  label={t('removeProvider', { name: provider.name })}
                  onClick={() => setRemoved(provider)}
                />
              </Group>
            ) : null}
          </Table.Td>
        </Table.Tr>
      ))}
      {removed ? (
        <Confirm
          title={t('removeProvider', { name: removed.name })}
          text={t('removeProviderText')}
          action={t('removeProvider', { name: removed.name })}
          done={t('providerRemoved', { name: removed.name })}
          onClose={() => setRemoved(null)}
          run={async () => {
            await removeProvider(project, removed.name);
            await client.invalidateQueries({ queryKey: ['providers', project.id] });
          }}
        />
      ) : null}
    </DataTable>
  );
}
