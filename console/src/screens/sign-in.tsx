/** Sign-in of people, and with the platform admin key, which stays in the memory of the page. */
import { Anchor, Button, Paper, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { adminCall } from '../api/client';
import { ApiError, toApiError } from '../api/errors';
import { PLINTH_URL } from '../api/base-url';
import { type SessionAnswer, setSession } from '../api/session';
import { useT } from '../i18n';
import { Failure } from '../ui/feedback';
import { Logo } from '../ui/icon';
import { LookMenu } from '../ui/look-menu';

/** @param hasPeople whether this server knows people; else the admin key is the only way */
export function SignInScreen({ hasPeople }: { hasPeople: boolean }) {
  const t = useT();
  const [byKey, setByKey] = useState(!hasPeople);
  const setup = useQuery({
    queryKey: ['setup'],
    queryFn: () => adminCall<{ needed: boolean }>('GET', '/setup'),
    enabled: hasPeople,
  });
  return (
    <EntryPage title={t('signInTitle')}>
      {setup.data?.needed ? (
        <Text size="sm" mb="md">
          {t('setupNeeded')}
        </Text>
      ) : null}
      {byKey ? <KeyForm /> : <PersonForm />}
      {hasPeople ? (
        <Anchor component="button" size="sm" mt="md" onClick={() => setByKey(!byKey)}>
          {byKey ? t('signInAsPerson') : t('signInByKey')}
        </Anchor>
      ) : null}
    </EntryPage>
  );
}

/** The frame of the pages that need no session. */
export function EntryPage({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="entry">
      <div className="entry-look">
        <LookMenu />
      </div>
      <Stack align="center" gap="lg" w="100%">
        <Stack align="center" gap="xs">
          <Logo size={48} />
          <Title order={1} size="h3">
            {title}
          </Title>
        </Stack>
        <Paper withBorder shadow="sm" p="lg" w="100%" maw={400}>
          {children}
        </Paper>
      </Stack>
    </main>
  );
}

function KeyForm() {
  const t = useT();
  const [key, setKey] = useState('');
  const signIn = useMutation({
    mutationFn: async () => {
      const headers = { Authorization: `Bearer ${key.trim()}` };
      const response = await fetch(`${PLINTH_URL}/admin/v1/projects?limit=1`, {
        headers,
        credentials: 'omit',
      });
      if (!response.ok) throw toApiError(response.status, await response.json());
    },
    onSuccess: () => setSession({ by: 'key', key: key.trim() }),
  });
  const isWrong = signIn.error instanceof ApiError && signIn.error.status === 401;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        signIn.mutate();
      }}
    >
      <Stack gap="md">
        <PasswordInput
          label={t('adminKey')}
          description={t('adminKeyHint')}
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
          error={isWrong ? t('adminKeyWrong') : null}
          autoComplete="off"
          required
          withAsterisk={false}
          data-autofocus
          autoFocus
        />
        {signIn.error && !isWrong ? <Failure error={signIn.error} /> : null}
        <Button type="submit" fullWidth loading={signIn.isPending} disabled={key.trim() === ''}>
          {t('signIn')}
        </Button>
        <Text size="xs" c="dimmed">
          {t('adminKeyWhere')}
        </Text>
      </Stack>
    </form>
  );
}

function PersonForm() {
  const t = useT();
  const [input, setInput] = useState({ email: '', password: '', code: '' });
  const signIn = useMutation({
    mutationFn: () => {
      const { code, ...credentials } = input;
      return adminCall<SessionAnswer>(
        'POST',
        '/session',
        code === '' ? credentials : { ...credentials, code },
      );
    },
    onSuccess: (answer) => setSession({ by: 'cookie', answer }),
  });
  const needsCode = signIn.error instanceof ApiError && signIn.error.code === 'factor_required';
  const set = (name: keyof typeof input) => (event: { currentTarget: { value: string } }) =>
    setInput({ ...input, [name]: event.currentTarget.value });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        signIn.mutate();
      }}
    >
      <Stack gap="md">
        <TextInput
          label={t('email')}
          type="email"
          autoComplete="username"
          required
          withAsterisk={false}
          value={input.email}
          onChange={set('email')}
          autoFocus
        />
        <PasswordInput
          label={t('password')}
          autoComplete="current-password"
          required
          withAsterisk={false}
          value={input.password}
          onChange={set('password')}
        />
        {needsCode || input.code !== '' ? (
          <TextInput
            label={t('factorCode')}
            inputMode="numeric"
            autoComplete="one-time-code"
            value={input.code}
            onChange={set('code')}
            autoFocus
          />
        ) : null}
        {signIn.error && !needsCode ? <Failure error={signIn.error} /> : null}
        <Button type="submit" fullWidth loading={signIn.isPending}>
          {t('signIn')}
        </Button>
      </Stack>
    </form>
  );
}
