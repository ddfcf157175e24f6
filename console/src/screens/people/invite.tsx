/**
 * Invites to the installation or to a project. A staff member who has an account gets the role in the project
 * immediately.
 */
import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf, type Schema } from '../../api/client';
import { ApiError } from '../../api/errors';
import { useSession } from '../../api/session';
import { useT } from '../../i18n';
import { isOwner } from '../../lib/permissions';
import { Dialog } from '../../ui/dialog';
import { announce, Failure } from '../../ui/feedback';
import { Snippet } from '../../ui/parts';
import { INSTALL_ROLES, type InstallRole, PROJECT_ROLES, type ProjectRole, roleOptions } from './roles';

type Invitation = Schema<'InviteDto'>;

interface InviteProps {
  /** Null to invite to the installation. */
  readonly projectId: string | null;
  readonly onClose: () => void;
}

export function Invite({ projectId, onClose }: InviteProps) {
  const t = useT();
  const client = useQueryClient();
  const session = useSession();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<string>(projectId === null ? 'none' : 'developer');
  const [link, setLink] = useState<string | null>(null);
  const invite = useMutation({
    mutationFn: () => send(email.trim(), role, projectId),
    onSuccess: async (made) => {
      await client.invalidateQueries({ queryKey: ['people'] });
      if (!made.link) announce(t(made.outcome));
    },
  });
  const finish = (made: { link: string | null }): void => (made.link ? setLink(made.link) : onClose());
  const offered = INSTALL_ROLES.filter((one) => one !== 'owner' || isOwner(session));
  const options =
    projectId === null
      ? [{ value: 'none', label: t('role_none') }, ...roleOptions(offered, t)]
      : roleOptions(PROJECT_ROLES, t);
  const title = link === null ? t('invitePerson') : t('invitationLinkTitle');
  return (
    <Dialog onClose={onClose} title={title}>
      {link === null ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            invite.mutate(undefined, { onSuccess: finish });
          }}
        >
          <Stack gap="sm">
            <Text size="sm">{t('inviteText')}</Text>
            <TextInput
              label={t('email')}
              type="email"
              required
              withAsterisk={false}
              value={email}
              onChange={(event) => setEmail(event.currentTarget.value)}
              data-autofocus
            />
            <Select
              label={projectId === null ? t('installRole') : t('projectRole')}
              data={options}
              value={role}
              allowDeselect={false}
              onChange={(value) => setRole(value ?? role)}
            />
            {invite.error ? <Failure error={invite.error} /> : null}
            <Group justify="end" gap="xs">
              <Button variant="default" onClick={onClose}>
                {t('cancel')}
              </Button>
              <Button type="submit" loading={invite.isPending} disabled={email.trim() === ''}>
                {t('sendInvitation')}
              </Button>
            </Group>
          </Stack>
        </form>
      ) : (
        <Stack gap="sm">
          <Text size="sm">{t('invitationLinkText')}</Text>
          <Snippet label={t('invitationLinkTitle')} text={link} />
          <Group justify="end">
            <Button onClick={onClose}>{t('done')}</Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  );
}

async function send(
  email: string,
  role: string,
  projectId: string | null,
): Promise<{ link: string | null; outcome: 'invited' | 'invitedWithoutMail' | 'inviteExisting' }> {
  const body: Invitation =
    projectId === null
      ? { email, role: role === 'none' ? null : (role as InstallRole) }
      : { email, projects: [{ id: projectId, role: role as ProjectRole }] };
  try {
    const { link, mailed } = await dataOf(api.POST('/admin/v1/invitations', { body }));
    return { link, outcome: mailed ? 'invited' : 'invitedWithoutMail' };
  } catch (error) {
    const hasAccount = error instanceof ApiError && error.code === 'person_exists';
    if (!hasAccount || projectId === null) throw error;
    const path = { id: projectId, person_id: email };
    await api.PUT('/admin/v1/projects/{id}/people/{person_id}', {
      params: { path },
      body: { role: role as ProjectRole },
    });
    return { link: null, outcome: 'inviteExisting' };
  }
}
