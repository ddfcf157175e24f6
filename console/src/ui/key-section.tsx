/** Shared by the lists of named keys and of S3 keys: a section with a table, and a form whose result is shown once. */
import { Button, Stack, Text } from '@mantine/core';
import { type QueryKey, type UseQueryResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { onKeysChanged, type Project } from '../queries/projects';
import { Dialog } from './dialog';
import { Failure, Loaded } from './feedback';
import { Icon } from './icon';
import { FormButtons, Section } from './parts';

interface KeySectionProps<Key, Created> {
  readonly title: string;
  readonly text: string;
  readonly empty: string;
  /** Label of the button that creates a key; null without the right. */
  readonly action: string | null;
  readonly query: UseQueryResult<Key[]>;
  readonly table: (keys: readonly Key[]) => ReactNode;
  readonly form: (events: { onClose: () => void; onCreated: (key: Created) => void }) => ReactNode;
  readonly shown: (key: Created, onClose: () => void) => ReactNode;
}

export function KeySection<Key, Created>(props: KeySectionProps<Key, Created>) {
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<Created | null>(null);
  return (
    <Section title={props.title} text={props.text}>
      <Stack gap="sm">
        <Loaded query={props.query}>
          {(keys) => (keys.length === 0 ? <Text size="sm">{props.empty}</Text> : props.table(keys))}
        </Loaded>
        {props.action === null ? null : (
          <Button
            variant="default"
            style={{ alignSelf: 'start' }}
            leftSection={<Icon name="plus" size={16} />}
            onClick={() => setCreating(true)}
          >
            {props.action}
          </Button>
        )}
      </Stack>
      {isCreating ? props.form({ onClose: () => setCreating(false), onCreated: setCreated }) : null}
      {created === null ? null : props.shown(created, () => setCreated(null))}
    </Section>
  );
}

interface KeyFormProps<Created> {
  readonly project: Project;
  readonly keys: { readonly queryKey: QueryKey };
  readonly action: string;
  readonly create: () => Promise<Created>;
  readonly onClose: () => void;
  readonly onCreated: (key: Created) => void;
  readonly children: ReactNode;
}

export function KeyForm<Created>(props: KeyFormProps<Created>) {
  const { project, keys, action, onClose } = props;
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: props.create,
    onSuccess: () => onKeysChanged(client, project, keys),
  });
  return (
    <Dialog onClose={onClose} title={action}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate(undefined, {
            onSuccess: (key) => {
              onClose();
              props.onCreated(key);
            },
          });
        }}
      >
        <Stack gap="sm">
          {props.children}
          {create.error ? <Failure error={create.error} /> : null}
          <FormButtons action={action} isPending={create.isPending} onClose={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}
