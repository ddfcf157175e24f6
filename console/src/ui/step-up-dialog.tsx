/** Asks for the password, a code or a passkey before a sensitive call. */
import { browserSupportsWebAuthn, startAuthentication } from '@simplewebauthn/browser';
import { Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf } from '../api/client';
import { useSession } from '../api/session';
import { confirmSession, useConfirmation } from '../api/step-up';
import { useT } from '../i18n';
import { Dialog } from './dialog';
import { Failure } from './feedback';

export function StepUpDialog() {
  const t = useT();
  const end = useConfirmation();
  if (end === null) return null;
  return (
    <Dialog onClose={() => end(false)} title={t('confirmPerson')}>
      <StepUpForm onConfirmed={() => end(true)} />
    </Dialog>
  );
}

function StepUpForm({ onConfirmed }: { onConfirmed: () => void }) {
  const t = useT();
  const session = useSession();
  const [{ password, code }, setInput] = useState({ password: '', code: '' });
  const confirm = useMutation({ mutationFn: confirmSession, onSuccess: onConfirmed });
  const passkey = useMutation({
    mutationFn: async () => {
      const { options } = await dataOf(api.POST('/admin/v1/session/passkey/options'));
      await confirmSession({ passkey: await startAuthentication({ optionsJSON: options as never }) });
    },
    onSuccess: onConfirmed,
  });
  const hasApp = session?.by === 'cookie' && session.answer.person.has_app;
  const error = confirm.error ?? passkey.error;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        confirm.mutate(code === '' ? { password } : { code });
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{t('confirmPersonText')}</Text>
        <PasswordInput
          label={t('password')}
          autoComplete="current-password"
          value={password}
          onChange={(event) => setInput({ password: event.currentTarget.value, code: '' })}
          data-autofocus
        />
        {hasApp ? (
          <TextInput
            label={t('orCode')}
            autoComplete="one-time-code"
            value={code}
            onChange={(event) => setInput({ password: '', code: event.currentTarget.value })}
          />
        ) : null}
        {error ? <Failure error={error} /> : null}
        <Group justify="end">
          {browserSupportsWebAuthn() ? (
            <Button variant="default" loading={passkey.isPending} onClick={() => passkey.mutate()}>
              {t('byPasskey')}
            </Button>
          ) : null}
          <Button type="submit" loading={confirm.isPending} disabled={password === '' && code === ''}>
            {t('confirm')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
