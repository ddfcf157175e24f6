/** The sign-in methods of a user: a password, or a provider of OpenID Connect, SAML or LDAP. */
import { Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useLanguages } from '../../i18n';
import { formatTime } from '../../lib/format';
import type { Project } from '../../queries/projects';
import { projectClient, type User } from '../../queries/users';
import { Loaded } from '../../ui/feedback';
import { Part } from '../../ui/part';
import choiceStyles from '../../ui/choice.module.css';
import textStyles from '../../ui/text.module.css';

export function Identities({ project, user }: { project: Project; user: User }) {
  const { t, language } = useLanguages();
  const identities = useQuery({
    queryKey: ['identities', project.id, user.id],
    queryFn: async () => {
      const { data } = await projectClient(project.id).GET(
        '/p/{project_slug}/auth/v1/admin/users/{user_id}',
        { params: { path: { project_slug: project.slug, user_id: user.id } } },
      );
      return data?.identities ?? [];
    },
  });
  return (
    <Part title={t('identities')}>
      <Loaded query={identities}>
        {(list) => (
          <Stack gap="xs">
            {list.length === 0 ? (
              <Text size="sm" c="dimmed">
                {t('noIdentities')}
              </Text>
            ) : null}
            {list.map(({ identity_id: id, id: subject, provider, email, last_sign_in_at: last }) => (
              <div key={id} className={choiceStyles.choice}>
                <Group justify="space-between">
                  <Text size="sm">{provider}</Text>
                  <Text size="xs" c="dimmed">
                    {last ? formatTime(last, language) : ''}
                  </Text>
                </Group>
                <Text size="xs" c="dimmed" className={textStyles.wrap}>
                  {email ?? subject.slice(0, 200)}
                </Text>
              </div>
            ))}
          </Stack>
        )}
      </Loaded>
    </Part>
  );
}
