/** Invitations that were not accepted yet. */
import { Badge, Group, Stack, Table, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf, type Schema } from '../../api/client';
import { useSession } from '../../api/session';
import { useLanguages } from '../../i18n';
import { formatTime } from '../../lib/format';
import { isAllowed } from '../../lib/permissions';
import { Named } from '../../ui/data-table';
import { Failure } from '../../ui/feedback';
import { Confirm, IconButton } from '../../ui/parts';

type Invitation = Schema<'InvitationResponse'>;

/** @param projectId null for all invitations that the staff member may see */
export function Invitations({ projectId }: { projectId: string | null }) {
  const { t, language } = useLanguages();
  const session = useSession();
  const [withdrawn, setWithdrawn] = useState<Invitation | null>(null);
  const client = useQueryClient();
  const { data = [], error } = useQuery({
    queryKey: ['people', 'invitations'],
    queryFn: () => dataOf(api.GET('/admin/v1/invitations')),
    enabled: isAllowed(session, 'GET /admin/v1/invitations'),
  });
  const list = data.filter(
    ({ projects }) => projectId === null || projects.some(({ id }) => id === projectId),
  );
  if (error) return <Failure error={error} />;
  if (list.length === 0) return null;
  const mayWithdraw = isAllowed(session, 'DELETE /admin/v1/invitations/:id');
  return (
    <Stack gap="xs" mt="xl">
      <Title order={2} size="h4">
        {t('invitations')}
      </Title>
      <Table.ScrollContainer minWidth={480}>
        <Table verticalSpacing="xs">
          <Table.Tbody>
            {list.map((one) => (
              <Table.Tr key={one.id}>
                <Table.Td>
                  <Named
                    name={one.email}
                    details={t('invitedBy', { who: one.invited_by ?? t('adminKey') })}
                  />
                </Table.Td>
                <Table.Td>
                  <RolesOf invitation={one} />
                </Table.Td>
                <Table.Td>{t('expiresAt', { time: formatTime(one.expires_at, language) })}</Table.Td>
                <Table.Td ta="end">
                  {mayWithdraw ? (
                    <IconButton icon="trash" label={t('withdraw')} onClick={() => setWithdrawn(one)} />
                  ) : null}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {withdrawn ? (
        <Confirm
          title={t('withdraw')}
          text={t('withdrawText', { email: withdrawn.email })}
          action={t('withdraw')}
          done={t('invitationWithdrawn', { email: withdrawn.email })}
          onClose={() => setWithdrawn(null)}
          run={async () => {
            await api.DELETE('/admin/v1/invitations/{id}', { params: { path: { id: withdrawn.id } } });
            await client.invalidateQueries({ queryKey: ['people'] });
          }}
        />
      ) : null}
    </Stack>
  );
}

function RolesOf({ invitation: { role, projects } }: { invitation: Invitation }) {
  const { t } = useLanguages();
  const roles = [...(role === null ? [] : [role]), ...projects.map((one) => one.role)];
  return (
    <Group gap={4}>
      {roles.map((one, index) => (
        <Badge key={index} variant="light" color="gray">
          {t(`role_${one}`)}
        </Badge>
      ))}
    </Group>
  );
}
