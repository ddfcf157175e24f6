/** The account of the staff member who is signed in: password, second factor, sessions, tokens. */
import { Button, Checkbox, Group, PasswordInput, Stack, Table, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf } from '../../api/client';
import { setSession, useSession } from '../../api/session';
import { useLanguages, useT } from '../../i18n';
import { formatTime } from '../../lib/format';
import { announce, Empty, Failure, Loaded } from '../../ui/feedback';
import { Page, Section } from '../../ui/parts';
import { AuthenticatorApp } from './authenticator-app';
import { PasskeysSection } from './passkeys';
import { Tokens } from './tokens';
import textStyles from '../../ui/text.module.css';

export function AccountScreen() {
  const t = useT();
  const session = useSession();
  if (session?.by !== 'cookie') {
    return (
      <Page title={t('myAccount')}>
        <Empty icon="key" title={t('signedInByKey')} text={t('keyHasNoAccount')} />
      </Page>
    );
  }
  const { person } = session.answer;
  return (
    <Page title={t('myAccount')} text={`${person.name} · ${person.email ?? ''}`}>
      <Stack gap="md" maw={760}>
        <Password />
        <AuthenticatorApp hasApp={person.has_app} />
        <PasskeysSection />
        <Sessions />
        <Tokens projects={session.answer.projects} />
      </Stack>
    </Page>
  );
}

function Password() {
  const t = useT();
  const [input, setInput] = useState({ current_password: '', password: '', end_tokens: false });
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: () => dataOf(api.PATCH('/admin/v1/session/password', { body: input })),
    onSuccess: async (answer) => {
      setSession({ by: 'cookie', answer });
      setInput({ current_password: '', password: '', end_tokens: false });
      announce(t('passwordChanged'));
      await client.invalidateQueries({ queryKey: ['my-sessions'] });
      await client.invalidateQueries({ queryKey: ['my-tokens'] });
    },
  });
  const set = (name: 'current_password' | 'password') => (event: { currentTarget: { value: string } }) =>
    setInput({ ...input, [name]: event.currentTarget.value });
  return (
    <Section title={t('changePassword')} text={t('changePasswordText')}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate();
        }}
      >
        <Stack gap="sm" maw={380}>
          <PasswordInput
            label={t('currentPassword')}
            autoComplete="current-password"
            value={input.current_password}
            onChange={set('current_password')}
          />
          <PasswordInput
            label={t('newPassword')}
            autoComplete="new-password"
            value={input.password}
            onChange={set('password')}
          />
          <Checkbox
            label={t('endTokens')}
            checked={input.end_tokens}
            onChange={(event) => setInput({ ...input, end_tokens: event.currentTarget.checked })}
          />
          {change.error ? <Failure error={change.error} /> : null}
          <Group>
            <Button
              type="submit"
              loading={change.isPending}
              disabled={input.current_password === '' || input.password === ''}
            >
              {t('changePassword')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

function Sessions() {
  const { t, language } = useLanguages();
  const client = useQueryClient();
  const sessions = useQuery({
    queryKey: ['my-sessions'],
    queryFn: () => dataOf(api.GET('/admin/v1/sessions')),
  });
  const end = useMutation({
    mutationFn: (id: string) => api.DELETE('/admin/v1/sessions/{id}', { params: { path: { id } } }),
    onSettled: () => client.invalidateQueries({ queryKey: ['my-sessions'] }),
  });
  return (
    <Section title={t('mySessions')}>
      <Loaded query={sessions}>
        {(list) => (
          <Table verticalSpacing="xs">
            <Table.Tbody>
              {list.map((one) => (
                <Table.Tr key={one.id}>
                  <Table.Td>
                    <Text size="sm" className={textStyles.wrap}>
                      {one.user_agent ?? t('unknownBrowser')}
                    </Text>
                    <Text size="xs" c="dimmed">
                      {[
                        one.address ?? '',
                        t('signedInSince', { time: formatTime(one.created_at, language) }),
                        t('lastUsed', { time: formatTime(one.last_used_at, language) }),
                      ].join(' · ')}
                    </Text>
                  </Table.Td>
                  <Table.Td ta="end">
                    {one.is_current ? (
                      <Text size="sm" c="dimmed">
                        {t('thisSession')}
                      </Text>
                    ) : (
                      <Button
                        size="xs"
                        variant="default"
                        loading={end.isPending}
                        onClick={() => end.mutate(one.id)}
                      >
                        {t('endThisSession')}
                      </Button>
                    )}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </Loaded>
      {end.error ? <Failure error={end.error} /> : null}
    </Section>
  );
}
