/** One user: name, data, ban, sessions, second factors, deletion. */
import { Button, Group, JsonInput, Select, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schema } from '../../api/client';
import { type Project, useMayWrite } from '../../queries/projects';
import { projectClient, type User } from '../../queries/users';
import { useLanguages, useT } from '../../i18n';
import { formatTime } from '../../lib/format';
import { identityToText } from '../../lib/identity-link';
import { announce, Failure } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { Confirm, Copy, DetailDrawer } from '../../ui/parts';
import { isBanned, UserState } from './user-state';
import { Factors, Sessions } from './user-access';
import { Identities } from './user-identities';
import { Part } from '../../ui/part';
import fieldsetStyles from '../../ui/fieldset.module.css';
import textStyles from '../../ui/text.module.css';

interface UserDrawerProps {
  readonly project: Project;
  readonly user: User;
  readonly onClose: () => void;
  readonly onChanged: (user: User) => void;
}

export function UserDrawer({ project, user, onClose, onChanged }: UserDrawerProps) {
  const t = useT();
  const mayWrite = useMayWrite(project);
  const client = useQueryClient();
  const params = { params: { path: { project_id: project.id, user_id: user.id } } };
  const calls = projectClient(project.id);
  const refresh = () => client.invalidateQueries({ queryKey: ['users', project.id] });
  const change = useMutation({
    mutationFn: async (body: Schema<'UpdateAdminUserDto'>) => {
      const { data } = await calls.PATCH('/v1/auth/{project_id}/admin/users/{user_id}', { ...params, body });
      if (data) onChanged(data.user);
    },
    onSuccess: async () => {
      await refresh();
      announce(t('userSaved', { email: user.email }));
    },
  });
  return (
    <DetailDrawer title={user.email} onClose={onClose}>
      <Stack
        gap="xl"
        className={fieldsetStyles.plain}
        renderRoot={(props) => <fieldset disabled={!mayWrite} {...props} />}
      >
        <Summary project={project} user={user} />
        {change.error ? <Failure error={change.error} /> : null}
        <Profile
          user={user}
          onSave={(body, onSaved) => change.mutate(body, { onSuccess: onSaved })}
          isSaving={change.isPending}
        />
        <Ban user={user} onChange={(until) => change.mutate({ banned_until: until })} />
        <Password project={project} user={user} />
        <Identities project={project} user={user} />
        <Sessions project={project} user={user} />
        <Factors project={project} user={user} />
        <Deletion
          user={user}
          onDelete={async () => {
            await calls.DELETE('/v1/auth/{project_id}/admin/users/{user_id}', params);
            await refresh();
          }}
          onDone={onClose}
        />
      </Stack>
    </DetailDrawer>
  );
}

function Summary({ project, user }: Pick<UserDrawerProps, 'project' | 'user'>) {
  const t = useT();
  return (
    <Group gap="xs">
      <UserState user={user} />
      <Text size="xs" ff="monospace" c="dimmed">
        {user.id}
      </Text>
      <Copy value={user.id} />
      <Button
        size="compact-xs"
        variant="default"
        leftSection={<Icon name="eye" size={13} />}
        renderRoot={(props) => (
          <Link
            to="/projects/$slug/tables"
            params={{ slug: project.slug }}
            search={{ as: identityToText({ as: 'user', user_id: user.id }) }}
            {...props}
          />
        )}
      >
        {t('viewRowsAs')}
      </Button>
    </Group>
  );
}

interface DeletionProps {
  readonly user: User;
  readonly onDelete: () => Promise<void>;
  readonly onDone: () => void;
}

function Deletion({ user, onDelete, onDone }: DeletionProps) {
  const t = useT();
  const [isAsking, question] = useDisclosure();
  return (
    <Part title={t('deleteUser')}>
      <Group>
        <Button color="red" variant="light" onClick={question.open}>
          {t('deleteUser')}
        </Button>
      </Group>
      {isAsking ? (
        <Confirm
          title={t('deleteUser')}
          text={t('deleteUserText', { email: user.email })}
          action={t('deleteUser')}
          done={t('userDeleted', { email: user.email })}
          onClose={question.close}
          run={onDelete}
          onDone={onDone}
        />
      ) : null}
    </Part>
  );
}

interface ProfileProps {
  readonly user: User;
  readonly isSaving: boolean;
  readonly onSave: (body: Schema<'UpdateAdminUserDto'>, onSaved?: () => void) => void;
}

function Profile({ user, onSave, isSaving }: ProfileProps) {
  const t = useT();
  const stored = JSON.stringify(user.data, null, 2);
  // Resets only changed fields, so that input during a save is kept.
  const [draft, setDraft] = useState<Partial<Record<'email' | 'name' | 'data', string>>>({});
  const input = { email: user.email, name: user.name, data: stored, ...draft };
  const isValid = isJsonObject(input.data);
  return (
    <Part title={t('profile')}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const { email, name, data } = input;
          const body = {
            ...(email === user.email ? {} : { email }),
            ...(name === user.name ? {} : { name }),
            ...(data === stored ? {} : { data: JSON.parse(data) as Record<string, never> }),
          };
          onSave(body, () => setDraft((now) => (now === draft ? {} : now)));
        }}
      >
        <Stack gap="sm">
          <TextInput
            label={t('email')}
            type="email"
            value={input.email}
            onChange={(event) => setDraft({ ...draft, email: event.currentTarget.value })}
          />
          <TextInput
            label={t('name')}
            value={input.name}
            onChange={(event) => setDraft({ ...draft, name: event.currentTarget.value })}
          />
          <JsonInput
            label={t('userData')}
            description={t('userDataHint')}
            autosize
            minRows={2}
            maxRows={12}
            value={input.data}
            error={isValid ? null : t('invalidJson')}
            classNames={{ input: textStyles.mono }}
            onChange={(data) => setDraft({ ...draft, data })}
          />
          <Group gap="xs">
            <Button type="submit" loading={isSaving} disabled={!isValid}>
              {t('saveUser')}
            </Button>
            {user.email_verified_at === null ? (
              <Button variant="default" onClick={() => onSave({ email_verified: true })}>
                {t('markVerified')}
              </Button>
            ) : null}
          </Group>
        </Stack>
      </form>
    </Part>
  );
}

function isJsonObject(text: string): boolean {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

const DAY_MS = 86_400_000;
const BANS = ['1', '7', '30', '36500'] as const;

function Ban({ user, onChange }: { user: User; onChange: (until: string | null) => void }) {
  const { t, language } = useLanguages();
  const [days, setDays] = useState('7');
  const until = new Date(Date.now() + Number(days) * DAY_MS).toISOString();
  return (
    <Part title={t('access')}>
      {isBanned(user) ? (
        <Group gap="xs">
          <Text size="sm">{t('bannedUntil', { time: formatTime(user.banned_until, language) })}</Text>
          <Button size="xs" variant="default" onClick={() => onChange(null)}>
            {t('liftBan')}
          </Button>
        </Group>
      ) : (
        <Group gap="xs" align="end">
          <Select
            label={t('banFor')}
            data={BANS.map((value) => ({
              value,
              label: value === '36500' ? t('forever') : t('days', { count: value }),
            }))}
            value={days}
            allowDeselect={false}
            onChange={(value) => setDays(value ?? '7')}
            w={160}
          />
          <Button color="red" variant="light" onClick={() => onChange(until)}>
            {t('ban')}
          </Button>
        </Group>
      )}
    </Part>
  );
}

/** Sends the mail that resets a forgotten password. */
function Password({ project, user }: { project: Project; user: User }) {
  const t = useT();
  const reset = useMutation({
    mutationFn: () =>
      projectClient(project.id).POST('/v1/auth/{project_id}/reset-password', {
        params: { path: { project_id: project.id } },
        body: { email: user.email },
      }),
    onSuccess: () => announce(t('resetSent', { email: user.email })),
  });
  return (
    <Part title={t('password')}>
      {reset.error ? <Failure error={reset.error} /> : null}
      <Group>
        <Button size="xs" variant="default" loading={reset.isPending} onClick={() => reset.mutate()}>
          {t('sendReset')}
        </Button>
      </Group>
    </Part>
  );
}
