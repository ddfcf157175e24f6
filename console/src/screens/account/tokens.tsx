/** Personal access tokens: creates them with scopes and an expiry, shows each once, and deletes them. */
import { Checkbox, Select, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf, type Schema } from '../../api/client';
import type { SessionAnswer } from '../../api/session';
import { useLanguages, useT } from '../../i18n';
import { formatTime } from '../../lib/format';
import { Dialog } from '../../ui/dialog';
import { Failure, Loaded } from '../../ui/feedback';
import { Confirm, FormButtons, Section, ShownOnce } from '../../ui/parts';
import { AddButton, OwnList } from './parts';

type Token = Schema<'StaffTokenResponse'>;
type Scope = Token['scopes'][number];

const SCOPES: readonly Scope[] = ['read', 'write', 'sql', 'admin'];
const DAYS = [7, 30, 90, 365];
const DAY_SECONDS = 86_400;

interface TokensProps {
  readonly projects: SessionAnswer['projects'];
}

export function Tokens({ projects }: TokensProps) {
  const { t, language } = useLanguages();
  const client = useQueryClient();
  const [isCreating, dialog] = useDisclosure();
  const [deleted, setDeleted] = useState<Token | null>(null);
  const tokens = useQuery({ queryKey: ['my-tokens'], queryFn: () => dataOf(api.GET('/admin/v1/tokens')) });
  const detailsOf = (token: Token): string =>
    [
      token.scopes.join(', '),
      t('expiresAt', { time: formatTime(token.expires_at, language) }),
      token.last_used_at === null
        ? t('neverUsed')
        : t('lastUsed', { time: formatTime(token.last_used_at, language) }),
    ].join(' · ');
  return (
    <Section title={t('tokens')} text={t('tokensText')}>
      <Loaded query={tokens}>
        {(list) =>
          list.length === 0 ? (
            <Text size="sm">{t('noTokens')}</Text>
          ) : (
            <OwnList list={list} detailsOf={detailsOf} deleteLabel={t('deleteToken')} onDelete={setDeleted} />
          )
        }
      </Loaded>
      <AddButton label={t('newToken')} onClick={dialog.open} />
      {isCreating ? <CreateToken projects={projects} onClose={dialog.close} /> : null}
      {deleted ? (
        <Confirm
          title={t('deleteToken')}
          text={t('deleteTokenText', { name: deleted.name })}
          action={t('deleteToken')}
          done={t('tokenDeleted', { name: deleted.name })}
          onClose={() => setDeleted(null)}
          run={async () => {
            await api.DELETE('/admin/v1/tokens/{id}', { params: { path: { id: deleted.id } } });
            await client.invalidateQueries({ queryKey: ['my-tokens'] });
          }}
        />
      ) : null}
    </Section>
  );
}

interface TokenInput {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Empty for all projects. */
  readonly project: string;
  readonly days: number;
}

function CreateToken({ projects, onClose }: TokensProps & { readonly onClose: () => void }) {
  const t = useT();
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: ({ name, scopes, project, days }: TokenInput) =>
      dataOf(
        api.POST('/admin/v1/tokens', {
          body: {
            name: name.trim(),
            scopes: [...scopes],
            project_id: project === '' ? null : project,
            expires_in: days * DAY_SECONDS,
          },
        }),
      ),
    onSuccess: () => client.invalidateQueries({ queryKey: ['my-tokens'] }),
  });
  if (create.data)
    return (
      <ShownOnce
        title={t('tokenCreated')}
        text={t('tokenCreatedText')}
        value={create.data.token}
        onClose={onClose}
      />
    );
  return (
    <Dialog onClose={onClose} title={t('newToken')}>
      <TokenForm
        projects={projects}
        error={create.error}
        isPending={create.isPending}
        onCreate={create.mutate}
        onClose={onClose}
      />
    </Dialog>
  );
}

interface TokenFormProps extends TokensProps {
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly onCreate: (input: TokenInput) => void;
  readonly onClose: () => void;
}

function TokenForm({ projects, error, isPending, onCreate, onClose }: TokenFormProps) {
  const t = useT();
  const [input, setInput] = useState<TokenInput>({ name: '', scopes: ['read'], project: '', days: 30 });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onCreate(input);
      }}
    >
      <Stack gap="sm">
        <TextInput
          label={t('tokenName')}
          maxLength={200}
          value={input.name}
          onChange={(event) => setInput({ ...input, name: event.currentTarget.value })}
          data-autofocus
        />
        <Checkbox.Group
          label={t('scopes')}
          value={[...input.scopes]}
          onChange={(scopes) => setInput({ ...input, scopes })}
        >
          <Stack gap={6} mt={4}>
            {SCOPES.map((scope) => (
              <Checkbox key={scope} value={scope} label={t(`scope_${scope}`)} />
            ))}
          </Stack>
        </Checkbox.Group>
        {projects.length > 0 ? (
          <Select
            label={t('tokenProject')}
            data={[
              { value: '', label: t('tokenAllProjects') },
              ...projects.map(({ id, slug }) => ({ value: id, label: slug })),
            ]}
            value={input.project}
            allowDeselect={false}
            onChange={(project) => setInput({ ...input, project: project ?? '' })}
          />
        ) : null}
        <Select
          label={t('tokenLifetime')}
          data={DAYS.map((days) => ({ value: String(days), label: t('days', { count: days }) }))}
          value={String(input.days)}
          allowDeselect={false}
          onChange={(days) => setInput({ ...input, days: Number(days) })}
        />
        {error ? <Failure error={error} /> : null}
        <FormButtons
          action={t('createToken')}
          isPending={isPending}
          isDisabled={input.name.trim() === '' || input.scopes.length === 0}
          onClose={onClose}
        />
      </Stack>
    </form>
  );
}
