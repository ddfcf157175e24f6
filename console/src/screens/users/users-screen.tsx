/** Users of a project: search, creation, invitation, and the details of a user. */
import { Button, Pagination, Table, UnstyledButton } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type Project, useMayWrite, useProject } from '../../queries/projects';
import { type User, userQuery, usersQuery } from '../../queries/users';
import { useLanguages, useT } from '../../i18n';
import { formatTime } from '../../lib/format';
import { useActionDialog } from '../../ui/action-dialog';
import { AddressInput } from '../../ui/address-input';
import { DataTable, Named } from '../../ui/data-table';
import { Empty, Failure, Loaded, Loading } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { DetailDrawer, Page } from '../../ui/parts';
import { CreateUser } from './create-user';
import { UserDrawer } from './user-drawer';
import { UserState } from './user-state';
import dataTableStyles from '../../ui/data-table.module.css';

const route = getRouteApi('/signed-in/projects/$slug/users');
const PER_PAGE = 50;

export function UsersScreen() {
  const t = useT();
  const project = useProject();
  const { search = '', user: openedId, page: wantedPage = '1' } = route.useSearch();
  const page = Math.max(1, Math.trunc(Number(wantedPage)) || 1);
  const navigate = route.useNavigate();
  const kept = { ...(search === '' ? {} : { search }), ...(page === 1 ? {} : { page: String(page) }) };
  const [wanted] = useDebouncedValue(search, 250);
  const [isCreating, creation] = useActionDialog('newUser');
  const users = useQuery({
    ...usersQuery(project.id, { search: wanted, page, perPage: PER_PAGE }),
    placeholderData: keepPreviousData,
  });
  return (
    <Page title={t('users')} actions={<Actions project={project} onCreate={creation.open} />}>
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
              text={t(search === '' ? 'noUsersText' : 'nothingFound')}
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
      {isCreating ? <CreateUser project={project} onClose={creation.close} /> : null}
      {openedId ? (
        <OpenedUser project={project} userId={openedId} onClose={() => void navigate({ search: kept })} />
      ) : null}
    </Page>
  );
}

function Actions({ project, onCreate }: { project: Project; onCreate: () => void }) {
  const t = useT();
  const mayWrite = useMayWrite(project);
  return (
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
      {mayWrite ? (
        <Button leftSection={<Icon name="plus" size={16} />} onClick={onCreate}>
          {t('newUser')}
        </Button>
      ) : null}
    </>
  );
}

interface OpenedUserProps {
  readonly project: Project;
  readonly userId: string;
  readonly onClose: () => void;
}

/** The user that the address names. The user need not be on the page of the list. */
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
        <Table.Tr key={user.id} className={dataTableStyles.clickable} onClick={() => onOpen(user)}>
          <Table.Td>
            <UnstyledButton onClick={() => onOpen(user)} className={dataTableStyles.link}>
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
