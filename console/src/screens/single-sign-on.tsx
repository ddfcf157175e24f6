/** Errors of the sign-in page when the browser returns from the issuer without a session. */
import { Alert, Anchor, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api, dataOf } from '../api/client';
import { beginSession } from '../api/session';
import { useT } from '../i18n';
import { EntryForm, REQUIRED, useFields } from '../ui/entry';
import { Icon } from '../ui/icon';

const PARAMETER = 'sign_in_error';

const EXPLAINED = [
  'oidc_failed',
  'oidc_no_role',
  'oidc_address_taken',
  'account_disabled',
  'sign_in_over',
  'last_owner',
] as const;

/** Removes the code after the `#` from the address. @returns the code, or null */
export function takeSignInError(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get(PARAMETER);
  if (code !== null) history.replaceState(history.state, '', location.pathname + location.search);
  return code;
}

export function SingleSignOnFault({ code }: { code: string }) {
  const t = useT();
  const known = EXPLAINED.find((one) => one === code.replace(/^saml_/, 'oidc_'));
  return (
    <Alert color="red" variant="light" role="alert" mb="md" icon={<Icon name="warning" />}>
      {known ? t(`signInError_${known}`) : t('signInError_other', { code })}
    </Alert>
  );
}

/** Asks for the second factor of an account if the issuer did not ask for one. */
export function SingleSignOnFactor({ onCancel }: { onCancel: () => void }) {
  const t = useT();
  const [{ code }, field] = useFields({ code: '' });
  const signIn = useMutation({
    mutationFn: () => dataOf(api.POST('/admin/v1/session/oidc', { body: { code } })),
    onSuccess: (answer) => beginSession(answer),
  });
  return (
    <>
      <EntryForm submit={signIn} action={t('signIn')} disabled={code.trim() === ''}>
        <Text size="sm">{t('ssoFactor')}</Text>
        <TextInput
          {...REQUIRED}
          {...field('code')}
          label={t('factorCode')}
          autoComplete="one-time-code"
          autoFocus
        />
      </EntryForm>
      <Anchor component="button" size="sm" mt="md" onClick={onCancel}>
        {t('cancel')}
      </Anchor>
    </>
  );
}
