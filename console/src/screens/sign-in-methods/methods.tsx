/** Sign-in methods that are settings of the project. Each is saved when it is switched. */
import { Anchor, Stack, Switch, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useT } from '../../i18n';
import { type Project, useMay } from '../../queries/projects';
import { Failure } from '../../ui/feedback';
import { Section } from '../../ui/parts';
import { useSaveSettings } from './save-settings';

const METHODS = ['signup_enabled', 'magic_link_enabled', 'anonymous_signin_enabled'] as const;

export function Methods({ project }: { project: Project }) {
  const t = useT();
  const mayChange = useMay(project, 'PATCH /admin/v1/projects/:id');
  const save = useSaveSettings(project);
  const { settings } = project;
  return (
    <Section title={t('signInMethods')}>
      <Stack gap="sm">
        <Switch checked disabled label={t('method_password')} description={t('method_password_text')} />
        {METHODS.map((name) => (
          <Switch
            key={name}
            checked={settings[name] ?? Boolean(settings.site_url)}
            disabled={!mayChange || save.isPending}
            label={t(`method_${name}`)}
            description={t(`method_${name}_text`)}
            onChange={(event) => save.mutate({ [name]: event.currentTarget.checked })}
          />
        ))}
        {settings.site_url ? null : (
          <Text size="sm" c="dimmed">
            {t('siteUrlMissing')}{' '}
            <Anchor
              underline="always"
              size="sm"
              renderRoot={(props) => (
                <Link
                  to="/projects/$slug/settings"
                  params={{ slug: project.slug }}
                  search={{ group: 'auth', search: 'url' }}
                  {...props}
                />
              )}
            >
              {t('setAddresses')}
            </Anchor>
          </Text>
        )}
        {save.error ? <Failure error={save.error} /> : null}
      </Stack>
    </Section>
  );
}
