/** Parts that the sections of the account share. */
import { Button, Group, PasswordInput, Stack, Table, Text } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import { useState } from 'react';
import { useT } from '../../i18n';
import { Named } from '../../ui/data-table';
import { Failure } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { IconButton } from '../../ui/parts';
import textStyles from '../../ui/text.module.css';

interface Named {
  readonly id: string;
  readonly name: string;
}

interface OwnListProps<One extends Named> {
  readonly list: readonly One[];
  readonly detailsOf: (one: One) => string;
  readonly deleteLabel: string;
  readonly onDelete: (one: One) => void;
  /** Omitted if names cannot be changed. */
  readonly rename?: { readonly label: string; readonly start: (one: One) => void };
}

/** A named list of the staff member: tokens, passkeys or sessions. Entries can be deleted and some renamed. */
export function OwnList<One extends Named>(props: OwnListProps<One>) {
  const { list, detailsOf, deleteLabel, onDelete, rename } = props;
  if (list.length === 0) return null;
  return (
    <Table verticalSpacing="xs">
      <Table.Tbody>
        {list.map((one) => (
          <Table.Tr key={one.id}>
            <Table.Td>
              <Named name={one.name} details={detailsOf(one)} />
            </Table.Td>
            <Table.Td ta="end" className={textStyles.nowrap}>
              {rename ? (
                <IconButton icon="edit" label={rename.label} onClick={() => rename.start(one)} />
              ) : null}
              <IconButton icon="trash" label={deleteLabel} onClick={() => onDelete(one)} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

export function AddButton({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <Group mt="sm">
      <Button size="xs" variant="default" leftSection={<Icon name="plus" size={14} />} onClick={onClick}>
        {label}
      </Button>
    </Group>
  );
}

/** Members of a body that confirm a change. Staff who use only single sign-on have no password. */
export const confirmedBy = (password: string): { password?: string } => (password === '' ? {} : { password });

interface PasswordFormProps<Data> {
  readonly text?: string;
  readonly action: string;
  readonly danger?: boolean;
  /** Called with the password. */
  readonly change: UseMutationResult<Data, Error, string>;
  readonly onDone?: () => void;
}

/** Asks for the password before a change of the account. */
export function PasswordForm<Data>({
  text,
  action,
  danger = false,
  change,
  onDone,
}: PasswordFormProps<Data>) {
  const t = useT();
  const [password, setPassword] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate(password, { onSuccess: () => onDone?.() });
      }}
    >
      <Stack gap="sm">
        {text === undefined ? null : <Text size="sm">{text}</Text>}
        <PasswordInput
          label={t('confirmPassword')}
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          data-autofocus
        />
        {change.error ? <Failure error={change.error} /> : null}
        <Group justify="end">
          <Button type="submit" color={danger ? 'red' : 'plinth'} loading={change.isPending}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
