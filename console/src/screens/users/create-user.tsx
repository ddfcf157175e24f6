/** Creates a user with a password, or sends an invitation. */
import { Checkbox, PasswordInput, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Project } from '../../queries/projects';
import { overviewQuery } from '../../queries/overview';
import { projectClient } from '../../queries/users';
import { useT } from '../../i18n';
import { Dialog } from '../../ui/dialog';
import { announce, Failure } from '../../ui/feedback';
import { FormButtons } from '../../ui/parts';

interface UserInput {
  readonly way: 'create' | 'invite';
  readonly email: string;
  readonly name: string;
  readonly password: string;
  readonly isVerified: boolean;
}

const EMPTY: UserInput = { way: 'create', email: '', name: '', password: '', isVerified: true };

export function CreateUser({ project, onClose }: { project: Project; onClose: () => void }) {
  const t = useT();
  const client = useQueryClient();
  const [input, setInput] = useState(EMPTY);
  const edit = (part: Partial<UserInput>): void => setInput({ ...input, ...part });
  const outcome = async ({ way, email }: UserInput): Promise<string> => {
    if (way === 'create') return t('userCreated', { email });
    const { mail_server: isMailed } = await client.ensureQueryData(overviewQuery(project));
    return t(isMailed ? 'userInvited' : 'userInvitedWithoutMail', { email });
  };
  const create = useMutation({
    mutationFn: () => send(project, input),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['users', project.id] });
      void client.invalidateQueries({ queryKey: ['overview', project.id] });
      announce(await outcome(input));
    },
  });
  return (
    <Dialog onClose={onClose} title={t('newUser')}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate(undefined, { onSuccess: onClose });
        }}
      >
        <Stack gap="sm">
          <SegmentedControl
            value={input.way}
            onChange={(way) => edit({ way })}
            data={[
              { value: 'create', label: t('withPassword') },
              { value: 'invite', label: t('byInvitation') },
            ]}
          />
          <UserFields input={input} onEdit={edit} />
          {create.error ? <Failure error={create.error} /> : null}
          <FormButtons
            action={input.way === 'create' ? t('createUser') : t('sendInvitation')}
            isPending={create.isPending}
            onClose={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}

async function send(project: Project, { way, email, name, password, isVerified }: UserInput): Promise<void> {
  const base = { email, ...(name === '' ? {} : { name }) };
  const options = { params: { path: { project_id: project.id } } };
  const calls = projectClient(project.id);
  if (way === 'invite')
    await calls.POST('/v1/auth/{project_id}/admin/users/invite', { ...options, body: base });
  else {
    const body = { ...base, email_verified: isVerified, ...(password === '' ? {} : { password }) };
    await calls.POST('/v1/auth/{project_id}/admin/users', { ...options, body });
  }
}

interface UserFieldsProps {
  readonly input: UserInput;
  readonly onEdit: (part: Partial<UserInput>) => void;
}

function UserFields({ input, onEdit }: UserFieldsProps) {
  const t = useT();
  return (
    <>
      <TextInput
        label={t('email')}
        type="email"
        required
        withAsterisk={false}
        value={input.email}
        onChange={(event) => onEdit({ email: event.currentTarget.value })}
        data-autofocus
      />
      <TextInput
        label={t('name')}
        value={input.name}
        onChange={(event) => onEdit({ name: event.currentTarget.value })}
      />
      {input.way === 'create' ? (
        <>
          <PasswordInput
            label={t('password')}
            description={t('passwordOptional')}
            autoComplete="new-password"
            value={input.password}
            onChange={(event) => onEdit({ password: event.currentTarget.value })}
          />
          <Checkbox
            label={t('emailVerified')}
            checked={input.isVerified}
            onChange={(event) => onEdit({ isVerified: event.currentTarget.checked })}
          />
        </>
      ) : (
        <Text size="sm" c="dimmed">
          {t('invitationHint')}
        </Text>
      )}
    </>
  );
}
