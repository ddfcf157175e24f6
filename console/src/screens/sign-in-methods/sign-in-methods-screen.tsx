/** The sign-in methods of a project's users: settings and providers. */
import { Button, Stack } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useT } from '../../i18n';
import { useProject } from '../../queries/projects';
import { Icon } from '../../ui/icon';
import { Page } from '../../ui/parts';
import { Applications } from './applications';
import { Captcha } from './captcha';
import { Ldap } from './ldap';
import { Methods } from './methods';
import { Passkeys } from './passkeys';
import { Providers } from './providers';
import { Saml } from './saml';

export function SignInMethodsScreen() {
  const t = useT();
  const project = useProject();
  return (
    <Page
      title={t('signInSettings')}
      text={t('signInMethodsText')}
      actions={
        <Button
          variant="default"
          leftSection={<Icon name="settings" size={16} />}
          renderRoot={(props) => (
            <Link
              to="/projects/$slug/settings"
              params={{ slug: project.slug }}
              search={{ group: 'auth' }}
              {...props}
            />
          )}
        >
          {t('allAuthSettings')}
        </Button>
      }
    >
      <Stack gap="md" maw={900}>
        <Methods project={project} />
        <Providers project={project} />
        <Saml project={project} />
        <Ldap project={project} />
        <Passkeys project={project} />
        <Captcha project={project} />
        <Applications project={project} />
      </Stack>
    </Page>
  );
}
