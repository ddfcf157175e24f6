/** Queries that the user saved under a name, and queries that others share in the project. */
import { Button, Checkbox, Group, Stack, Text, TextInput, Title, UnstyledButton } from '@mantine/core';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf, type Schema } from '../../api/client';
import { mayAdminister, useSession } from '../../api/session';
import { useT } from '../../i18n';
import { forgetSaved, readSaved } from '../../lib/sql-history';
import { type Project, useMay } from '../../queries/projects';
import { Failure, Loaded } from '../../ui/feedback';
import { IconButton } from '../../ui/parts';
import choiceStyles from '../../ui/choice.module.css';

type SavedQuery = Schema<'SavedQuery'>;
type Content = Schema<'SaveQueryDto'>;

const savedQueriesQuery = ({ id }: Pick<Project, 'id'>) =>
  queryOptions({
    queryKey: ['saved-queries', id],
    queryFn: () => dataOf(api.GET('/admin/v1/projects/{id}/queries', { params: { path: { id } } })),
  });

interface SavedQueriesProps {
  readonly project: Project;
  /** The text of the editor. */
  readonly current: string;
  readonly onChoose: (sql: string, name: string) => void;
}

export function SavedQueries({ project, current, onChoose }: SavedQueriesProps) {
  const t = useT();
  const client = useQueryClient();
  const maySave = useMay(project, 'POST /admin/v1/projects/:id/queries');
  const mayList = useMay(project, 'GET /admin/v1/projects/:id/queries');
  const saved = useQuery({ ...savedQueriesQuery(project), enabled: mayList });
  const changed = (): Promise<void> =>
    client.invalidateQueries({ queryKey: savedQueriesQuery(project).queryKey });
  const params = { path: { id: project.id } };
  /** Saves the query, replacing the user's own query of the same name. */
  const save = useMutation({
    mutationFn: async (queries: readonly Content[]) => {
      for (const body of queries) {
        const own = saved.data?.find(({ mine, name }) => mine && name === body.name);
        if (own)
          await api.PATCH('/admin/v1/projects/{id}/queries/{query_id}', {
            params: { path: { id: project.id, query_id: own.id } },
            body,
          });
        else await api.POST('/admin/v1/projects/{id}/queries', { params, body });
      }
    },
    onSettled: changed,
  });
  const remove = useMutation({
    mutationFn: ({ id }: SavedQuery) =>
      api.DELETE('/admin/v1/projects/{id}/queries/{query_id}', {
        params: { path: { id: project.id, query_id: id } },
      }),
    onSettled: changed,
  });
  if (!mayList) return null;
  const failure = save.error ?? remove.error;
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        {t('savedQueries')}
      </Title>
      {maySave ? (
        <SaveForm
          current={current}
          // The list shows whether the name exists.
          isPending={save.isPending || saved.isPending}
          onSave={(one) => save.mutate([one])}
        />
      ) : null}
      {failure ? <Failure error={failure} /> : null}
      {maySave ? <OfBrowser project={project} onMove={(queries) => save.mutateAsync(queries)} /> : null}
      <Loaded query={saved}>
        {(list) =>
          list.length === 0 ? (
            <Text size="xs" c="dimmed">
              {t('noSavedQueries')}
            </Text>
          ) : (
            list.map((one) => (
              <Saved
                key={one.id}
                query={one}
                project={project}
                onChoose={onChoose}
                onRemove={() => remove.mutate(one)}
              />
            ))
          )
        }
      </Loaded>
    </Stack>
  );
}

interface SaveFormProps {
  readonly current: string;
  readonly isPending: boolean;
  readonly onSave: (query: Content) => void;
}

function SaveForm({ current, isPending, onSave }: SaveFormProps) {
  const t = useT();
  const [name, setName] = useState('');
  const [shared, setShared] = useState(false);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSave({ name: name.trim(), sql: current, shared });
        setName('');
      }}
    >
      <Stack gap="xs">
        <Group gap="xs" align="end">
          <TextInput
            size="xs"
            flex={1}
            label={t('saveCurrent')}
            placeholder={t('name')}
            value={name}
            maxLength={100}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Button
            size="xs"
            type="submit"
            loading={isPending}
            disabled={name.trim() === '' || current.trim() === ''}
          >
            {t('saveQuery')}
          </Button>
        </Group>
        <Checkbox
          size="xs"
          label={t('shareQuery')}
          checked={shared}
          onChange={(event) => setShared(event.currentTarget.checked)}
        />
      </Stack>
    </form>
  );
}

interface OfBrowserProps {
  readonly project: Project;
  readonly onMove: (queries: readonly Content[]) => Promise<unknown>;
}

/** Earlier versions of the console saved queries in the browser. */
function OfBrowser({ project, onMove }: OfBrowserProps) {
  const t = useT();
  const [queries, setQueries] = useState(() => readSaved(project.id));
  if (queries.length === 0) return null;
  const move = async (): Promise<void> => {
    await onMove(queries.map(({ name, sql }) => ({ name: name.slice(0, 100), sql, shared: false })));
    forgetSaved(project.id);
    setQueries([]);
  };
  return (
    <Button size="xs" variant="default" onClick={() => void move().catch(() => undefined)}>
      {t('moveSaved', { count: queries.length })}
    </Button>
  );
}

interface SavedProps {
  readonly query: SavedQuery;
  readonly project: Project;
  readonly onChoose: (sql: string, name: string) => void;
  readonly onRemove: () => void;
}

function Saved({ query, project, onChoose, onRemove }: SavedProps) {
  const t = useT();
  const mayRemove = mayAdminister(useSession(), project.id) || query.mine;
  const author = query.mine ? t('sharedByYou') : t('sharedBy', { name: query.author ?? t('adminKeyName') });
  return (
    <Group gap={4} wrap="nowrap">
      <UnstyledButton
        className={choiceStyles.choice}
        flex={1}
        miw={0}
        onClick={() => onChoose(query.sql, query.name)}
      >
        <Text size="sm" truncate dir="auto">
          {query.name}
        </Text>
        {query.shared ? (
          <Text size="xs" c="dimmed" truncate dir="auto">
            {author}
          </Text>
        ) : null}
        <Text size="xs" c="dimmed" ff="monospace" truncate>
          {query.sql.slice(0, 200)}
        </Text>
      </UnstyledButton>
      {mayRemove ? (
        <IconButton icon="trash" label={`${t('remove')} ${query.name}`} onClick={onRemove} />
      ) : null}
    </Group>
  );
}
