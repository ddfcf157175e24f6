/** The LDAP directory: its setting, and a test that shows the entry of a user. */
import { Button, PasswordInput, Stack, TagsInput, Textarea, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useT } from '../../i18n';
import { type Project, useMayWrite } from '../../queries/projects';
import { tryDirectory } from '../../queries/providers';
import { Dialog } from '../../ui/dialog';
import { Failure } from '../../ui/feedback';
import { FormButtons, Snippet } from '../../ui/parts';
import { SettingForm } from './setting-form';

const REQUIRED = ['url', 'bind_dn', 'base_dn'] as const;
const OPTIONAL = ['user_filter', 'id_attribute', 'group_filter', 'group_base_dn'] as const;
const FIELDS = [...REQUIRED, ...OPTIONAL];
type Field = (typeof FIELDS)[number];
type Setting = NonNullable<Project['settings']['ldap']>;

const EXAMPLES: Readonly<Record<Field, string>> = {
  url: 'ldaps://ldap.example.com',
  bind_dn: 'cn=plinth,dc=example,dc=com',
  base_dn: 'dc=example,dc=com',
  user_filter: '(uid={login})',
  id_attribute: 'entryUUID',
  group_filter: '(member={dn})',
  group_base_dn: 'ou=groups,dc=example,dc=com',
};

const textsOf = (stored: Setting | null): Record<Field, string> =>
  Object.fromEntries(FIELDS.map((name) => [name, stored?.[name] ?? ''])) as Record<Field, string>;

interface Input {
  readonly texts: Readonly<Record<Field, string>>;
  readonly password: string;
  readonly ca: string;
  readonly domains: string[];
}

function settingOf(stored: Setting | null, { texts, password, ca, domains }: Input): Setting {
  const given = FIELDS.map((name) => [name, texts[name].trim()]).filter(([, text]) => text !== '');
  const { attribute_mapping, group_attribute } = stored ?? {};
  return {
    ...(attribute_mapping ? { attribute_mapping } : {}),
    ...(group_attribute ? { group_attribute } : {}),
    ...(Object.fromEntries(given) as Setting),
    ...(password === '' ? {} : { bind_password: password }),
    ...(ca.trim() === '' ? {} : { ca }),
    domains,
  };
}

export function Ldap({ project }: { project: Project }) {
  const t = useT();
  const mayTry = useMayWrite(project);
  const stored = project.settings.ldap;
  const [texts, setTexts] = useState(() => textsOf(stored));
  const [password, setPassword] = useState('');
  const [ca, setCa] = useState(stored?.ca ?? '');
  const [domains, setDomains] = useState(stored?.domains ?? []);
  const [isTrying, setTrying] = useState(false);
  return (
    <SettingForm
      project={project}
      title={t('ldap')}
      text={t('ldapText')}
      change={() => ({ ldap: settingOf(stored, { texts, password, ca, domains }) })}
      off={stored ? { ldap: null } : null}
      onSaved={() => setPassword('')}
      actions={
        stored && mayTry ? (
          <Button
            variant="default"
            aria-label={t('tryProvider', { name: t('ldap') })}
            onClick={() => setTrying(true)}
          >
            {t('tryIt')}
          </Button>
        ) : null
      }
    >
      {FIELDS.map((name) => (
        <TextInput
          key={name}
          label={t(`ldap_${name}`)}
          placeholder={EXAMPLES[name]}
          value={texts[name]}
          required={REQUIRED.some((one) => one === name)}
          withAsterisk={false}
          onChange={(event) => setTexts({ ...texts, [name]: event.currentTarget.value })}
        />
      ))}
      <PasswordInput
        label={t('ldap_bind_password')}
        description={stored ? t('clientSecretKept') : t('clientSecretHint')}
        required={!stored}
        withAsterisk={false}
        autoComplete="off"
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
      <Textarea
        label={t('ldap_ca')}
        description={t('ldap_ca_hint')}
        value={ca}
        autosize
        maxRows={6}
        onChange={(event) => setCa(event.currentTarget.value)}
      />
      <TagsInput
        label={t('provenDomains')}
        description={t('provenDomainsHint')}
        placeholder="example.com"
        value={domains}
        onChange={setDomains}
      />
      {isTrying ? <Trial project={project} onClose={() => setTrying(false)} /> : null}
    </SettingForm>
  );
}

function Trial({ project, onClose }: { project: Project; onClose: () => void }) {
  const t = useT();
  const [login, setLogin] = useState('');
  const [password, setPassword] = useState('');
  const attempt = useMutation({ mutationFn: () => tryDirectory(project, { login, password }) });
  return (
    <Dialog onClose={onClose} title={t('tryProvider', { name: t('ldap') })}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          // The submit event must not reach the form of the page around the dialog.
          event.stopPropagation();
          attempt.mutate();
        }}
      >
        <Stack gap="sm">
          <TextInput
            label={t('trialLogin')}
            required
            withAsterisk={false}
            autoComplete="off"
            value={login}
            onChange={(event) => setLogin(event.currentTarget.value)}
            data-autofocus
          />
          <PasswordInput
            label={t('trialPassword')}
            required
            withAsterisk={false}
            autoComplete="off"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          {attempt.error ? <Failure error={attempt.error} /> : null}
          {attempt.data ? <Snippet label={t('claims')} text={JSON.stringify(attempt.data, null, 2)} /> : null}
          <FormButtons action={t('tryIt')} isPending={attempt.isPending} onClose={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}
