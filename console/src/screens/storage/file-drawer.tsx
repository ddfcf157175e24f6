/** One file: preview, signed URL, move, deletion. */
import { Anchor, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import type { Schema } from '../../api/client';
import { type Project, useMayWrite } from '../../queries/projects';
import { type Bucket, fetchBytes, fetchPicture, type StoredFile } from '../../queries/storage';
import { projectClient } from '../../queries/users';
import { useLanguages, useT } from '../../i18n';
import { formatBytes, formatTime, isWebUrl } from '../../lib/format';
import { announce, Failure, Loading } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { Confirm, DetailDrawer, Snippet } from '../../ui/parts';
import { saveFile } from '../../ui/save-file';
import textStyles from '../../ui/text.module.css';
import valueStyles from '../../ui/value.module.css';
import styles from './storage.module.css';

/** Larger files are not fetched for a preview. */
const PREVIEW_BYTES = 10_000_000;
/** Pixels: twice the width of the drawer. */
const PREVIEW_WIDTH = 960;
const PREVIEW_CHARACTERS = 20_000;

interface FileDrawerProps {
  readonly project: Project;
  readonly file: StoredFile;
  readonly buckets: readonly Bucket[];
  readonly onClose: () => void;
}

export function FileDrawer({ project, file, buckets, onClose }: FileDrawerProps) {
  const { t, language } = useLanguages();
  const client = useQueryClient();
  const [isDeleting, dialog] = useDisclosure();
  const mayWrite = useMayWrite(project);
  const params = { params: { path: { project_slug: project.slug, file_id: file.id } } };
  const refresh = () => client.invalidateQueries({ queryKey: ['files', project.id] });
  const download = useMutation({
    mutationFn: async () => saveFile(await fetchBytes(project, file.id), file.filename),
  });
  return (
    <DetailDrawer title={t('file')} onClose={onClose}>
      <Stack gap="lg">
        <div>
          <Text fw={600} className={textStyles.wrap} dir="auto">
            {file.filename}
          </Text>
          <Text size="sm" c="dimmed">
            {file.content_type} · {formatBytes(file.size, language)} · {formatTime(file.updated_at, language)}
          </Text>
        </div>
        <Preview project={project} file={file} />
        {download.error ? <Failure error={download.error} /> : null}
        <Group gap="xs">
          <Button
            variant="default"
            loading={download.isPending}
            leftSection={<Icon name="download" size={16} />}
            onClick={() => download.mutate()}
          >
            {t('downloadFile')}
          </Button>
          {mayWrite ? (
            <Button
              color="red"
              variant="light"
              leftSection={<Icon name="trash" size={16} />}
              onClick={dialog.open}
            >
              {t('deleteFile')}
            </Button>
          ) : null}
        </Group>
        {mayWrite ? (
          <>
            <Sign project={project} file={file} />
            <Move project={project} file={file} buckets={buckets} onMoved={onClose} />
          </>
        ) : null}
        <Text size="xs" c="dimmed" ff="monospace" className={textStyles.wrap}>
          {file.id}
          <br />
          sha256 {file.sha256}
        </Text>
      </Stack>
      {isDeleting ? (
        <Confirm
          title={t('deleteFile')}
          text={t('deleteFileText', { name: file.filename })}
          action={t('deleteFile')}
          done={t('fileDeleted', { name: file.filename })}
          onClose={dialog.close}
          run={async () => {
            await projectClient(project.id).DELETE('/p/{project_slug}/storage/files/{file_id}', params);
            await refresh();
          }}
          onDone={onClose}
        />
      ) : null}
    </DetailDrawer>
  );
}

/** The kind of preview. SVG and HTML are shown as text, because a browser may run scripts in them. */
function kindOf({ content_type: type, size }: StoredFile): 'image' | 'audio' | 'video' | 'text' | null {
  // A picture is shown as a rendition, whatever its size.
  if (/^image\/(png|jpeg|gif|webp|avif|bmp)$/.test(type)) return 'image';
  if (size > PREVIEW_BYTES) return null;
  if (/^audio\//.test(type)) return 'audio';
  if (/^video\//.test(type)) return 'video';
  return /^text\/|json|xml|javascript/.test(type) ? 'text' : null;
}

function Preview({ project, file }: { project: Project; file: StoredFile }) {
  const t = useT();
  const kind = kindOf(file);
  const bytes = useQuery({
    queryKey: ['bytes', project.id, file.id, file.updated_at],
    queryFn: () =>
      kind === 'image' ? fetchPicture(project, file, PREVIEW_WIDTH) : fetchBytes(project, file.id),
    enabled: kind !== null,
    gcTime: 0,
    staleTime: Infinity,
  });
  const text = useQuery({
    queryKey: ['preview-text', file.id, file.updated_at],
    queryFn: async () =>
      (await bytes.data!.slice(0, PREVIEW_CHARACTERS * 4).text()).slice(0, PREVIEW_CHARACTERS),
    enabled: kind === 'text' && bytes.data !== undefined,
    gcTime: 0,
    staleTime: Infinity,
  });
  const { data } = bytes;
  const url = useMemo(() => (data && kind !== 'text' ? URL.createObjectURL(data) : null), [data, kind]);
  useEffect(() => () => void (url && URL.revokeObjectURL(url)), [url]);
  if (kind === null)
    return (
      <Text size="sm" c="dimmed">
        {t('noPreview')}
      </Text>
    );
  if (bytes.error) return <Failure error={bytes.error} onRetry={() => void bytes.refetch()} />;
  if (kind === 'text' && text.data !== undefined)
    return (
      <pre className={valueStyles.text} tabIndex={0} aria-label={t('preview')}>
        {text.data}
      </pre>
    );
  if (url === null) return <Loading />;
  switch (kind) {
    case 'image':
      return <img className={styles.preview} src={url} alt={file.filename} />;
    case 'audio':
      return <audio className={styles.preview} src={url} controls />;
    default:
      return <video className={styles.preview} src={url} controls />;
  }
}

const EXPIRIES = ['5m', '15m', '1h', '24h', '7d'] as const;
type Expiry = Schema<'CreateSignedUrlDto'>['expiry'];

function Sign({ project, file }: { project: Project; file: StoredFile }) {
  const t = useT();
  const [expiry, setExpiry] = useState<Expiry>('1h');
  const sign = useMutation({
    mutationFn: async () => {
      const { data } = await projectClient(project.id).POST(
        '/p/{project_slug}/storage/files/{file_id}/signed-url',
        {
          params: { path: { project_slug: project.slug, file_id: file.id } },
          body: { expiry },
        },
      );
      return data!.data;
    },
  });
  return (
    <Stack gap="xs">
      <Group gap="xs" align="end">
        <Select
          label={t('signedUrl')}
          data={EXPIRIES}
          value={expiry}
          allowDeselect={false}
          w={120}
          onChange={(value) => setExpiry(value ?? '1h')}
        />
        <Button
          variant="default"
          loading={sign.isPending}
          leftSection={<Icon name="link" size={16} />}
          onClick={() => sign.mutate()}
        >
          {t('createLink')}
        </Button>
      </Group>
      {sign.error ? <Failure error={sign.error} /> : null}
      {sign.data ? (
        <>
          <Snippet label={t('signedUrl')} text={sign.data.url} />
          {isWebUrl(sign.data.url) ? (
            <Anchor size="sm" href={sign.data.url} target="_blank" rel="noopener noreferrer">
              {t('openInTab')}
            </Anchor>
          ) : null}
        </>
      ) : null}
    </Stack>
  );
}

interface MoveProps extends Omit<FileDrawerProps, 'onClose'> {
  readonly onMoved: () => void;
}

function Move({ project, file, buckets, onMoved }: MoveProps) {
  const t = useT();
  const client = useQueryClient();
  const [name, setName] = useState(file.filename);
  const [bucket, setBucket] = useState(file.bucket_slug ?? '');
  const move = useMutation({
    mutationFn: () =>
      projectClient(project.id).PATCH('/p/{project_slug}/storage/files/{file_id}', {
        params: { path: { project_slug: project.slug, file_id: file.id } },
        body: { filename: name, ...(bucket === file.bucket_slug ? {} : { bucket_name: bucket }) },
      }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['files', project.id] });
      announce(t('fileMoved', { name }));
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        move.mutate(undefined, { onSuccess: onMoved });
      }}
    >
      <Stack gap="xs">
        <TextInput
          label={t('fileName')}
          description={t('fileNameHint')}
          value={name}
          dir="auto"
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Group gap="xs" align="end">
          <Select
            label={t('bucket')}
            data={buckets.map((one) => ({ value: one.slug, label: one.name }))}
            value={bucket}
            allowDeselect={false}
            flex={1}
            onChange={(value) => setBucket(value ?? bucket)}
          />
          <Button
            type="submit"
            variant="default"
            loading={move.isPending}
            disabled={name === file.filename && bucket === file.bucket_slug}
          >
            {t('move')}
          </Button>
        </Group>
        {move.error ? <Failure error={move.error} /> : null}
      </Stack>
    </form>
  );
}
