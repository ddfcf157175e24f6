/** "View as" shows rows and responses as another identity sees them, with a token that lasts five minutes. */
import {
  Alert,
  Button,
  JsonInput,
  Loader,
  Menu,
  Stack,
  TextInput,
  UnstyledButton,
  Text,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Identity, SERVICE_ROLE } from '../api/identity';
import type { Project } from '../queries/projects';
import { userQuery, usersQuery } from '../queries/users';
import { useT } from '../i18n';
import { claimsOf } from '../lib/identity-link';
import { Dialog } from './dialog';
import { Failure } from './feedback';
import { Icon } from './icon';
import choiceStyles from './choice.module.css';
import textStyles from './text.module.css';

interface ViewAsProps {
  readonly project: Project;
  readonly identity: Identity;
  readonly onChange: (identity: Identity) => void;
}

export function ViewAs({ project, identity, onChange }: ViewAsProps) {
  const t = useT();
  const [asks, setAsks] = useState<'user' | 'claims' | null>(null);
  const userId = identity.as === 'user' ? identity.user_id : '';
  const user = useQuery({ ...userQuery(project.id, userId), enabled: userId !== '' });
  const label = {
    service_role: t('asService'),
    anon: t('asAnon'),
    user: user.data?.email ?? userId,
    claims: t('asClaims'),
  }[identity.as];
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button
            size="xs"
            variant={identity.as === 'service_role' ? 'default' : 'light'}
            color="orange"
            leftSection={<Icon name="eye" size={14} />}
            rightSection={<Icon name="chevron" size={14} />}
          >
            {t('viewAs', { who: label })}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => onChange(SERVICE_ROLE)}>{t('asService')}</Menu.Item>
          <Menu.Item onClick={() => onChange({ as: 'anon' })}>{t('asAnon')}</Menu.Item>
          <Menu.Item onClick={() => setAsks('user')}>{t('asUser')}</Menu.Item>
          <Menu.Item onClick={() => setAsks('claims')}>{t('asClaims')}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {asks === 'user' ? (
        <ChooseUser
          project={project}
          onClose={() => setAsks(null)}
          onChoose={(id) => {
            onChange({ as: 'user', user_id: id });
            setAsks(null);
          }}
        />
      ) : null}
      {asks === 'claims' ? (
        <EnterClaims
          onClose={() => setAsks(null)}
          onEnter={(claims) => {
            onChange({ as: 'claims', claims });
            setAsks(null);
          }}
        />
      ) : null}
    </>
  );
}

interface ChooseUserProps {
  readonly project: Project;
  readonly onClose: () => void;
  readonly onChoose: (id: string) => void;
}

function ChooseUser({ project, onClose, onChoose }: ChooseUserProps) {
  const t = useT();
  const [search, setSearch] = useState('');
  const [wanted] = useDebouncedValue(search, 200);
  const users = useQuery(usersQuery(project.id, { search: wanted, page: 1, perPage: 20 }));
  return (
    <Dialog onClose={onClose} title={t('asUser')}>
      <Stack gap="xs">
        <TextInput
          aria-label={t('searchUsers')}
          placeholder={t('searchUsers')}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
          data-autofocus
          rightSection={users.isFetching ? <Loader size="xs" /> : null}
        />
        {users.error ? <Failure error={users.error} onRetry={() => void users.refetch()} /> : null}
        {users.data?.users.length === 0 ? <Text size="sm">{t('noUsers')}</Text> : null}
        {users.data?.users.map(({ id, email, name }) => (
          <UnstyledButton key={id} className={choiceStyles.choice} onClick={() => onChoose(id)}>
            <Text size="sm">{email}</Text>
            <Text size="xs" c="dimmed">
              {name || id}
            </Text>
          </UnstyledButton>
        ))}
      </Stack>
    </Dialog>
  );
}

const EXAMPLE = { role: 'authenticated', sub: '00000000-0000-4000-8000-000000000000', team: 'staff' };

function EnterClaims({
  onClose,
  onEnter,
}: {
  onClose: () => void;
  onEnter: (claims: Record<string, unknown>) => void;
}) {
  const t = useT();
  const [text, setText] = useState(JSON.stringify(EXAMPLE, null, 2));
  const [isInvalid, setInvalid] = useState(false);
  const enter = (): void => {
    const claims = claimsOf(text);
    if (claims) onEnter(claims);
    else setInvalid(true);
  };
  return (
    <Dialog onClose={onClose} title={t('asClaims')}>
      <Stack gap="sm">
        <Alert variant="light">{t('claimsHint')}</Alert>
        <JsonInput
          label={t('claims')}
          value={text}
          onChange={setText}
          autosize
          minRows={5}
          error={isInvalid ? t('invalidJson') : null}
          classNames={{ input: textStyles.mono }}
        />
        <Button onClick={enter}>{t('viewWithClaims')}</Button>
      </Stack>
    </Dialog>
  );
}
