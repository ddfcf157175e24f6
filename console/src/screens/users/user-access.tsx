/** The sessions and second factors of a user. */
import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Project } from '../../queries/projects';
import { projectClient, type User } from '../../queries/users';
import { useLanguages } from '../../i18n';
import { formatTime } from '../../lib/format';
import { announce, Failure, Loaded } from '../../ui/feedback';
import { Part } from '../../ui/part';
import { Confirm } from '../../ui/parts';
import choiceStyles from '../../ui/choice.module.css';
import textStyles from '../../ui/text.module.css';

export function Sessions({ project, user }: { project: Project; user: User }) {
  const { t, language } = useLanguages();
  const client = useQueryClient();
  const queryKey = ['sessions', project.id, user.id];
  const sessions = useQuery({
    queryKey,
    queryFn: async () =>
      (
        await projectClient(project.id).GET('/v1/auth/{project_id}/admin/users/{user_id}/sessions', {
          params: { path: { project_id: project.id, user_id: user.id } },
        })
      ).data?.sessions ?? [],
  });
  const signOut = useMutation({
    mutationFn: () =>
      projectClient(project.id).POST('/v1/auth/{project_id}/admin/users/{user_id}/logout', {
        params: { path: { project_id: project.id, user_id: user.id } },
      }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey });
      announce(t('userSignedOut', { email: user.email }));
    },
  });
  return (
    <Part title={t('sessions')}>
      <Loaded query={sessions}>
        {(rows) => (
          <Stack gap="xs">
            {rows.length === 0 ? (
              <Text size="sm" c="dimmed">
                {t('noSessions')}
              </Text>
            ) : null}
            {rows.map(({ id, last_seen_at: seen, ip, user_agent: agent, aal }) => (
              <div key={id} className={choiceStyles.choice}>
                <Group justify="space-between">
                  <Text size="sm">{formatTime(seen, language)}</Text>
                  <Badge size="xs" variant="light">
                    {aal}
                  </Badge>
                </Group>
                <Text size="xs" c="dimmed" className={textStyles.wrap}>
                  {ip} {agent?.slice(0, 200)}
                </Text>
              </div>
            ))}
            {signOut.error ? <Failure error={signOut.error} /> : null}
            {rows.length > 0 ? (
              <Group>
                <Button
                  size="xs"
                  variant="default"
                  loading={signOut.isPending}
                  onClick={() => signOut.mutate()}
                >
                  {t('endSessions')}
                </Button>
              </Group>
            ) : null}
          </Stack>
        )}
      </Loaded>
    </Part>
  );
}

export function Factors({ project, user }: { project: Project; user: User }) {
  const { t, language } = useLanguages();
  const client = useQueryClient();
  const queryKey = ['factors', project.id, user.id];
  const path = { project_id: project.id, user_id: user.id };
  const calls = projectClient(project.id);
  const factors = useQuery({
    queryKey,
    queryFn: async () =>
      (await calls.GET('/v1/auth/{project_id}/admin/users/{user_id}/factors', { params: { path } })).data
        ?.factors ?? [],
  });
  const [removed, setRemoved] = useState<{ id: string; label: string } | null>(null);
  return (
    <Part title={t('factors')}>
      <Loaded query={factors}>
        {(list) =>
          list.length === 0 ? (
            <Text size="sm" c="dimmed">
              {t('noFactors')}
            </Text>
          ) : (
            <Stack gap="xs">
              {list.map(({ id, name, kind, created_at: at }) => (
                <Group key={id} justify="space-between" className={choiceStyles.choice}>
                  <Text size="sm" dir="auto">
                    {name || kind} · {formatTime(at, language)}
                  </Text>
                  <Button
                    size="compact-xs"
                    color="red"
                    variant="light"
                    onClick={() => setRemoved({ id, label: name || kind })}
                  >
                    {t('removeUserFactor')}
                  </Button>
                </Group>
              ))}
            </Stack>
          )
        }
      </Loaded>
      {removed ? (
        <Confirm
          title={t('removeUserFactor')}
          text={t('removeFactorQuestion', { name: removed.label, email: user.email })}
          action={t('removeUserFactor')}
          done={t('factorRemoved', { name: removed.label, email: user.email })}
          onClose={() => setRemoved(null)}
          run={async () => {
            await calls.DELETE('/v1/auth/{project_id}/admin/users/{user_id}/factors/{factor_id}', {
              params: { path: { ...path, factor_id: removed.id } },
            });
            await client.invalidateQueries({ queryKey });
          }}
        />
      ) : null}
    </Part>
  );
}
