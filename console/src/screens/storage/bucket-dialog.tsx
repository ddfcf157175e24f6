/** Creates, changes and deletes a bucket. */
import { NumberInput, Select, Stack, Switch, TagsInput, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Project } from '../../queries/projects';
import { type Bucket, bucketsQuery } from '../../queries/storage';
import { projectClient } from '../../queries/users';
import { useT } from '../../i18n';
import { Dialog } from '../../ui/dialog';
import { announce, Failure } from '../../ui/feedback';
import { Confirm, FormButtons } from '../../ui/parts';

/** The action of a dialog and its bucket, because another bucket may be shown before the dialog closes. */
export type BucketAction =
  | { readonly kind: 'create' }
  | { readonly kind: 'edit' | 'delete'; readonly bucket: Bucket };

interface BucketDialogProps {
  readonly action: BucketAction;
  readonly project: Project;
  readonly onClose: () => void;
  readonly onChosen: (slug: string | null) => void;
}

export function BucketDialog({ action, project, onClose, onChosen }: BucketDialogProps) {
  const t = useT();
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: bucketsQuery(project).queryKey });
  if (action.kind === 'delete') {
    const { bucket } = action;
    return (
      <Confirm
        title={t('deleteBucket')}
        text={t('deleteBucketText', { name: bucket.name })}
        action={t('deleteBucket')}
        done={t('bucketDeleted', { name: bucket.name })}
        typed={bucket.slug}
        onClose={onClose}
        run={async () => {
          await projectClient(project.id).DELETE('/p/{project_slug}/storage/buckets/{bucket_name}', {
            params: { path: { project_slug: project.slug, bucket_name: bucket.slug } },
          });
          await refresh();
        }}
        onDone={() => onChosen(null)}
      />
    );
  }
  return (
    <BucketForm
      project={project}
      bucket={action.kind === 'edit' ? action.bucket : undefined}
      onClose={onClose}
      onSaved={async (slug) => {
        await refresh();
        announce(t(action.kind === 'edit' ? 'bucketSaved' : 'bucketCreated', { name: slug }));
      }}
      onDone={(slug) => {
        onClose();
        onChosen(slug);
      }}
    />
  );
}

interface BucketFormProps {
  readonly project: Project;
  readonly bucket: Bucket | undefined;
  readonly onClose: () => void;
  readonly onSaved: (slug: string) => Promise<void>;
  /** Called after onSaved(), unless the dialog was closed before. */
  readonly onDone: (slug: string) => void;
}

const MIB = 1024 * 1024;

const inputOf = (bucket: Bucket | undefined) => ({
  name: bucket?.name ?? '',
  is_public: bucket?.is_public ?? false,
  limit: bucket?.file_size_limit ? bucket.file_size_limit / MIB : ('' as number | string),
  types: bucket?.allowed_mime_types ?? [],
  days: bucket?.delete_after_days ?? ('' as number | string),
  scan: bucket?.scan ?? null,
});

/** @returns the slug of the bucket */
async function saveBucket(project: Project, bucket: Bucket | undefined, input: ReturnType<typeof inputOf>) {
  const { name, is_public, limit, types, days, scan } = input;
  const body = {
    name,
    is_public,
    file_size_limit: limit === '' ? null : Math.round(Number(limit) * MIB),
    allowed_mime_types: types.length === 0 ? null : types,
    delete_after_days: days === '' ? null : Number(days),
    scan,
  };
  const calls = projectClient(project.id);
  const path = { project_slug: project.slug };
  const { data } = bucket
    ? await calls.PATCH('/p/{project_slug}/storage/buckets/{bucket_name}', {
        params: { path: { ...path, bucket_name: bucket.slug } },
        body,
      })
    : await calls.POST('/p/{project_slug}/storage/buckets', { params: { path }, body });
  return data!.data.slug;
}

interface ScanChoiceProps {
  readonly value: Bucket['scan'];
  readonly onChange: (value: Bucket['scan']) => void;
}

function ScanChoice({ value, onChange }: ScanChoiceProps) {
  const t = useT();
  return (
    <Select
      label={t('scanResult')}
      description={t('bucketScanHint')}
      placeholder={t('scanOfProject')}
      clearable
      data={[
        { value: 'refuse', label: t('scanRefuse') },
        { value: 'quarantine', label: t('scanQuarantine') },
        { value: 'mark', label: t('scanMark') },
        { value: 'off', label: t('scanOff') },
      ]}
      value={value}
      onChange={onChange}
    />
  );
}

function BucketForm({ project, bucket, onClose, onSaved, onDone }: BucketFormProps) {
  const t = useT();
  const [input, setInput] = useState(() => inputOf(bucket));
  const save = useMutation({ mutationFn: () => saveBucket(project, bucket, input), onSuccess: onSaved });
  return (
    <Dialog onClose={onClose} title={bucket ? t('editBucket') : t('newBucket')}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate(undefined, { onSuccess: onDone });
        }}
      >
        <Stack gap="sm">
          <TextInput
            label={t('name')}
            value={input.name}
            onChange={(event) => setInput({ ...input, name: event.currentTarget.value })}
            data-autofocus
          />
          <Switch
            label={t('publicBucket')}
            description={t('publicBucketHint')}
            checked={input.is_public}
            onChange={(event) => setInput({ ...input, is_public: event.currentTarget.checked })}
          />
          <NumberInput
            label={t('sizeLimit')}
            suffix=" MiB"
            min={0}
            value={input.limit}
            onChange={(limit) => setInput({ ...input, limit })}
          />
          <TagsInput
            label={t('allowedTypes')}
            placeholder="image/*"
            value={input.types}
            onChange={(types) => setInput({ ...input, types })}
          />
          <NumberInput
            label={t('deleteAfterDays')}
            min={1}
            max={3650}
            allowDecimal={false}
            value={input.days}
            onChange={(days) => setInput({ ...input, days })}
          />
          <ScanChoice value={input.scan} onChange={(scan) => setInput({ ...input, scan })} />
          {save.error ? <Failure error={save.error} /> : null}
          <FormButtons
            action={t(bucket ? 'saveBucket' : 'createBucket')}
            isPending={save.isPending}
            isDisabled={input.name.trim() === ''}
            onClose={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
