/** The staff of the installation: invite, role, disable, delete. */
import { ActionIcon, Badge, Button, Group, Menu, Select, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf, type Schema } from '../../api/client';
import { useSession } from '../../api/session';
import { useLanguages, useT } from '../../i18n';
import { formatTime } from '../../lib/format';
import { isAllowed, isOwner } from '../../lib/permissions';
import { DataTable } from '../../ui/data-table';
import { announceFailure, Empty, Loaded } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { Page } from '../../ui/parts';
import { Departure } from './departure';
import { Invitations } from './invitations';
import { Invite } from './invite';
import { INSTALL_ROLES } from './roles';

type Person = Schema<'StaffMemberResponse'>;

export function PeopleScreen() {
  const t = useT();
  const session = useSession();
  const [isInviting, dialog] = useDisclosure();
  const people = useQuery({
    queryKey: ['people', 'all'],
    queryFn: () => dataOf(api.GET('/admin/v1/people')),
  });
  const mayInvite = isAllowed(session, 'POST /admin/v1/invitations');
  const invite = mayInvite ? (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={dialog.open}>
      {t('invitePerson')}
    </Button>
  ) : null;
  return (
    <Page title={t('people')} text={t('peopleText')} actions={invite}>
      <Loaded query={people}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon="users" title={t('noPeople')} text={t('noPeopleText')} />
          ) : (
            <PeopleTable people={list} />
          )
        }
      </Loaded>
      <Invitations projectId={null} />
      {isInviting ? <Invite projectId={null} onClose={dialog.close} /> : null}
    </Page>
  );
}

function PeopleTable({ people }: { people: readonly Person[] }) {
  const { t, language } = useLanguages();
  return (
    <DataTable minWidth={640} heads={[t('person'), t('role'), t('secondFactor'), t('lastSignIn'), null]}>
      {people.map((person) => (
        <Table.Tr key={person.id}>
          <Table.Td>
            <PersonName person={person} />
          </Table.Td>
          <Table.Td>
            <RoleField person={person} />
          </Table.Td>
          <Table.Td>{person.has_factor ? <Icon name="check" /> : '–'}</Table.Td>
          <Table.Td>{formatTime(person.last_sign_in_at, language)}</Table.Td>
          <Table.Td ta="end">
            <PersonMenu person={person} />
          </Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}

export function PersonName({ person }: { person: Omit<Person, 'has_factor'> }) {
  const t = useT();
  return (
    <>
      <Group gap="xs">
        <Text size="sm" fw={550} dir="auto">
          {person.name}
        </Text>
        {person.disabled_at ? (
          <Badge color="red" variant="light">
            {t('accountDisabled')}
          </Badge>
        ) : null}
      </Group>
      <Text size="xs" c="dimmed" dir="auto">
        {person.email}
      </Text>
    </>
  );
}

function usePersonChange(person: Person) {
  const t = useT();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Schema<'UpdateStaffMemberDto'>) =>
      dataOf(api.PATCH('/admin/v1/people/{id}', { params: { path: { id: person.id } }, body })),
    onError: (error) => announceFailure(error, t('close')),
    onSettled: () => client.invalidateQueries({ queryKey: ['people'] }),
  });
}

function useMayChange({ role }: Person): boolean {
  const session = useSession();
  return isAllowed(session, 'PATCH /admin/v1/people/:id') && (role !== 'owner' || isOwner(session));
}

function RoleField({ person }: { person: Person }) {
  const t = useT();
  const session = useSession();
  const change = usePersonChange(person);
  const [lower, setLower] = useState<{ role: Person['role'] } | null>(null);
  if (!useMayChange(person)) return <>{t(`role_${person.role ?? 'none'}`)}</>;
  const roles = INSTALL_ROLES.filter((role) => role !== 'owner' || isOwner(session));
  const choose = (choice: string | null): void => {
    const role = INSTALL_ROLES.find((known) => known === choice) ?? null;
    if (knowsPasswords(person.role) && !knowsPasswords(role)) setLower({ role });
    else change.mutate({ role });
  };
  return (
    <>
      <Select
        size="xs"
        aria-label={t('roleOf', { name: person.name })}
        data={[
          ...roles.map((role) => ({ value: role, label: t(`role_${role}`) })),
          { value: 'none', label: t('role_none') },
        ]}
        value={person.role ?? 'none'}
        allowDeselect={false}
        disabled={change.isPending}
        onChange={choose}
      />
      {lower ? (
        <Departure
          title={t('lowerRole')}
          text={t('lowerRoleText', { name: person.name, role: t(`role_${lower.role ?? 'none'}`) })}
          action={t('lowerRole')}
          done={t('roleChanged', { name: person.name })}
          onClose={() => setLower(null)}
          run={(isRotating) => change.mutateAsync({ ...lower, rotate_database_password: isRotating })}
        />
      ) : null}
    </>
  );
}

/** Whether the role knows the database passwords of all projects. */
const knowsPasswords = (role: Person['role']): boolean => role === 'owner' || role === 'operator';

function PersonMenu({ person }: { person: Person }) {
  const t = useT();
  const client = useQueryClient();
  const change = usePersonChange(person);
  const [asked, setAsked] = useState<'disable' | 'remove' | null>(null);
  if (!useMayChange(person)) return null;
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon color="gray" aria-label={t('actionsOf', { name: person.name })}>
            <Icon name="dots" size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {person.disabled_at ? (
            <Menu.Item onClick={() => change.mutate({ disabled: false })}>{t('enableAccount')}</Menu.Item>
          ) : (
            <Menu.Item onClick={() => setAsked('disable')}>{t('disableAccount')}</Menu.Item>
          )}
          <Menu.Item c="var(--mantine-color-error)" onClick={() => setAsked('remove')}>
            {t('removePerson')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {asked === 'disable' ? (
        <Departure
          title={t('disableAccount')}
          text={t('disableAccountText', { name: person.name })}
          action={t('disableAccount')}
          done={t('accountIsDisabled', { name: person.name })}
          onClose={() => setAsked(null)}
          run={(isRotating) => change.mutateAsync({ disabled: true, rotate_database_password: isRotating })}
        />
      ) : null}
      {asked === 'remove' ? (
        <Departure
          title={t('removePerson')}
          text={t('removePersonText', { email: person.email })}
          action={t('removePerson')}
          done={t('accountDeleted', { email: person.email })}
          typed={person.email}
          onClose={() => setAsked(null)}
          run={async (isRotating) => {
            await api.DELETE('/admin/v1/people/{id}', {
              params: {
                path: { id: person.id },
                ...(isRotating ? { query: { rotate_database_password: true } } : {}),
              },
            });
            await client.invalidateQueries({ queryKey: ['people'] });
          }}
        />
      ) : null}
    </>
  );
}
