/** The passkeys of the person: add, rename, delete. */
import { startRegistration } from '@simplewebauthn/browser';
import { Button, Group, Modal, PasswordInput, Stack, Table, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf, type Schema } from '../../api/client';
import { useLanguages, useT } from '../../i18n';
import { formatTime } from '../../lib/format';
import { Failure, Loaded } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { IconButton } from '../../ui/parts';
import { AccountSection } from './account-screen';
import { RecoveryCodes } from './authenticator-app';

type Passkey = Schema<'PasskeyDto'>;
const KEY = ['my-passkeys'];

export function PasskeysSection() {
  const { t, language } = useLanguages();
  const [isAdding, setAdding] = useState(false);
  const [deleted, setDeleted] = useState<Passkey | null>(null);
  const passkeys = useQuery({ queryKey: KEY, queryFn: () => dataOf(api.GET('/admin/v1/passkeys')) });
  return (
    <AccountSection title={t('passkeys')} text={t('passkeysText')}>
      <Loaded query={passkeys}>
        {(list) => (
          <Table verticalSpacing="xs">
            <Table.Tbody>
              {list.map((passkey) => (
                <Table.Tr key={passkey.id}>
                  <Table.Td>
                    <Text size="sm" fw={550} dir="auto">
                      {passkey.name}
                    </Text>
                    <Text size="xs" c="dimmed">
                      {t('signedInSince', { time: formatTime(passkey.created_at, language) })}
                    </Text>
                  </Table.Td>
                  <Table.Td ta="end">
                    <IconButton icon="trash" label={t('deletePasskey')} onClick={() => setDeleted(passkey)} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </Loaded>
      <Group mt="sm">
        <Button
          size="xs"
          variant="default"
          leftSection={<Icon name="plus" size={14} />}
          onClick={() => setAdding(true)}
        >
          {t('addPasskey')}
        </Button>
      </Group>
      {isAdding ? <AddPasskey onClose={() => setAdding(false)} /> : null}
      {deleted ? <DeletePasskey passkey={deleted} onClose={() => setDeleted(null)} /> : null}
    </AccountSection>
  );
}

function AddPasskey({ onClose }: { onClose: () => void }) {
  const t = useT();
  const client = useQueryClient();
  const [input, setInput] = useState({ name: '', password: '' });
  const add = useMutation({
    mutationFn: async () => {
      const { name, password } = input;
      const body = password === '' ? {} : { password };
      const { options } = await dataOf(api.POST('/admin/v1/passkeys/options', { body }));
      const credential = await startRegistration({ optionsJSON: options as never });
      return dataOf(api.POST('/admin/v1/passkeys', { body: { name, credential: credential as never } }));
    },
    onSuccess: async ({ recovery_codes: codes }) => {
      await client.invalidateQueries({ queryKey: KEY });
      if (codes.length === 0) onClose();
    },
  });
  return (
    <Modal opened onClose={onClose} title={t('addPasskey')} closeButtonProps={{ 'aria-label': t('close') }}>
      {add.data ? (
        <RecoveryCodes codes={add.data.recovery_codes} onKept={onClose} />
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            add.mutate();
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
    </Modal>
  );
}

function DeletePasskey({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const t = useT();
  const client = useQueryClient();
  const [password, setPassword] = useState('');
  const remove = useMutation({
    mutationFn: () =>
      api.DELETE('/admin/v1/passkeys/{id}', {
        params: { path: { id: passkey.id } },
        body: password === '' ? {} : { password },
      }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: KEY });
      onClose();
    },
  });
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('deletePasskey')}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          remove.mutate();
        }}
      >
        <Stack gap="sm">
          <Text size="sm">{t('deletePasskeyText', { name: passkey.name })}</Text>
          <PasswordInput
            label={t('confirmPassword')}
            autoComplete="current-password"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            data-autofocus
          />
          {remove.error ? <Failure error={remove.error} /> : null}
          <Group justify="end">
            <Button type="submit" color="red" loading={remove.isPending}>
              {t('deletePasskey')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
