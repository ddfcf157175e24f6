/** Sign-in of staff: with a password, by single sign-on, and with the platform admin key, which stays in the memory of the page. */
import { browserSupportsWebAuthn, startAuthentication } from '@simplewebauthn/browser';
import { Anchor, Button, Divider, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { PLINTH_URL } from '../api/base-url';
import { api, dataOf } from '../api/client';
import { ApiError, toApiError } from '../api/errors';
import { beginSession, setSession } from '../api/session';
import { useT } from '../i18n';
import { Failure } from '../ui/feedback';
import { EntryForm, EntryPage, REQUIRED, useFields } from '../ui/entry';
import { SingleSignOnFactor, SingleSignOnFault, takeSignInError } from './single-sign-on';

export function SignInScreen() {
  const t = useT();
  // Read once: the address loses it.
  const [fault, setFault] = useState(takeSignInError);
  const setup = useQuery({ queryKey: ['setup'], queryFn: () => dataOf(api.GET('/admin/v1/setup')) });
  if (fault === 'factor_required') {
    return (
      <EntryPage title={t('signInTitle')}>
        <SingleSignOnFactor onCancel={() => setFault(null)} />
      </EntryPage>
    );
  }
  return (
    <EntryPage title={t('signInTitle')}>
      {setup.data?.needed ? (
        <Text size="sm" mb="md">
          {t('setupNeeded')}
        </Text>
      ) : null}
      {fault === null ? null : <SingleSignOnFault code={fault} />}
      <SignInForms />
    </EntryPage>
  );
}

interface SignInFormsProps {
  readonly byKey?: boolean;
  /** True: the page must not be left, so the issuer of single sign-on opens in another tab. */
  readonly keepsPage?: boolean;
}

export function SignInForms({ byKey: isKeyFirst = false, keepsPage = false }: SignInFormsProps) {
  const t = useT();
  const [byKey, setByKey] = useState(isKeyFirst);
  return (
    <>
      {byKey ? <KeyForm /> : <PersonForm />}
      {byKey ? null : <OtherWays keepsPage={keepsPage} />}
      <Anchor component="button" type="button" size="sm" mt="md" onClick={() => setByKey(!byKey)}>
        {byKey ? t('signInAsPerson') : t('signInByKey')}
      </Anchor>
    </>
  );
}

function OtherWays({ keepsPage }: { keepsPage: boolean }) {
  const t = useT();
  const { data } = useQuery({
    queryKey: ['sign-in-methods'],
    queryFn: () => dataOf(api.GET('/admin/v1/session/methods')),
  });
  const passkey = useMutation({
    mutationFn: async () => {
      const { options } = await dataOf(api.POST('/admin/v1/session/passkey/options'));
      const credential = await startAuthentication({ optionsJSON: options as never });
      return dataOf(api.POST('/admin/v1/session/passkey', { body: { credential: credential as never } }));
    },
    onSuccess: (answer) => beginSession(answer),
  });
  return (
    <Stack gap="sm" mt="sm">
      <Divider label={t('or')} />
      {browserSupportsWebAuthn() ? (
        <Button variant="default" fullWidth loading={passkey.isPending} onClick={() => passkey.mutate()}>
          {t('signInByPasskey')}
        </Button>
      ) : null}
      {passkey.error ? <Failure error={passkey.error} /> : null}
      {data?.oidc_issuer ? (
        <Button
          component="a"
          variant="default"
          fullWidth
          href={`${PLINTH_URL}/admin/v1/session/oidc`}
          {...(keepsPage ? { target: '_blank' } : {})}
        >
          {t('signInBySso', { issuer: data.oidc_issuer })}
        </Button>
      ) : null}
    </Stack>
  );
}

function KeyForm() {
  const t = useT();
  const [{ key }, field] = useFields({ key: '' });
  const signIn = useMutation({
    mutationFn: async () => {
      const headers = { Authorization: `Bearer ${key.trim()}` };
      const response = await fetch(`${PLINTH_URL}/admin/v1/projects?limit=1`, {
        headers,
        credentials: 'omit',
      });
      if (!response.ok) throw toApiError(response, await response.json());
    },
    onSuccess: () => setSession({ by: 'key', key: key.trim() }),
  });
  const isWrong = signIn.error instanceof ApiError && signIn.error.status === 401;
  return (
    <EntryForm submit={signIn} action={t('signIn')} disabled={key.trim() === ''} isErrorShown={isWrong}>
      <PasswordInput
        {...REQUIRED}
        {...field('key')}
        label={t('adminKey')}
        description={t('adminKeyHint')}
        error={isWrong ? t('adminKeyWrong') : null}
        autoComplete="off"
        data-autofocus
        autoFocus
      />
      <Text size="xs" c="dimmed">
        {t('adminKeyWhere')}
      </Text>
    </EntryForm>
  );
}

function PersonForm() {
  const t = useT();
  const [{ code, ...credentials }, field] = useFields({ email: '', password: '', code: '' });
  const signIn = useMutation({
    mutationFn: () =>
      dataOf(api.POST('/admin/v1/session', { body: code === '' ? credentials : { ...credentials, code } })),
    onSuccess: (answer) => beginSession(answer),
  });
  const needsCode = signIn.error instanceof ApiError && signIn.error.code === 'factor_required';
  return (
    <EntryForm submit={signIn} action={t('signIn')} isErrorShown={needsCode}>
      <TextInput
        {...REQUIRED}
        {...field('email')}
        label={t('email')}
        type="email"
        autoComplete="username"
        autoFocus
      />
      <PasswordInput
        {...REQUIRED}
        {...field('password')}
        label={t('password')}
        autoComplete="current-password"
      />
      {needsCode || code !== '' ? (
        <TextInput
          {...field('code')}
          label={t('factorCode')}
          inputMode="numeric"
          autoComplete="one-time-code"
          autoFocus
        />
      ) : null}
    </EntryForm>
  );
}
