/** Passkeys: whether they are enabled, and for which domains. */
import { Switch, TagsInput, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useT } from '../../i18n';
import type { Project } from '../../queries/projects';
import { SettingForm } from './setting-form';

export function Passkeys({ project }: { project: Project }) {
  const t = useT();
  const { settings } = project;
  const [isOn, setOn] = useState(settings.passkeys_enabled);
  const [id, setId] = useState(settings.webauthn_rp_id ?? '');
  const [name, setName] = useState(settings.webauthn_rp_name ?? '');
  const [origins, setOrigins] = useState(settings.webauthn_origins);
  return (
    <SettingForm
      project={project}
      title={t('passkeys')}
      text={t('passkeysOfUsersText')}
      change={() => ({
        passkeys_enabled: isOn,
        webauthn_rp_id: id.trim() || null,
        webauthn_rp_name: name.trim() || null,
        webauthn_origins: origins,
      })}
    >
      <Switch
        label={t('passkeysOn')}
        checked={isOn}
        onChange={(event) => setOn(event.currentTarget.checked)}
      />
      <TextInput
        label={t('provider_domain')}
        description={t('passkeyDomainHint')}
        placeholder="example.com"
        value={id}
        onChange={(event) => setId(event.currentTarget.value)}
      />
      <TextInput
        label={t('passkeyShownName')}
        placeholder={project.name}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TagsInput
        label={t('passkeyOrigins')}
        description={t('passkeyOriginsHint')}
        placeholder={settings.site_url ?? 'https://app.example.com'}
        value={origins}
        onChange={setOrigins}
      />
    </SettingForm>
  );
}
