/** The captcha of the project. */
import { PasswordInput, Select } from '@mantine/core';
import { useState } from 'react';
import { useT } from '../../i18n';
import type { Project } from '../../queries/projects';
import { SettingForm } from './setting-form';

const PROVIDERS = [
  { value: 'hcaptcha', label: 'hCaptcha' },
  { value: 'turnstile', label: 'Cloudflare Turnstile' },
];
type Provider = 'hcaptcha' | 'turnstile';

export function Captcha({ project }: { project: Project }) {
  const t = useT();
  const stored = project.settings.captcha;
  const [provider, setProvider] = useState<Provider>(stored?.provider ?? 'hcaptcha');
  const [secret, setSecret] = useState('');
  const isKept = stored?.provider === provider;
  return (
    <SettingForm
      project={project}
      title={t('captcha')}
      text={t('captchaText')}
      change={() => ({ captcha: { ...stored, provider, ...(secret === '' ? {} : { secret }) } })}
      off={stored ? { captcha: null } : null}
      onSaved={() => setSecret('')}
    >
      <Select
        label={t('provider')}
        data={PROVIDERS}
        value={provider}
        allowDeselect={false}
        onChange={(next) => setProvider(next as Provider)}
      />
      <PasswordInput
        label={t('captchaSecret')}
        description={isKept ? t('clientSecretKept') : t('captchaSecretHint')}
        required={!isKept}
        withAsterisk={false}
        autoComplete="off"
        value={secret}
        onChange={(event) => setSecret(event.currentTarget.value)}
      />
    </SettingForm>
  );
}
