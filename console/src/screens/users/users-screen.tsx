/** Users of a project: search, create, invite, and everything about one of them. */
import {
  Badge,
  Button,
  Checkbox,
  Group,
  Pagination,
  PasswordInput,
  SegmentedControl,
  Stack,
  Table,
  Text,
  TextInput,
  UnstyledButton,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type Project, useMayWrite, useProject } from '../../queries/projects';
import { projectClient, type User, userQuery, usersQuery } from '../../queries/users';
import { useLanguages, useT } from '../../i18n';
import { formatTime } from '../../lib/format';
import { AddressInput } from '../../ui/address-input';
import { DataTable, Named } from '../../ui/data-table';
import { Dialog } from '../../ui/dialog';
import { announce, Empty, Failure, Loaded, Loading } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { DetailDrawer, Page } from '../../ui/parts';
import { UserDrawer } from './user-drawer';

const route = getRouteApi('/signed-in/projects/$slug/users');
const PER_PAGE = 50;

export function UsersScreen() {
  const t = useT();
  const project = useProject();
  const { search = '', user: openedId, page: wantedPage = '1' } = route.useSearch();
  const page = Math.max(1, Math.trunc(Number(wantedPage)) || 1);
  const navigate = route.useNavigate();
  const kept = { ...(search === '' ? {} : { search }), ...(page === 1 ? {} : { page: String(page) }) };
  const close = (): void => void navigate({ search: kept });
  const [wanted] = useDebouncedValue(search, 250);
  const [isCreating, setCreating] = useState(false);
  const users = useQuery({
    ...usersQuery(project.id, { search: wanted, page, perPage: PER_PAGE }),
    placeholderData: keepPreviousData,
  });
  const mayWrite = useMayWrite(project);
  const create = mayWrite ? (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setCreating(true)}>
      {t('newUser')}
    </Button>
  ) : null;
  return (
    <Page
      title={t('users')}
      actions={
        <>
          <Button
            variant="default"
            leftSection={<Icon name="settings" size={16} />}
            renderRoot={(props) => (
              <Link
                to="/projects/$slug/settings"
                params={{ slug: project.slug }}
                search={{ group: 'auth' }}
                {...props}
              />
            )}
          >
            {t('settings')}
          </Button>
          {create}
        </>
      }
    >
      <AddressInput
        aria-label={t('searchUsers')}
        placeholder={t('searchUsers')}
        leftSection={<Icon name="search" size={16} />}
        value={search}
        onText={(text) => void navigate({ search: text === '' ? {} : { search: text }, replace: true })}
        maw={360}
        mb="md"
      />
      <Loaded query={users}>
        {({ users: list, total }) =>
          list.length === 0 ? (
            <Empty
              icon="users"
              title={t('noUsers')}
              text={search === '' ? t('noUsersText') : t('nothingFound')}
            />
          ) : (
            <>
              <UserTable users={list} onOpen={({ id }) => void navigate({ search: { ...kept, user: id } })} />
              {total > PER_PAGE ? (
                <Pagination
                  mt="md"
                  total={Math.ceil(total / PER_PAGE)}
                  value={page}
                  onChange={(next) => void navigate({ search: { ...kept, page: String(next) } })}
                  getControlProps={(control) => ({ 'aria-label': t(control) })}
                />
              ) : null}
            </>
          )
        }
      </Loaded>
      {isCreating ? <CreateUser project={project} onClose={() => setCreating(false)} /> : null}
      {openedId ? <OpenedUser project={project} userId={openedId} onClose={close} /> : null}
    </Page>
  );
}

interface OpenedUserProps {
  readonly project: Project;
  readonly userId: string;
  readonly onClose: () => void;
}

/** The user of the address, who need not be on the page of the list. */
function OpenedUser({ project, userId, onClose }: OpenedUserProps) {
  const t = useT();
  const client = useQueryClient();
  const query = userQuery(project.id, userId);
  const user = useQuery(query);
  if (!user.data)
    return (
      <DetailDrawer title={t('users')} onClose={onClose}>
        {user.error ? <Failure error={user.error} /> : <Loading />}
      </DetailDrawer>
    );
  return (
    <UserDrawer
      key={userId}
      project={project}
      user={user.data}
      onClose={onClose}
      onChanged={(changed) => client.setQueryData(query.queryKey, changed)}
    />
  );
}

function UserTable({ users, onOpen }: { users: readonly User[]; onOpen: (user: User) => void }) {
  const { t, language } = useLanguages();
  return (
    <DataTable minWidth={560} heads={[t('email'), t('state'), t('lastSignIn'), t('createdAt')]} isHoverable>
      {users.map((user) => (
        <Table.Tr key={user.id} className="clickable" onClick={() => onOpen(user)}>
          <Table.Td>
            <UnstyledButton onClick={() => onOpen(user)} className="cell-link">
              <Named name={user.email} details={user.name} />
            </UnstyledButton>
          </Table.Td>
          <Table.Td>
            <UserState user={user} />
          </Table.Td>
          <Table.Td>{formatTime(user.last_sign_in_at, language)}</Table.Td>
          <Table.Td>{formatTime(user.created_at, language)}</Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}

export function isBanned({ banned_until: until }: User): boolean {
  return until !== null && Date.parse(until) > Date.now();
}

export function UserState({ user }: { user: User }) {
  const t = useT();
  if (isBanned(user))
    return (
      <Badge color="red" variant="light">
        {t('banned')}
      </Badge>
    );
  return user.email_verified_at === null ? (
    <Badge color="gray" variant="light">
      {t('unverified')}
    </Badge>
  ) : (
    <Badge variant="light">{t('verified')}</Badge>
  );
}

function CreateUser({ project, onClose }: { project: Project; onClose: () => void }) {
  const t = useT();
  const client = useQueryClient();
  const [way, setWay] = useState<'create' | 'invite'>('create');
  const [input, setInput] = useState({ email: '', name: '', password: '', isVerified: true });
  const create = useMutation({
    mutationFn: async () => {
      const { email, name, password, isVerified } = input;
      const base = { email, ...(name === '' ? {} : { name }) };
      const options = { params: { path: { project_id: project.id } } };
      const calls = projectClient(project.id);
      if (way === 'invite')
        await calls.POST('/v1/auth/{project_id}/admin/users/invite', { ...options, body: base });
      else {
        const body = { ...base, email_verified: isVerified, ...(password === '' ? {} : { password }) };
        await calls.POST('/v1/auth/{project_id}/admin/users', { ...options, body });
      }
    },
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['users', project.id] });
      announce(t('saved'));
    },
  });
  return (
    <Dialog onClose={onClose} title={t('newUser')}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate(undefined, { onSuccess: onClose });
        }}
      >
        <Stack gap="sm">
          <SegmentedControl
            value={way}
            onChange={(value) => setWay(value)}
            data={[
              { value: 'create', label: t('withPassword') },
              { value: 'invite', label: t('byInvitation') },
            ]}
          />
          <TextInput
            label={t('email')}
            type="email"
            required
            withAsterisk={false}
            value={input.email}
            onChange={(event) => setInput({ ...input, email: event.currentTarget.value })}
            data-autofocus
          />
          <TextInput
            label={t('name')}
            value={input.name}
            onChange={(event) => setInput({ ...input, name: event.currentTarget.value })}
          />
          {way === 'create' ? (
            <>
              <PasswordInput
                label={t('password')}
                description={t('passwordOptional')}
                autoComplete="new-password"
                value={input.password}
                onChange={(event) => setInput({ ...input, password: event.currentTarget.value })}
              />
              <Checkbox
                label={t('emailVerified')}
                checked={input.isVerified}
                onChange={(event) => setInput({ ...input, isVerified: event.currentTarget.checked })}
              />
            </>
          ) : (
            <Text size="sm" c="dimmed">
              {t('invitationHint')}
            </Text>
          )}
          {create.error ? <Failure error={create.error} /> : null}
          <Group justify="end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('cancel')}
            </Button>
            <Button type="submit" loading={create.isPending}>
              {way === 'create' ? t('createUser') : t('invite')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
