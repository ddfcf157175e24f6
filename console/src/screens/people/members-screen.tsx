/** The staff with a role in a project. */
import { Button, Select, Table } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf, type Schema } from '../../api/client';
import { useSession } from '../../api/session';
import { useLanguages, useT } from '../../i18n';
import { formatTime } from '../../lib/format';
import { isAllowed } from '../../lib/permissions';
import { useProject } from '../../queries/projects';
import { useActionDialog } from '../../ui/action-dialog';
import { DataTable } from '../../ui/data-table';
import { announceFailure, Empty, Loaded } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { IconButton, Page } from '../../ui/parts';
import { Departure } from './departure';
import { Invitations } from './invitations';
import { Invite } from './invite';
import { PersonName } from './people-screen';
import { PROJECT_ROLES, type ProjectRole } from './roles';

type Member = Schema<'ProjectMemberResponse'>;

export function MembersScreen() {
  const t = useT();
  const { id } = useProject();
  const session = useSession();
  const [isInviting, dialog] = useActionDialog('invitePerson');
  const members = useQuery({
    queryKey: ['people', 'of', id],
    queryFn: () => dataOf(api.GET('/admin/v1/projects/{id}/people', { params: { path: { id } } })),
  });
  const mayManage = isAllowed(session, 'PUT /admin/v1/projects/:id/people/:person_id', id);
  const invite = mayManage ? (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={dialog.open}>
      {t('invitePerson')}
    </Button>
  ) : null;
  return (
    <Page title={t('peopleOfProject')} text={t('peopleOfProjectText')} actions={invite}>
      <Loaded query={members}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon="users" title={t('noMembers')} text={t('noMembersText')} />
          ) : (
            <MemberTable members={list} projectId={id} mayManage={mayManage} />
          )
        }
      </Loaded>
      {mayManage ? <Invitations projectId={id} /> : null}
      {isInviting ? <Invite projectId={id} onClose={dialog.close} /> : null}
    </Page>
  );
}

interface MembersProps {
  readonly members: readonly Member[];
  readonly projectId: string;
  readonly mayManage: boolean;
}

function MemberTable({ members, projectId, mayManage }: MembersProps) {
  const { t, language } = useLanguages();
  const client = useQueryClient();
  const [removed, setRemoved] = useState<Member | null>(null);
  return (
    <DataTable minWidth={560} heads={[t('person'), t('projectRole'), t('lastSignIn'), null]}>
      {members.map((member) => (
        <Table.Tr key={member.id}>
          <Table.Td>
            <PersonName person={member} />
          </Table.Td>
          <Table.Td>
            {mayManage ? (
              <MemberRole member={member} projectId={projectId} />
            ) : (
              t(`role_${member.project_role}`)
            )}
          </Table.Td>
          <Table.Td>{formatTime(member.last_sign_in_at, language)}</Table.Td>
          <Table.Td ta="end">
            {mayManage ? (
              <IconButton icon="trash" label={t('removeMember')} onClick={() => setRemoved(member)} />
            ) : null}
          </Table.Td>
        </Table.Tr>
      ))}

      {removed ? (
        <Departure
          title={t('removeMember')}
          text={t('removeMemberText', { email: removed.email })}
          action={t('removeMember')}
          done={t('memberRemoved', { email: removed.email })}
          onClose={() => setRemoved(null)}
          run={async (isRotating) => {
            await api.DELETE('/admin/v1/projects/{id}/people/{person_id}', {
              params: {
                path: { id: projectId, person_id: removed.id },
                ...(isRotating ? { query: { rotate_database_password: true } } : {}),
              },
            });
            await client.invalidateQueries({ queryKey: ['people'] });
          }}
        />
      ) : null}
    </DataTable>
  );
}

function MemberRole({ member, projectId }: { member: Member; projectId: string }) {
  const t = useT();
  const client = useQueryClient();
  const [isLowered, lowered] = useDisclosure();
  const change = useMutation({
    mutationFn: (body: Schema<'ProjectRoleDto'>) =>
      dataOf(
        api.PUT('/admin/v1/projects/{id}/people/{person_id}', {
          params: { path: { id: projectId, person_id: member.id } },
          body,
        }),
      ),
    onError: (error) => announceFailure(error, t('close')),
    onSettled: () => client.invalidateQueries({ queryKey: ['people'] }),
  });
  return (
    <>
      <Select
        size="xs"
        maw={200}
        aria-label={t('roleOf', { name: member.name })}
        data={PROJECT_ROLES.map((role) => ({ value: role, label: t(`role_${role}`) }))}
        value={member.project_role}
        allowDeselect={false}
        disabled={change.isPending}
        onChange={(role) =>
          role === 'viewer' ? lowered.open() : change.mutate({ role: role as ProjectRole })
        }
      />
      {isLowered ? (
        <Departure
          title={t('lowerRole')}
          text={t('lowerRoleText', { name: member.name, role: t('role_viewer') })}
          action={t('lowerRole')}
          done={t('roleChanged', { name: member.name })}
          onClose={lowered.close}
          run={(isRotating) => change.mutateAsync({ role: 'viewer', rotate_database_password: isRotating })}
        />
      ) : null}
    </>
  );
}
