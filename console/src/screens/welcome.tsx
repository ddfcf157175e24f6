/** The pages behind the links of the first start and of an invitation: the person chooses a password. */
import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { adminCall } from '../api/client';
import { type SessionAnswer, setSession } from '../api/session';
import { useT } from '../i18n';
import { Failure } from '../ui/feedback';
import { EntryPage } from './sign-in';

/** The token is behind the `#`, which browsers send to no server. */
const tokenOfLink = (): string => decodeURIComponent(location.hash.slice(1));

export function SetupScreen() {
  const t = useT();
  return (
    <EntryPage title={t('setupTitle')}>
      <WelcomeForm path="/setup" text={t('setupText')} withEmail />
    </EntryPage>
  );
}

export function InvitationScreen() {
  const t = useT();
  return (
    <EntryPage title={t('invitationTitle')}>
      <WelcomeForm path="/invitations/accept" text={t('invitationText')} withEmail={false} />
    </EntryPage>
  );
}

function WelcomeForm({ path, text, withEmail }: { path: string; text: string; withEmail: boolean }) {
  const t = useT();
  const navigate = useNavigate();
  const [input, setInput] = useState({ name: '', email: '', password: '' });
  const submit = useMutation({
    mutationFn: () => {
      const { email, ...rest } = input;
      const body = { token: tokenOfLink(), ...rest, ...(withEmail ? { email } : {}) };
      return adminCall<SessionAnswer>('POST', path, body);
    },
    onSuccess: async (answer) => {
      setSession({ by: 'cookie', answer });
      await navigate({ to: '/', replace: true });
    },
  });
  const set = (name: keyof typeof input) => (event: { currentTarget: { value: string } }) =>
    setInput({ ...input, [name]: event.currentTarget.value });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit.mutate();
      }}
    >
      <Stack gap="md">
        <Text size="sm">{text}</Text>
        <TextInput
          label={t('name')}
          autoComplete="name"
          required
          withAsterisk={false}
          value={input.name}
          onChange={set('name')}
          autoFocus
        />
        {withEmail ? (
          <TextInput
            label={t('email')}
            type="email"
            autoComplete="username"
            required
            withAsterisk={false}
            value={input.email}
            onChange={set('email')}
          />
        ) : null}
        <PasswordInput
          label={t('password')}
          autoComplete="new-password"
          required
          withAsterisk={false}
          value={input.password}
          onChange={set('password')}
        />
        {submit.error ? <Failure error={submit.error} /> : null}
        <Button type="submit" fullWidth loading={submit.isPending}>
          {t('start')}
        </Button>
      </Stack>
    </form>
  );
}
