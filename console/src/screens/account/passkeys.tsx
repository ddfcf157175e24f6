/** The passkeys of the staff member: add, rename and delete. */
import { startRegistration } from '@simplewebauthn/browser';
import { Button, Group, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf, type Schema } from '../../api/client';
import { useLanguages, useT } from '../../i18n';
import { formatTime } from '../../lib/format';
import { Dialog } from '../../ui/dialog';
import { Failure, Loaded } from '../../ui/feedback';
import { FormButtons, Section } from '../../ui/parts';
import { RecoveryCodes } from './authenticator-app';
import { AddButton, confirmedBy, OwnList, PasswordForm } from './parts';

type Passkey = Schema<'PasskeyResponse'>;
const KEY = ['my-passkeys'];

export function PasskeysSection() {
  const { t, language } = useLanguages();
  const [isAdding, dialog] = useDisclosure();
  const [renamed, setRenamed] = useState<Passkey | null>(null);
  const [deleted, setDeleted] = useState<Passkey | null>(null);
  const passkeys = useQuery({ queryKey: KEY, queryFn: () => dataOf(api.GET('/admin/v1/passkeys')) });
  return (
    <Section title={t('passkeys')} text={t('passkeysText')}>
      <Loaded query={passkeys}>
        {(list) => (
          <OwnList
            list={list}
            detailsOf={(one) => t('addedAt', { time: formatTime(one.created_at, language) })}
            deleteLabel={t('deletePasskey')}
            onDelete={setDeleted}
            rename={{ label: t('renamePasskey'), start: setRenamed }}
          />
        )}
      </Loaded>
      <AddButton label={t('addPasskey')} onClick={dialog.open} />
      {isAdding ? <AddPasskey onClose={dialog.close} /> : null}
      {renamed ? <RenamePasskey passkey={renamed} onClose={() => setRenamed(null)} /> : null}
      {deleted ? <DeletePasskey passkey={deleted} onClose={() => setDeleted(null)} /> : null}
    </Section>
  );
}

function AddPasskey({ onClose }: { onClose: () => void }) {
  const t = useT();
  const client = useQueryClient();
  const [input, setInput] = useState({ name: '', password: '' });
  const add = useMutation({
    mutationFn: async () => {
      const { name, password } = input;
      const body = confirmedBy(password);
      const { options } = await dataOf(api.POST('/admin/v1/passkeys/options', { body }));
      const credential = await startRegistration({ optionsJSON: options as never });
      return dataOf(api.POST('/admin/v1/passkeys', { body: { name, credential: credential as never } }));
    },
    onSuccess: () => client.invalidateQueries({ queryKey: KEY }),
  });
  return (
    <Dialog onClose={onClose} title={t('addPasskey')}>
      {add.data ? (
        <RecoveryCodes codes={add.data.recovery_codes} onKept={onClose} />
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            add.mutate(undefined, {
              onSuccess: ({ recovery_codes: codes }) => (codes.length === 0 ? onClose() : undefined),
            });
          }}
        >
          <Stack gap="sm">
            <TextInput
              label={t('passkeyName')}
              maxLength={200}
              value={input.name}
              onChange={(event) => setInput({ ...input, name: event.currentTarget.value })}
              data-autofocus
            />
            <PasswordInput
              label={t('confirmPassword')}
              autoComplete="current-password"
              value={input.password}
              onChange={(event) => setInput({ ...input, password: event.currentTarget.value })}
            />
            {add.error ? <Failure error={add.error} /> : null}
            <Group justify="end">
              <Button type="submit" loading={add.isPending} disabled={input.name.trim() === ''}>
                {t('addPasskey')}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Dialog>
  );
}

function RenamePasskey({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const t = useT();
  const client = useQueryClient();
  const [name, setName] = useState(passkey.name);
  const rename = useMutation({
    mutationFn: () =>
      dataOf(api.PATCH('/admin/v1/passkeys/{id}', { params: { path: { id: passkey.id } }, body: { name } })),
    onSuccess: () => client.invalidateQueries({ queryKey: KEY }),
  });
  const title = t('renamePasskey');
  return (
    <Dialog onClose={onClose} title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          rename.mutate(undefined, { onSuccess: onClose });
        }}
      >
        <Stack gap="sm">
          <TextInput
            label={t('passkeyName')}
            maxLength={200}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            data-autofocus
          />
          {rename.error ? <Failure error={rename.error} /> : null}
          <FormButtons
            action={title}
            isPending={rename.isPending}
            isDisabled={name.trim() === ''}
            onClose={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}

function DeletePasskey({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const t = useT();
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: (password: string) =>
      api.DELETE('/admin/v1/passkeys/{id}', {
        params: { path: { id: passkey.id } },
        body: confirmedBy(password),
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: KEY }),
  });
  const title = t('deletePasskey');
  return (
    <Dialog onClose={onClose} title={title}>
      <PasswordForm
        text={t('deletePasskeyText', { name: passkey.name })}
        action={title}
        danger
        change={remove}
        onDone={onClose}
      />
    </Dialog>
  );
}
