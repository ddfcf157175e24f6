/**
 * The pages that the links of the first start and of an invitation open, on which the staff member chooses a password.
 */
import { PasswordInput, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api, dataOf } from '../api/client';
import { beginSession, type SessionAnswer } from '../api/session';
import { useT } from '../i18n';
import { EntryForm, EntryPage, REQUIRED, useFields } from '../ui/entry';

/** The token is after the `#`, which browsers do not send to the server. */
const tokenOfLink = (): string => decodeURIComponent(location.hash.slice(1));

interface Input {
  readonly token: string;
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

export function SetupScreen() {
  const t = useT();
  return (
    <EntryPage title={t('setupTitle')}>
      <WelcomeForm
        text={t('setupText')}
        withEmail
        send={(body) => dataOf(api.POST('/admin/v1/setup', { body }))}
      />
    </EntryPage>
  );
}

export function InvitationScreen() {
  const t = useT();
  return (
    <EntryPage title={t('invitationTitle')}>
      <WelcomeForm
        text={t('invitationText')}
        withEmail={false}
        send={({ email: _unused, ...body }) => dataOf(api.POST('/admin/v1/invitations/accept', { body }))}
      />
    </EntryPage>
  );
}

interface WelcomeProps {
  readonly text: string;
  readonly withEmail: boolean;
  readonly send: (input: Input) => Promise<SessionAnswer>;
}

function WelcomeForm({ text, withEmail, send }: WelcomeProps) {
  const t = useT();
  const navigate = useNavigate();
  const [input, field] = useFields({ name: '', email: '', password: '' });
  const submit = useMutation({
    mutationFn: () => send({ token: tokenOfLink(), ...input }),
    onSuccess: async (answer) => {
      beginSession(answer);
      await navigate({ to: '/', replace: true });
    },
  });
  return (
    <EntryForm submit={submit} action={t('start')}>
      <Text size="sm">{text}</Text>
      <TextInput {...REQUIRED} {...field('name')} label={t('name')} autoComplete="name" autoFocus />
      {withEmail ? (
        <TextInput
          {...REQUIRED}
          {...field('email')}
          label={t('email')}
          type="email"
          autoComplete="username"
        />
      ) : null}
      <PasswordInput {...REQUIRED} {...field('password')} label={t('password')} autoComplete="new-password" />
    </EntryForm>
  );
}
