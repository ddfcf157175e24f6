/** SAML identity providers: the addresses to register, the list, and the actions on each provider. */
import {
  Badge,
  Button,
  Group,
  JsonInput,
  Stack,
  Switch,
  Table,
  TagsInput,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useT } from '../../i18n';
import { type Project, useMayWrite } from '../../queries/projects';
import { providersQuery } from '../../queries/providers';
import {
  removeSamlProvider,
  type SamlProvider,
  samlProvidersQuery,
  saveSamlProvider,
  trySamlProvider,
} from '../../queries/saml-providers';
import { DataTable, Named } from '../../ui/data-table';
import { Dialog } from '../../ui/dialog';
import { announce, Failure, Loaded } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { Confirm, FormButtons, IconButton, Section } from '../../ui/parts';
import textStyles from '../../ui/text.module.css';
import { CopiedAddress } from './address';
import { TryButton } from './try-button';

const MAPPING = '{"keys": {"groups": {"name": "memberOf", "array": true}}}';

const nameOf = ({ domains, saml }: SamlProvider): string => domains[0]?.domain ?? saml.entity_id;

export function Saml({ project }: { project: Project }) {
  const t = useT();
  const providers = useQuery(samlProvidersQuery(project));
  const addresses = useQuery(providersQuery(project));
  const mayChange = useMayWrite(project);
  const [edited, setEdited] = useState<SamlProvider | 'new' | null>(null);
  const service = addresses.data?.callback_url.replace(/callback$/, 'sso/saml');
  return (
    <Section title={t('saml')} text={t('samlText')}>
      <Loaded query={providers}>
        {({ items }) => (
          <Stack gap="sm">
            {service ? (
              <>
                <CopiedAddress
                  label={t('samlEntity')}
                  hint={t('samlEntityHint')}
                  value={`${service}/metadata`}
                />
                <CopiedAddress label={t('samlAcs')} value={`${service}/acs`} />
              </>
            ) : null}
            {items.length > 0 ? (
              <SamlTable project={project} items={items} mayChange={mayChange} onEdit={setEdited} />
            ) : null}
            {mayChange ? (
              <Button
                variant="default"
                style={{ alignSelf: 'start' }}
                leftSection={<Icon name="plus" size={16} />}
                onClick={() => setEdited('new')}
              >
                {t('addSaml')}
              </Button>
            ) : null}
            {edited ? (
              <SamlForm
                project={project}
                provider={edited === 'new' ? null : edited}
                onClose={() => setEdited(null)}
              />
            ) : null}
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

interface SamlTableProps {
  readonly project: Project;
  readonly items: readonly SamlProvider[];
  readonly mayChange: boolean;
  readonly onEdit: (provider: SamlProvider) => void;
}

function SamlTable({ project, items, mayChange, onEdit }: SamlTableProps) {
  const t = useT();
  const client = useQueryClient();
  const [removed, setRemoved] = useState<SamlProvider | null>(null);
  return (
    <DataTable minWidth={480} heads={[t('provider'), t('state'), null]}>
      {items.map((provider) => (
        <Table.Tr key={provider.id}>
          <Table.Td>
            <Named name={nameOf(provider)} details={provider.saml.entity_id} />
          </Table.Td>
          <Table.Td>
            <Badge color={provider.disabled ? 'gray' : 'plinth'} variant="dot">
              {t(provider.disabled ? 'disabled' : 'enabled')}
            </Badge>
          </Table.Td>
          <Table.Td ta="end">
            {mayChange ? (
              <Group gap={4} justify="end" wrap="nowrap">
                <TryButton name={nameOf(provider)} begin={() => trySamlProvider(project, provider.id)} />
                <IconButton
                  icon="edit"
                  label={t('editProvider', { name: nameOf(provider) })}
                  onClick={() => onEdit(provider)}
                />
                <IconButton
                  icon="trash"
                  label={t('removeProvider', { name: nameOf(provider) })}
                  onClick={() => setRemoved(provider)}
                />
              </Group>
            ) : null}
          </Table.Td>
        </Table.Tr>
      ))}
      {removed ? (
        <Confirm
          title={t('removeProvider', { name: nameOf(removed) })}
          text={t('removeProviderText')}
          action={t('removeProvider', { name: nameOf(removed) })}
          done={t('providerRemoved', { name: nameOf(removed) })}
          onClose={() => setRemoved(null)}
          run={async () => {
            await removeSamlProvider(project, removed.id);
            await client.invalidateQueries({ queryKey: samlProvidersQuery(project).queryKey });
          }}
        />
      ) : null}
    </DataTable>
  );
}

interface SamlFormProps {
  readonly project: Project;
  /** Null for a new provider. */
  readonly provider: SamlProvider | null;
  readonly onClose: () => void;
}

const mappingOf = (provider: SamlProvider | null): string =>
  provider ? JSON.stringify(provider.saml.attribute_mapping, null, 2) : '';

interface Input {
  readonly url: string;
  readonly xml: string;
  readonly domains: string[];
  readonly mapping: string;
  readonly enabled: boolean;
}

/** Empty fields are not sent, so their stored values are kept. */
function bodyOf({ url, xml, domains, mapping, enabled }: Input): Parameters<typeof saveSamlProvider>[2] {
  return {
    type: 'saml',
    disabled: !enabled,
    domains,
    ...(mapping.trim() === '' ? {} : { attribute_mapping: JSON.parse(mapping) as Record<string, unknown> }),
    ...(url.trim() === '' ? {} : { metadata_url: url.trim() }),
    ...(xml.trim() === '' ? {} : { metadata_xml: xml.trim() }),
  };
}

function SamlForm({ project, provider, onClose }: SamlFormProps) {
  const t = useT();
  const client = useQueryClient();
  const [url, setUrl] = useState(provider?.saml.metadata_url ?? '');
  const [xml, setXml] = useState('');
  const [domains, setDomains] = useState(provider?.domains.map(({ domain }) => domain) ?? []);
  const [mapping, setMapping] = useState(() => mappingOf(provider));
  const [enabled, setEnabled] = useState(!provider?.disabled);
  const save = useMutation({
    mutationFn: () =>
      saveSamlProvider(project, provider?.id ?? null, bodyOf({ url, xml, domains, mapping, enabled })),
    onSuccess: async ({ id }) => {
      await client.invalidateQueries({ queryKey: samlProvidersQuery(project).queryKey });
      announce(t('providerSaved', { name: domains[0] ?? id }));
    },
  });
  return (
    <Dialog onClose={onClose} title={provider ? t('editProvider', { name: nameOf(provider) }) : t('addSaml')}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate(undefined, { onSuccess: onClose });
        }}
      >
        <Stack gap="sm">
          <TagsInput
            label={t('provenDomains')}
            description={t('samlDomainsHint')}
            placeholder="example.com"
            value={domains}
            onChange={setDomains}
            data-autofocus
          />
          <TextInput
            type="url"
            label={t('samlMetadataUrl')}
            description={t('samlMetadataUrlHint')}
            value={url}
            required={provider === null && xml.trim() === ''}
            withAsterisk={false}
            onChange={(event) => setUrl(event.currentTarget.value)}
          />
          <Textarea
            label={t('samlMetadataXml')}
            description={provider ? t('samlMetadataKept') : null}
            value={xml}
            autosize
            minRows={2}
            maxRows={8}
            classNames={{ input: textStyles.mono }}
            onChange={(event) => setXml(event.currentTarget.value)}
          />
          <JsonInput
            label={t('attributeMapping')}
            description={t('attributeMappingHint')}
            placeholder={MAPPING}
            validationError={t('invalidJson')}
            value={mapping}
            autosize
            minRows={2}
            maxRows={8}
            classNames={{ input: textStyles.mono }}
            onChange={setMapping}
          />
          <Switch
            label={t('providerEnabled')}
            checked={enabled}
            onChange={(event) => setEnabled(event.currentTarget.checked)}
          />
          {save.error ? <Failure error={save.error} /> : null}
          <FormButtons
            action={t(provider ? 'saveProvider' : 'addSaml')}
            isPending={save.isPending}
            onClose={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
