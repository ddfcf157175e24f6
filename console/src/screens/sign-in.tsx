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
  // Read only once, because it is removed from the address.
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
  /** True if the page must not be left, so that single sign-on opens in another tab. */
  readonly keepsPage?: boolean;
}

export function SignInForms({ byKey: isKeyFirst = false, keepsPage = false }: SignInFormsProps) {
  const t = useT();
  const [byKey, setByKey] = useState(isKeyFirst);
  const [directory, setDirectory] = useState<string | null>(null);
  const other = <OtherWays keepsPage={keepsPage} directory={directory} onDirectory={setDirectory} />;
  return (
    <>
      {byKey ? <KeyForm /> : directory === null ? <PersonForm /> : <DirectoryForm />}
      {byKey ? null : other}
      <Anchor component="button" type="button" size="sm" mt="md" onClick={() => setByKey(!byKey)}>
        {byKey ? t('signInAsPerson') : t('signInByKey')}
      </Anchor>
    </>
  );
}

interface OtherWaysProps {
  readonly keepsPage: boolean;
  /** The method whose form is shown; null for email and password. */
  readonly directory: string | null;
  readonly onDirectory: (directory: string | null) => void;
}

function OtherWays({ keepsPage, directory, onDirectory }: OtherWaysProps) {
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
      <IssuerLink way="oidc" issuer={data?.oidc_issuer} keepsPage={keepsPage} />
      <IssuerLink way="saml" issuer={data?.saml_provider} keepsPage={keepsPage} />
      {data?.ldap_directory ? (
        <Button
          variant="default"
          fullWidth
          onClick={() => onDirectory(directory === null ? data.ldap_directory : null)}
        >
          {directory === null ? t('signInBySso', { issuer: data.ldap_directory }) : t('signInAsPerson')}
        </Button>
      ) : null}
    </Stack>
  );
}

interface IssuerLinkProps {
  readonly way: 'oidc' | 'saml';
  readonly issuer: string | null | undefined;
  readonly keepsPage: boolean;
}

function IssuerLink({ way, issuer, keepsPage }: IssuerLinkProps) {
  const t = useT();
  if (!issuer) return null;
  const target = keepsPage ? { target: '_blank' } : {};
  return (
    <Button
      component="a"
      variant="default"
      fullWidth
      href={`${PLINTH_URL}/admin/v1/session/${way}`}
      {...target}
    >
      {t('signInBySso', { issuer })}
    </Button>
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
    mutationFn: () => dataOf(api.POST('/admin/v1/session', { body: withCode(credentials, code) })),
    onSuccess: (answer) => beginSession(answer),
  });
  return (
    <EntryForm submit={signIn} action={t('signIn')} isErrorShown={needsCode(signIn.error)}>
      <TextInput
        {...REQUIRED}
        {...field('email')}
        label={t('email')}
        type="email"
        autoComplete="username"
        autoFocus
      />
      <PasswordFields field={field} hasCode={needsCode(signIn.error) || code !== ''} />
    </EntryForm>
  );
}

function DirectoryForm() {
  const t = useT();
  const [{ code, ...credentials }, field] = useFields({ login: '', password: '', code: '' });
  const signIn = useMutation({
    mutationFn: () => dataOf(api.POST('/admin/v1/session/ldap', { body: withCode(credentials, code) })),
    onSuccess: (answer) => beginSession(answer),
  });
  return (
    <EntryForm submit={signIn} action={t('signIn')} isErrorShown={needsCode(signIn.error)}>
      <TextInput
        {...REQUIRED}
        {...field('login')}
        label={t('directoryLogin')}
        autoComplete="username"
        autoFocus
      />
      <PasswordFields field={field} hasCode={needsCode(signIn.error) || code !== ''} />
    </EntryForm>
  );
}

const withCode = <T extends object>(credentials: T, code: string): T & { code?: string } =>
  code === '' ? credentials : { ...credentials, code };

const needsCode = (error: unknown): boolean => error instanceof ApiError && error.code === 'factor_required';

interface PasswordFieldsProps {
  readonly field: (name: 'password' | 'code') => object;
  readonly hasCode: boolean;
}

function PasswordFields({ field, hasCode }: PasswordFieldsProps) {
  const t = useT();
  return (
    <>
      <PasswordInput
        {...REQUIRED}
        {...field('password')}
        label={t('password')}
        autoComplete="current-password"
      />
      {hasCode ? (
        <TextInput
          {...field('code')}
          label={t('factorCode')}
          inputMode="numeric"
          autoComplete="one-time-code"
          autoFocus
        />
      ) : null}
    </>
  );
}
