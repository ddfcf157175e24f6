/** The authenticator app of the staff member: enrolment by QR code, recovery codes, removal. */
import { Badge, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { encode } from 'uqr';
import { api, dataOf } from '../../api/client';
import { currentSession, setSession } from '../../api/session';
import { useT } from '../../i18n';
import { Dialog } from '../../ui/dialog';
import { Failure } from '../../ui/feedback';
import { Secret, Section, Snippet } from '../../ui/parts';
import { confirmedBy, PasswordForm } from './parts';

export function AuthenticatorApp({ hasApp }: { hasApp: boolean }) {
  const t = useT();
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <Section title={t('secondFactor')} text={t('factorText')}>
      <Group>
        <Badge variant="light" color={hasApp ? 'plinth' : 'gray'}>
          {hasApp ? t('secondFactorOn') : t('secondFactorOff')}
        </Badge>
        <Button variant="default" size="xs" onClick={() => setOpen(true)}>
          {hasApp ? t('removeFactor') : t('addFactor')}
        </Button>
      </Group>
      {isOpen ? (
        <Dialog onClose={close} title={hasApp ? t('removeFactor') : t('addFactor')}>
          {hasApp ? <Removal onDone={close} /> : <Enrolment onDone={close} />}
        </Dialog>
      ) : null}
    </Section>
  );
}

/** Refetches the session, which tells whether the account has an app. */
function setHasApp(hasApp: boolean): void {
  const session = currentSession();
  if (session?.by !== 'cookie') return;
  const { answer } = session;
  setSession({ by: 'cookie', answer: { ...answer, person: { ...answer.person, has_app: hasApp } } });
}

function Enrolment({ onDone }: { onDone: () => void }) {
  const t = useT();
  const [code, setCode] = useState('');
  const begin = useMutation({
    mutationFn: (password: string) =>
      dataOf(api.POST('/admin/v1/session/factor', { body: confirmedBy(password) })),
  });
  const confirm = useMutation({
    mutationFn: () => dataOf(api.PUT('/admin/v1/session/factor', { body: { code } })),
  });
  if (confirm.data) {
    const finish = (): void => {
      setHasApp(true);
      onDone();
    };
    return <RecoveryCodes codes={confirm.data.recovery_codes} onKept={finish} />;
  }
  if (!begin.data) return <PasswordForm action={t('addFactor')} change={begin} />;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        confirm.mutate();
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{t('factorScan')}</Text>
        <QrCode text={begin.data.uri} label={t('factorQr')} />
        <Secret label={t('factorSecret')} value={begin.data.secret} />
        <CodeField value={code} onChange={setCode} />
        {confirm.error ? <Failure error={confirm.error} /> : null}
        <Group justify="end">
          <Button type="submit" loading={confirm.isPending} disabled={code.trim() === ''}>
            {t('confirmCode')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Removal({ onDone }: { onDone: () => void }) {
  const t = useT();
  const [code, setCode] = useState('');
  const remove = useMutation({
    mutationFn: () => api.DELETE('/admin/v1/session/factor', { body: { code } }),
    onSuccess: () => setHasApp(false),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        remove.mutate(undefined, { onSuccess: onDone });
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{t('removeFactorText')}</Text>
        <CodeField value={code} onChange={setCode} />
        {remove.error ? <Failure error={remove.error} /> : null}
        <Group justify="end">
          <Button type="submit" color="red" loading={remove.isPending} disabled={code.trim() === ''}>
            {t('removeFactor')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function CodeField({ value, onChange }: { value: string; onChange: (code: string) => void }) {
  const t = useT();
  return (
    <TextInput
      label={t('factorCode')}
      autoComplete="one-time-code"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

export function RecoveryCodes({ codes, onKept }: { codes: readonly string[]; onKept: () => void }) {
  const t = useT();
  return (
    <Stack gap="sm">
      <Text size="sm">{t('recoveryCodesText')}</Text>
      <Snippet label={t('recoveryCodes')} text={codes.join('\n')} />
      <Group justify="end">
        <Button onClick={onKept}>{t('kept')}</Button>
      </Group>
    </Stack>
  );
}

/** The QR code is always dark on light, because many apps cannot read the inverse. */
function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => {
    const { size: side, data } = encode(text, { border: 2 });
    const squares = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')));
    return { size: side, path: squares.join('') };
  }, [text]);
  return (
    <svg viewBox={`0 0 ${size} ${size}`} width={200} height={200} role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
